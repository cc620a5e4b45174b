"""Decides whether a record can be computed from its element again, and keeps the rest of the record if not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from ingest.files.smartcomment import leftover
from ingest.files.smartcomment.layout import NodeRecord, Record
from ingest.files.smartcomment.read import Element
from ingest.files.smartcomment.recorded import Node
from ingest.files.smartcomment.records import Common
from schema.models import Derivation, Operation, Session, Variable

E = TypeVar("E", Session, Operation, Variable, Derivation)


def is_usual(element: Element, location: str | None, session_name: str | None, common: Common) -> bool:
    """Whether the record can be computed from its element again."""
    record = element.record
    return (
        element.extra is None
        and location is not None
        and record.trigger_point == location
        and record.created_at is not UNSET
        and record.graph_id == common.graph_id
        and record.session_id == session_name
        and record.user_id == common.user_id
        and record.project_id == common.project_id
        and record.comment is not UNSET
        and record.category is not UNSET
        and record.metadata is not UNSET
        and common.clock.is_usual(record.created_at)
    )


def is_usual_name(node: Node) -> bool:
    """Whether a variable's keys that repeat its name can be computed from the element again."""
    record: NodeRecord = node.record
    return (
        record.full_node_id == node.key
        and record.class_name is not UNSET
        and record.version is not UNSET
        and record.node_id == f"{record.name}@{record.version}"
        and record.full_name == node.key[: -len(str(record.version)) - 1]
    )


def difference(element: Element, expected: dict[str, Any]) -> dict[str, Any]:
    """The leftover of a record (see ``leftover.difference``), except value and metadata."""
    record: Record = element.record
    actual = {key: value for key, value in msgspec.structs.asdict(record).items() if value is not UNSET}
    if "metadata" in actual:
        actual["metadata"] = {}
    return leftover.difference({**actual, **(element.extra or {})}, expected)


def keep(element: E, source: Element, expected: dict[str, Any], kept: dict[str, Any] | None = None) -> E:
    """The element with its record's leftover in the attributes."""
    rest = difference(source, expected) | (kept or {})
    return replace(element, attributes=leftover.join(element.attributes, rest))
