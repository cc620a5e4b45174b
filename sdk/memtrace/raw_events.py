"""Recorded events are tuples, because making a tuple takes a fifth of the time of making a dictionary.

The exporter turns the tuples into dictionaries or JSON in a thread of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_core import to_json

from memtrace.ids import new_id

WireEvent = dict[str, Any]
"""An event in the wire format."""

RawEvent = tuple[Any, ...]
"""Type, further fields (a mapping or None), trace, time in nanoseconds, and the fields of the type in their order."""

TRACE, SESSION = "trace", "session"
STARTED, ENDED = "operationStarted", "operationEnded"
VARIABLE, USED, DERIVED = "variable", "used", "derived"
CONSIDERED, INVALIDATED = "considered", "invalidated"
FEEDBACK = "feedback"

_FIELDS: dict[str, tuple[str, ...]] = {
    TRACE: ("trace",),
    SESSION: ("session",),
    STARTED: ("operation", "name", "kind", "session", "parent", "location"),
    ENDED: ("operation", "status"),
    VARIABLE: ("value", "mediaType", "variable", "name", "kind", "version", "session", "operation", "revisionOf"),
    USED: ("operation", "variable", "position", "role"),
    DERIVED: ("source", "target", "operation", "kind"),
    CONSIDERED: ("operation", "query", "variable", "rank", "returned"),
    INVALIDATED: ("variable", "operation"),
    FEEDBACK: ("answer", "question"),
}
"""The fields of each type, in the order of the tuple. A field whose value is None is left out of the wire event."""

OF_STORED = {"stored": True}
"""A field of derivations of stored units: they hold only if their operation is the maker of the unit."""

MORE, TRACE_ID, TIME, VALUE, MEDIA_TYPE = 1, 2, 3, 4, 5
"""Places in the tuple; ``MEDIA_TYPE`` only in events of variables. Every event has a text in the place ``VALUE``."""


def opened(raw: RawEvent) -> WireEvent:
    """The event as a dictionary, which may be changed."""
    type_, more, trace, now, *values = raw
    event = {"type": type_, "trace": trace, "time": now}
    if type_ == DERIVED:
        event["derivation"] = new_id()
    fields = zip(_FIELDS[type_], values, strict=True)
    event |= {name: value for name, value in fields if value is not None}
    if more:
        event.update(more)
    return event


def written(raw: RawEvent, version: int, time: str) -> str | None:
    """The event as JSON; None if the event contains texts that may have to be masked."""
    if raw[MORE] is not None:
        return None
    if raw[0] == USED:
        _, _, trace, _, operation, variable, position, role = raw
        more = "" if role is None else f',"role":{_quoted(role)}'
        return (
            f'{{"v":{version},"type":"used","trace":{_quoted(trace)},"time":"{time}","operation":"{operation}",'
            f'"variable":"{variable}","position":{position}{more}}}'
        )
    if raw[0] == DERIVED:
        _, _, trace, _, source, target, operation, kind = raw
        return (
            f'{{"v":{version},"type":"derived","trace":{_quoted(trace)},"time":"{time}","derivation":"{new_id()}",'
            f'"source":"{source}","target":"{target}","operation":"{operation}","kind":"{kind}"}}'
        )
    return None


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    return to_json(text).decode()
