"""Makes the records of a graph file from elements, for exports; an import keeps what can't be made again.

Each function is the inverse of what ``build`` does with a usual record. Where a recorded record is unusual, the
difference is kept as leftover (see ``leftover``) in the element's attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from ingest.files.smartcomment import leftover
from ingest.files.smartcomment.read import Element, NodeRecord, Record, full_name, full_node_id
from ingest.files.smartcomment.recorded import Clock, Node
from schema.models import Derivation, Operation, Session, Variable


@dataclass(frozen=True, slots=True)
class Common:
    """Values that all records of a file share, and the source's ids of its elements by our ids."""

    graph_id: str
    user_id: str | None
    project_id: str | None
    clock: Clock
    sessions: Mapping[str | None, str | None]
    operations: Mapping[str, str]
    variables: dict[str, str]

    def call_site(self, location: str | None, moment: datetime | None) -> dict[str, Any]:
        """``created_at``, ``filename`` and ``lineno``."""
        filename, _, line = (location or "").rpartition(":")
        return {
            "created_at": self.clock.write(moment) if moment else None,
            "filename": filename,
            "lineno": int(line or 0),
        }


def node_record(variable: Variable, value: str, metadata: dict[str, Any], common: Common) -> dict[str, Any]:
    """A variable as an element of ``data.nodes``."""
    named = full_name(variable.class_name, variable.name)
    return {
        **common.call_site(variable.location, variable.created_at),
        "name": variable.name,
        "version": variable.version,
        "value": value,
        "comment": variable.comment,
        "category": variable.category,
        "graph_id": common.graph_id,
        "user_id": common.user_id,
        "class_name": variable.class_name,
        "project_id": common.project_id,
        "session_id": common.sessions[variable.session_id],
        "metadata": metadata,
        "trigger_point": variable.location,
        "full_name": named,
        "node_id": f"{variable.name}@{variable.version}",
        "full_node_id": full_node_id(variable.class_name, variable.name, variable.version),
    }


def edge_record(
    derivation: Derivation, session_id: str | None, metadata: dict[str, Any], common: Common
) -> dict[str, Any]:
    """A derivation as an element of ``data.edges``; ``session_id``: the session of the derivation's operation."""
    return {
        **common.call_site(derivation.location, derivation.created_at),
        "edge_id": derivation.external_id,
        "graph_id": common.graph_id,
        "user_id": common.user_id,
        "project_id": common.project_id,
        "session_id": common.sessions[session_id],
        "op_id": common.operations[derivation.operation_id],
        "category": derivation.category,
        "source_full_node_id": common.variables[derivation.source],
        "target_full_node_id": common.variables[derivation.target],
        "comment": derivation.comment,
        "metadata": metadata,
        "trigger_point": derivation.location,
    }


def operation_record(operation: Operation, metadata: dict[str, Any], common: Common) -> dict[str, Any]:
    """An operation as an element of ``data.operations``."""
    return {
        **common.call_site(operation.location, operation.started_at),
        "op_id": operation.external_id,
        "op_name": operation.name,
        "comment": operation.comment,
        "category": operation.category,
        "graph_id": common.graph_id,
        "user_id": common.user_id,
        "project_id": common.project_id,
        "session_id": common.sessions[operation.session_id],
        "metadata": metadata,
        "trigger_point": operation.location,
    }


def session_record(session: Session, location: str | None, metadata: dict[str, Any], common: Common) -> dict[str, Any]:
    """A session as an element of ``data.sessions``; ``location`` is separate, as sessions in the graph have none."""
    return {
        **common.call_site(location, session.created_at),
        "session_id": session.external_id,
        "session_name": session.name,
        "graph_id": common.graph_id,
        "user_id": common.user_id,
        "project_id": common.project_id,
        "comment": session.comment,
        "category": session.category,
        "metadata": metadata,
        "trigger_point": location,
    }


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
