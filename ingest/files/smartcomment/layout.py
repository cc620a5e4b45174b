"""The records of a smartcomment graph file, as smartcomment 0.1.2 writes them (``ExecNetwork.export_graph``).

The file is first split into ``Raw`` elements, which are decoded one by one, so a file may have any size. A key that is
absent stays ``UNSET``: it must be absent again on export.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

Text = str | None | UnsetType


class GraphData(msgspec.Struct, forbid_unknown_fields=True):
    """The lists of a file."""

    nodes: list[msgspec.Raw] | UnsetType = UNSET
    edges: list[msgspec.Raw] | UnsetType = UNSET
    operations: list[msgspec.Raw] | UnsetType = UNSET
    sessions: list[msgspec.Raw] | UnsetType = UNSET
    annotations: list[dict[str, Any]] | UnsetType = UNSET


class Graph(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    graph_id: str
    data: GraphData
    user_id: Text = UNSET
    project_id: Text = UNSET
    storage_path: Text = UNSET
    strict: bool | UnsetType = UNSET
    driver_type: Text = UNSET
    created_at: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


class Record(msgspec.Struct, forbid_unknown_fields=True):
    """The keys that all elements have."""

    created_at: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET
    lineno: int | UnsetType = UNSET
    graph_id: str | UnsetType = UNSET
    user_id: Text = UNSET
    project_id: Text = UNSET
    comment: Text = UNSET
    category: str | UnsetType = UNSET
    metadata: msgspec.Raw | UnsetType = UNSET
    trigger_point: str | UnsetType = UNSET


class NodeRecord(Record, forbid_unknown_fields=True, kw_only=True):
    """A variable. ``full_node_id`` is its key; ``node_id`` is not unique."""

    name: str
    value: str
    version: int | UnsetType = UNSET
    class_name: Text = UNSET
    session_id: Text = UNSET
    full_name: str | UnsetType = UNSET
    node_id: str | UnsetType = UNSET
    full_node_id: str | UnsetType = UNSET


class EdgeRecord(Record, forbid_unknown_fields=True, kw_only=True):
    """An edge: ``target`` was made from ``source`` by an operation."""

    edge_id: str
    op_id: str
    source_full_node_id: str
    target_full_node_id: str
    session_id: Text = UNSET


class OperationRecord(Record, forbid_unknown_fields=True, kw_only=True):
    """An operation."""

    op_id: str
    op_name: Text = UNSET
    session_id: Text = UNSET


class SessionRecord(Record, forbid_unknown_fields=True, kw_only=True):
    """A session."""

    session_id: str
    session_name: Text = UNSET


"""Keys in the order in which smartcomment writes them."""


def full_name(class_name: str | None, name: str) -> str:
    """``class.name``, or ``name`` if there is no class."""
    return f"{class_name}:{name}" if class_name else name


def full_node_id(class_name: str | None, name: str, version: int) -> str:
    """The key of a variable."""
    return f"{full_name(class_name, name)}@{version}"


def given(value: Any) -> Any:
    """The value of a key; None if the key is absent."""
    return None if value is UNSET else value
