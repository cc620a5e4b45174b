"""The events that are told most often, as tuples: to make one costs the application a fifth of a dictionary.

Whoever takes them away opens them, in a thread of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_core import to_json

from memtrace.ids import new_id

WireEvent = dict[str, Any]
RawEvent = WireEvent | tuple[Any, ...]
"""An event as it is recorded."""

USED, DERIVED = "used", "derived"


def used(trace: str, now: int, operation: str, variable: str, position: int, role: str | None) -> RawEvent:
    """An operation used a variable."""
    return USED, trace, now, operation, variable, position, role


def derived(
    trace: str, now: int, source: str, target: str, operation: str, kind: str, comment: str | None = None
) -> RawEvent:
    """The edge from a target to its source."""
    return DERIVED, trace, now, source, target, operation, kind, comment


def written(raw: tuple[Any, ...], version: int, time: str) -> str:
    """The event as JSON. A comment is left to others: it may have to be masked."""
    if raw[0] == USED:
        _, trace, _, operation, variable, position, role = raw
        more = "" if role is None else f',"role":{_quoted(role)}'
        return (
            f'{{"v":{version},"type":"used","trace":{_quoted(trace)},"time":"{time}","operation":"{operation}",'
            f'"variable":"{variable}","position":{position}{more}}}'
        )
    _, trace, _, source, target, operation, kind, _ = raw
    return (
        f'{{"v":{version},"type":"derived","trace":{_quoted(trace)},"time":"{time}","derivation":"{new_id()}",'
        f'"source":"{source}","target":"{target}","operation":"{operation}","kind":"{kind}"}}'
    )


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    return to_json(text).decode()


def opened(raw: RawEvent) -> WireEvent:
    """The event as a dictionary, which may be changed."""
    if isinstance(raw, dict):
        return raw.copy()
    if raw[0] == USED:
        _, trace, now, operation, variable, position, role = raw
        event = {
            "type": USED,
            "trace": trace,
            "time": now,
            "operation": operation,
            "variable": variable,
            "position": position,
        }
        if role is not None:
            event["role"] = role
        return event
    _, trace, now, source, target, operation, kind, comment = raw
    event = {
        "type": DERIVED,
        "trace": trace,
        "time": now,
        "derivation": new_id(),
        "source": source,
        "target": target,
        "operation": operation,
        "kind": kind,
    }
    if comment is not None:
        event["comment"] = comment
    return event
