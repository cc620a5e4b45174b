"""Reads graph files, in the layout of smartcomment 0.1.2 (``ExecNetwork.export_graph``); checks that they are complete.

The file is first split into ``Raw`` elements, which are decoded one by one, so a file may have any size. A key that is
absent stays ``UNSET``: it must be absent again on export. The store is written only after the file was read to its end,
so a bad file leaves the store unchanged.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from schema.errors import InputError
from schema.outside_json import JsonError, read_json

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


R = TypeVar("R", bound=Record)

TOO_DEEP = "is nested too deeply"

_PAGES_TO_KEEP = 32 << 20
_PLACE = " - at `$"
"""What msgspec writes before the place of a problem; a backtick ends the place."""
_BYTE = re.compile(r" \(byte (\d+)\)$")


@dataclass(slots=True)
class Element:
    """A record of the file, its position in its list, and its keys that the format does not know."""

    record: Any
    position: int
    extra: dict[str, Any] | None


class _Valued(msgspec.Struct):
    value: str


@dataclass(slots=True)
class GraphFile:
    """A file, split into its elements.

    Attributes:
        graph: the keys of the top level, without the lists.
        extra: unknown keys of the top level.
        data_extra: unknown keys of ``data``, such as ``controls`` in our benchmarks.
    """

    name: str
    graph: Graph
    extra: dict[str, Any]
    data_extra: dict[str, Any]
    node_parts: Sequence[msgspec.Raw] = field(repr=False)
    edge_parts: Sequence[msgspec.Raw] = field(repr=False)
    operation_parts: Sequence[msgspec.Raw] = field(repr=False)
    session_parts: Sequence[msgspec.Raw] = field(repr=False)
    annotations: list[dict[str, Any]] = field(repr=False)
    _mapping: mmap.mmap = field(repr=False)

    def nodes(self) -> Iterator[Element]:
        """The variables, decoded lazily; the memory of read pages is given back to the system on the way."""
        read = 0
        for element in _decoded(self, self.node_parts, "nodes", NodeRecord):
            read += len(element.record.value)
            yield element
            if read > _PAGES_TO_KEEP:
                self.drop_pages()
                read = 0

    def value(self, position: int) -> str:
        """The whole value of a variable, read from the file again."""
        return msgspec.json.decode(self.node_parts[position], type=_Valued).value

    def edges(self) -> Iterator[Element]:
        """The edges."""
        return _decoded(self, self.edge_parts, "edges", EdgeRecord)

    def operations(self) -> Iterator[Element]:
        """The operations."""
        return _decoded(self, self.operation_parts, "operations", OperationRecord)

    def sessions(self) -> Iterator[Element]:
        """The sessions."""
        return _decoded(self, self.session_parts, "sessions", SessionRecord)

    def bad(self, place: str, problem: str) -> InputError:
        """An error about this file."""
        return InputError(self.name, place, problem)

    def drop_pages(self) -> None:
        """Give the memory of the mapped file back to the system; pages that are needed later are read again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._mapping.madvise(mmap.MADV_DONTNEED)


def split(name: str, mapping: mmap.mmap) -> GraphFile:
    """Split a file into its elements.

    Raises:
        InputError: the file is no JSON, or no graph file.
    """
    extra: dict[str, Any] = {}
    data_extra: dict[str, Any] = {}
    try:
        try:
            graph = msgspec.json.decode(mapping, type=Graph)
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise
            graph, extra, data_extra = _split_with_extra(mapping)
    except msgspec.ValidationError as error:
        raise _validation_error(name, "", error) from error
    except JsonError as error:
        raise InputError(name, "", str(error)) from error
    except msgspec.DecodeError as error:
        raise _syntax_error(name, mapping, error) from error
    except UnicodeDecodeError as error:
        raise InputError(name, "", "is not UTF-8") from error
    except RecursionError as error:
        raise InputError(name, "", TOO_DEEP) from error
    data = graph.data
    file = GraphFile(
        name,
        graph,
        extra,
        data_extra,
        _list(data.nodes),
        _list(data.edges),
        _list(data.operations),
        _list(data.sessions),
        _list(data.annotations),
        mapping,
    )
    file.drop_pages()
    return file


T = TypeVar("T")


def _list(value: list[T] | UnsetType) -> list[T]:
    return [] if value is UNSET else value


