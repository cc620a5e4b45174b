"""Converts the values of a query's result for JSON."""

from __future__ import annotations

from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from schema.models import format_time


def json_value(value: Any) -> Any:
    """A value of the driver as a value of JSON; only bytes stay bytes.

    A node becomes an object with its labels and properties, a relationship an object with its type, ends and
    properties, a path an object with its nodes and relationships; times become texts in ISO 8601.
    """
    if value is None or isinstance(value, str | bool | int | float | bytes):
        return value
    if isinstance(value, list | tuple) and not isinstance(value, Duration | Point):
        return [json_value(part) for part in value]
    if isinstance(value, dict):
        return {key: json_value(part) for key, part in value.items()}
    if isinstance(value, Node):
        return {"elementId": value.element_id, "labels": sorted(value.labels), "properties": _properties(value)}
    if isinstance(value, Relationship):
        return {
            "elementId": value.element_id,
            "type": value.type,
            "start": value.start_node.element_id if value.start_node is not None else None,
            "end": value.end_node.element_id if value.end_node is not None else None,
            "properties": _properties(value),
        }
    if isinstance(value, Path):
        return {
            "nodes": [json_value(node) for node in value.nodes],
            "relationships": [json_value(relationship) for relationship in value.relationships],
        }
    return _special(value)


def _properties(entity: Node | Relationship) -> dict[str, Any]:
    return {name: json_value(part) for name, part in entity.items()}


def _special(value: Any) -> Any:
    if isinstance(value, DateTime):
        if value.tzinfo is None or value.nanosecond % 1000:
            return value.iso_format().replace("+00:00", "Z")
        return format_time(value.to_native())
    if isinstance(value, Date | Time | Duration):
        return value.iso_format()
    if isinstance(value, Point):
        return {"srid": value.srid, "coordinates": list(value)}
    if isinstance(value, Vector):
        return value.to_native()
    return str(value)
