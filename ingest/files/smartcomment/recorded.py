"""A whole file, read and checked: its records, and references as positions; long values go to the value store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from msgspec import UNSET

from ingest.files.smartcomment.leftover import MetadataReader
from ingest.files.smartcomment.read import (
    EdgeRecord,
    Element,
    GraphFile,
    Index,
    NodeRecord,
    OperationRecord,
    Record,
    node_key,
)
from ingest.files.smartcomment.repair import closing_edge
from schema.errors import InputError
from schema.ids import hash_value
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES
from store.values.packs import PackWriter


class Clock:
    """Reads and writes the times of one file; neighbouring records often repeat a time, so the last one is cached."""

    def __init__(self, timezone: str) -> None:
        """``timezone``: an IANA name, such as ``Europe/Berlin``.

        Raises:
            InputError: no such zone is known.
        """
        try:
            self._zone = UTC if timezone == "UTC" else ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise InputError("timezone", "", f"{timezone!r} is no time zone of the IANA database") from error
        self._last: tuple[str | None, datetime] = (None, datetime.min.replace(tzinfo=UTC))

    def read(self, text: str) -> datetime:
        """Parse a local time such as ``2026-11-21 20:28:59.390``; returns UTC.

        Raises:
            ValueError: ``text`` is no time.
        """
        last_text, last = self._last
        if text == last_text:
            return last
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=self._zone)
        if self._zone is not UTC or moment.tzinfo is not UTC:
            try:
                moment = moment.astimezone(UTC)
            except OverflowError:
                raise ValueError("it is not within the years 1 to 9999 of UTC") from None
        self._last = (text, moment)
        return moment

    def write(self, moment: datetime) -> str:
        """The inverse of ``read``, with milliseconds, as smartcomment writes it."""
        try:
            local = moment if self._zone is UTC else moment.astimezone(self._zone)
        except OverflowError:  # within hours of year 1 or 9999; the original text is kept as leftover
            local = moment
        return local.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")

    def is_usual(self, text: str) -> bool:
        """Whether reading and writing gives the same text again."""
        if self._zone is UTC:
            return len(text) == 23 and text[10] == " " and text[19] == "."
        return self.write(self.read(text)) == text


Tick = Callable[[int, int], None]


@dataclass(slots=True)
class Node:
    """A variable's record without its long value, which is in the value store."""

    key: str
    record: NodeRecord
    extra: dict[str, Any] | None
    text: str
    value_hash: str
    size: int
    media_type: str
    created_at: datetime | None
    location: str | None
    metadata: str


@dataclass(slots=True)
class RecordedFile:
    """The records of a file, with edges as positions in the lists of variables and operations."""

    file: GraphFile
    timezone: str
    clock: Clock
    sessions: list[Element] = field(default_factory=list)
    operations: list[Element] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    edges: list[Element] = field(default_factory=list)
    session_index: dict[str, int] = field(default_factory=dict)
    node_index: dict[str, int] = field(default_factory=dict)
    operation_sessions: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    edge_operations: list[int] = field(default_factory=list)
    metadata: MetadataReader = field(default_factory=MetadataReader)


def read_records(file: GraphFile, timezone: str, values: PackWriter, tick: Tick) -> RecordedFile:
    """Read all records of a file, check their references, and store the values.

    Raises:
        InputError: a record is malformed, a key is used twice, an end of an edge is missing, or the edges close a
            cycle.
    """
    recorded = RecordedFile(file, timezone, Clock(timezone))
    _read_sessions(recorded)
    operations = _read_operations(recorded)
    _read_nodes(recorded, values, tick)
    _read_edges(recorded, operations)
    closing = closing_edge(len(recorded.nodes), recorded.sources, recorded.targets)
    if closing is not None:
        edge: EdgeRecord = recorded.edges[closing].record
        ends = f"{edge.source_full_node_id!r} -> {edge.target_full_node_id!r}"
        raise file.bad(f"data.edges[{closing}]", f"edge {edge.edge_id!r} ({ends}) closes a cycle")
    return recorded


def _read_sessions(recorded: RecordedFile) -> None:
    index = Index(recorded.file, "session")
    for element in recorded.file.sessions():
        index.add(element.record.session_id, f"data.sessions[{element.position}]")
        recorded.sessions.append(element)
    recorded.session_index = index.positions