def _split_with_extra(mapping: mmap.mmap) -> tuple[Graph, dict[str, Any], dict[str, Any]]:
    top = msgspec.json.decode(mapping, type=dict[str, msgspec.Raw])
    extra = {key: read_json(bytes(top.pop(key))) for key in set(top) - set(Graph.__struct_fields__)}
    data: dict[str, msgspec.Raw] = {}
    data_extra: dict[str, Any] = {}
    if "data" in top:
        data = msgspec.json.decode(top["data"], type=dict[str, msgspec.Raw])
        unknown = set(data) - set(GraphData.__struct_fields__)
        data_extra = {key: read_json(bytes(data.pop(key))) for key in unknown}
    lists: dict[str, Any] = {}
    for key, value in data.items():
        kind: Any = list[dict[str, Any]] if key == "annotations" else list[msgspec.Raw]
        lists[key] = msgspec.json.decode(value, type=kind)
    rest = {key: read_json(bytes(value)) for key, value in top.items() if key != "data"}
    graph = msgspec.convert({**rest, "data": {}}, Graph) if "data" in top else msgspec.convert(rest, Graph)
    graph.data = GraphData(**lists)
    return graph, extra, data_extra


def _decoded(file: GraphFile, parts: Sequence[msgspec.Raw], key: str, kind: type[R]) -> Iterator[Element]:
    decode: Callable[[msgspec.Raw], R] = msgspec.json.Decoder(kind).decode
    for position, part in enumerate(parts):
        try:
            yield Element(decode(part), position, None)
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise _validation_error(file.name, f"data.{key}[{position}]", error) from error
            yield _decode_with_extra(file, part, f"data.{key}[{position}]", position, kind)
        except RecursionError as error:
            raise file.bad(f"data.{key}[{position}]", TOO_DEEP) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise file.bad(f"data.{key}[{position}]", str(error)) from error


def _decode_with_extra(file: GraphFile, part: msgspec.Raw, place: str, position: int, kind: type[R]) -> Element:
    try:
        parts = msgspec.json.decode(part, type=dict[str, msgspec.Raw])
        extra = {key: read_json(bytes(parts.pop(key))) for key in set(parts) - set(kind.__struct_fields__)}
        known = b"{" + b",".join(msgspec.json.encode(key) + b":" + bytes(value) for key, value in parts.items()) + b"}"
        return Element(msgspec.json.decode(known, type=kind), position, extra)
    except msgspec.ValidationError as error:
        raise _validation_error(file.name, place, error) from error
    except RecursionError as error:
        raise file.bad(place, TOO_DEEP) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise file.bad(place, str(error)) from error


def _validation_error(name: str, place: str, error: msgspec.ValidationError) -> InputError:
    problem, _, inner = str(error).partition(_PLACE)
    return InputError(name, (place + inner.removesuffix("`")).lstrip("."), problem.replace("`", "'"))


def _syntax_error(name: str, mapping: mmap.mmap, error: msgspec.DecodeError) -> InputError:
    problem = str(error)
    found = _BYTE.search(problem)
    if found is None:
        return InputError(name, f"byte {len(mapping)}", f"is not whole JSON ({problem})")
    offset = int(found[1])
    before = mapping[:offset]
    line = before.count(b"\n") + 1
    column = offset - before.rfind(b"\n")
    return InputError(name, f"line {line}, column {column}", f"is not JSON ({problem[: found.start()]})")


@dataclass(slots=True)
class Index:
    """Positions of records by key; keys are unique."""

    file: GraphFile
    what: str
    positions: dict[str, int] = field(default_factory=dict)

    def add(self, key: str, place: str) -> None:
        """Add the next record.

        Raises:
            InputError: an earlier record has the same key.
        """
        if key in self.positions:
            raise self.file.bad(place, f"{self.what} {key!r} is there already")
        self.positions[key] = len(self.positions)

    def find(self, key: str, place: str) -> int:
        """The position of a record.

        Raises:
            InputError: no record has this key.
        """
        position = self.positions.get(key)
        if position is None:
            raise self.file.bad(place, f"{self.what} {key!r} is not in the file")
        return position


def node_key(node: NodeRecord) -> str:
    """The key of a variable, computed as smartcomment does; the file's own ``full_node_id`` is ignored."""
    return full_node_id(node.class_name or None, node.name, version_of(node))


def version_of(node: NodeRecord) -> int:
    """The version of a variable; 1 if the file gives none."""
    return 1 if node.version is UNSET else node.version
