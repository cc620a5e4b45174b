"""What properties the nodes and relationships have, read from the domain models."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from schema.models import Attribution, Derivation, Failure, Operation, Session, Trace, Variable, camel_case

NODES: dict[str, type] = {
    "Trace": Trace,
    "Session": Session,
    "Operation": Operation,
    "Variable": Variable,
    "Failure": Failure,
    "Attribution": Attribution,
}
"""The model behind each label that is not a kind."""

HIDDEN: dict[str, dict[str, str]] = {
    "Trace": {"writtenAt": "DateTime"},
    "Attribution": {"operationName": "string", "operationKey": "string", "methodKey": "string"},
    "Session": {"externalKey": "bigint"},
    "Operation": {"externalKey": "bigint"},
    "Variable": {"externalKey": "bigint", "nameKey": "bigint", "terms": "string", "scope": "string"},
}
"""Properties that only serve the store itself, by label: Bloom does not show them."""

RELATIONSHIPS: dict[str, dict[str, str]] = {
    "USED": {"role": "string", "position": "bigint", "score": "number"},
    "LOST": {"position": "bigint", "piece": "string", "errorType": "string", "confidence": "number"},
}
"""Properties of relationships that are no model of their own."""

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "bigint"),
    (float, "number"),
    (str, "string"),
    (tuple, "array"),
    (datetime, "DateTime"),
)


def of_label(label: str) -> dict[str, str]:
    """The properties of a node with their types in Bloom's words."""
    return _of_model(NODES[label])


def of_relationship(name: str) -> dict[str, str]:
    """The properties of a relationship with their types in Bloom's words."""
    if name != "DERIVED_FROM":
        return RELATIONSHIPS.get(name, {})
    found = _of_model(Derivation)
    return {key: kind for key, kind in found.items() if key not in {"source", "target"}}


def _of_model(model: type) -> dict[str, str]:
    hints = get_type_hints(model)
    return {camel_case(item.name): _type(hints[item.name]) for item in fields(model)}


def _type(hint: Any) -> str:
    plain = next(part for part in get_args(hint) if part is not type(None)) if isinstance(hint, UnionType) else hint
    plain = get_origin(plain) or plain
    return next(name for kind, name in _TYPES if issubclass(plain, kind))