def _read_operations(recorded: RecordedFile) -> Index:
    index = Index(recorded.file, "operation")
    for element in recorded.file.operations():
        place = f"data.operations[{element.position}]"
        record: OperationRecord = element.record
        index.add(record.op_id, place)
        recorded.operations.append(element)
        recorded.operation_sessions.append(_session_of(recorded, record.session_id or None, place))
    return index


def _session_of(recorded: RecordedFile, session_id: str | None, place: str) -> int:
    if session_id is None:
        return -1
    position = recorded.session_index.get(session_id)
    if position is None:
        raise recorded.file.bad(place, f"session {session_id!r} is not in the file")
    return position


def _read_nodes(recorded: RecordedFile, values: PackWriter, tick: Tick) -> None:
    file = recorded.file
    index = Index(file, "variable")
    total = len(file.node_parts)
    for element in file.nodes():
        record: NodeRecord = element.record
        place = f"data.nodes[{element.position}]"
        key = node_key(record)
        index.add(key, place)
        _session_of(recorded, record.session_id or None, place)
        value = record.value
        data = value.encode()
        value_hash = hash_value(data)
        is_whole = len(data) <= WHOLE_VALUE_BYTES
        if not is_whole:
            values.add(value_hash, data)
        recorded.nodes.append(
            Node(
                key,
                record,
                element.extra,
                value if is_whole else value[:PREVIEW_CHARACTERS],
                value_hash,
                len(data),
                media_type(value),
                read_time(recorded, record, place),
                location_of(record),
                metadata_of(recorded, record, place),
            )
        )
        record.value = ""
        if not element.position % 256:
            tick(element.position, total)
    recorded.node_index = index.positions


def _read_edges(recorded: RecordedFile, operations: Index) -> None:
    file = recorded.file
    edge_index = Index(file, "edge")
    nodes = recorded.node_index
    for element in file.edges():
        record: EdgeRecord = element.record
        source = nodes.get(record.source_full_node_id)
        target = nodes.get(record.target_full_node_id)
        operation = operations.positions.get(record.op_id)
        if source is None or target is None or operation is None:
            raise _dangling(file, element, source is None, target is None)
        if record.edge_id in edge_index.positions:
            edge_index.add(record.edge_id, f"data.edges[{element.position}].edge_id")
        edge_index.positions[record.edge_id] = element.position
        recorded.edges.append(element)
        recorded.sources.append(source)
        recorded.targets.append(target)
        recorded.edge_operations.append(operation)


def _dangling(file: GraphFile, element: Element, no_source: bool, no_target: bool) -> Exception:
    record: EdgeRecord = element.record
    key = "source_full_node_id" if no_source else "target_full_node_id" if no_target else "op_id"
    what = "variable" if no_source or no_target else "operation"
    place = f"data.edges[{element.position}].{key}"
    return file.bad(place, f"{what} {getattr(record, key)!r} of edge {record.edge_id!r} is not in the file")


def media_type(value: str) -> str:
    """``application/json`` for an object or a list in JSON, otherwise ``text/plain``."""
    if value[:1] in {"{", "["} and value[-1:] in {"}", "]"}:
        try:
            msgspec.json.decode(value, type=msgspec.Raw)
        except (msgspec.DecodeError, UnicodeError):
            return "text/plain"
        return "application/json"
    return "text/plain"


def read_time(recorded: RecordedFile, record: Record, place: str) -> datetime | None:
    """The time of a record in UTC; None if the record has none.

    Raises:
        InputError: ``created_at`` is no time.
    """
    if record.created_at is UNSET:
        return None
    try:
        return recorded.clock.read(record.created_at)
    except (ValueError, OverflowError) as error:
        problem = f"{record.created_at!r} is no time like '2026-11-21 20:28:59.390'"
        raise recorded.file.bad(f"{place}.created_at", problem) from error


def location_of(record: Record) -> str | None:
    """The call site as ``file:line``; None if the record has none."""
    if record.filename is UNSET or record.lineno is UNSET:
        return None
    return f"{record.filename}:{record.lineno}"


def metadata_of(recorded: RecordedFile, record: Record, place: str) -> str:
    """The metadata of a record as canonical JSON text.

    Raises:
        InputError: the metadata is no object.
    """
    try:
        return recorded.metadata.read(record.metadata)
    except (ValueError, msgspec.DecodeError) as error:
        raise recorded.file.bad(f"{place}.metadata", str(error)) from error
