"""Writes the current trace, session and operation into headers and reads them, for other processes and services.

The headers are those of W3C Trace Context and Baggage. ``traceparent`` carries the sampling decision and connects our
traces with those of other tracing systems. ``baggage`` carries the ids that MemTrace needs, under ``memtrace.trace``,
``memtrace.session`` and ``memtrace.operation``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from memtrace import undecided
from memtrace.config import is_ready, is_sampled
from memtrace.context import question, scope, state_of, unsampled
from memtrace.faults import report
from memtrace.kinds import MAX_ID_CHARACTERS
from memtrace.steps import Scope

if TYPE_CHECKING:
    from contextvars import Token

_TRACEPARENT = re.compile(r"^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$", re.ASCII)
_KEYS = {"memtrace.trace": "trace", "memtrace.session": "session", "memtrace.operation": "operation"}
MAX_BAGGAGE = 8192

_outer: ContextVar[str | None] = ContextVar("memtrace.traceparent", default=None)
"""The trace id of the ``traceparent`` that was received."""


def inject(carrier: MutableMapping[str, str] | None = None) -> MutableMapping[str, str]:
    """Write the current place into a dictionary of headers, yours or a new one. Other entries of yours stay."""
    carrier = {} if carrier is None else carrier
    try:
        here, left_out = scope.get(), unsampled.get()
        trace_id = here.trace.id if here is not None else left_out
        if trace_id is None:
            return carrier
        operation = None
        if here is not None:
            undecided.settle(trace_id)  # the other process records in this trace
            operation = here.step.id if here.step is not None else here.ancestor
        outer = _outer.get() or _digest(trace_id, 16)
        span = operation[:16] if operation is not None and _is_hex(operation[:16]) else _digest(trace_id + outer, 8)
        carrier["traceparent"] = f"00-{outer}-{span}-{'01' if here is not None else '00'}"
        session = here.session if here is not None else None
        said = [("trace", trace_id), ("session", session), ("operation", operation)]
        ours = [f"memtrace.{name}={quote(value, safe='')}" for name, value in said if value]
        theirs = [item for item in _members(carrier.get("baggage", "")) if item.split("=")[0].strip() not in _KEYS]
        carrier["baggage"] = ",".join(ours + theirs)
    except Exception as error:
        report("inject", error)
    return carrier


@contextmanager
def extract(carrier: Mapping[str, str]) -> Iterator[None]:
    """A block that continues in the trace, session and operation that a caller put into the headers.

    Without headers of MemTrace nothing changes. If there are only headers of another tracing system, a trace with its
    trace id begins.
    """
    tokens = _enter(carrier)
    try:
        yield
    finally:
        for variable, token in tokens:
            variable.reset(token)


def _enter(carrier: Mapping[str, str]) -> list[tuple[ContextVar[object], Token[object]]]:
    try:
        if not is_ready():
            return []
        headers = {key.lower(): value for key, value in carrier.items() if isinstance(value, str)}
        parent = _TRACEPARENT.match(headers.get("traceparent", "").strip())
        if parent is not None and (parent[1] == "ff" or not parent[2].strip("0") or not parent[3].strip("0")):
            parent = None
        place = _place(headers.get("baggage", ""))
        trace_id = place.get("trace") or (parent[2] if parent is not None else None)
        if trace_id is None:
            return []
        is_recorded = is_sampled(trace_id) and (parent is None or bool(int(parent[4], 16) & 1))
        here = Scope(state_of(trace_id), place.get("session"), None, place.get("operation")) if is_recorded else None
        values: list[tuple[ContextVar[object], object]] = [
            (scope, here),  # type: ignore[list-item]
            (unsampled, None if is_recorded else trace_id),  # type: ignore[list-item]
            (question, None),  # type: ignore[list-item]
            (_outer, parent[2] if parent is not None else None),  # type: ignore[list-item]
        ]
        return [(variable, variable.set(value)) for variable, value in values]
    except Exception as error:
        report("extract", error)
        return []


def _place(baggage: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for member in _members(baggage[:MAX_BAGGAGE]):
        key, _, value = member.partition(";")[0].partition("=")
        name = _KEYS.get(key.strip())
        text = unquote(value.strip())
        if name is not None and 0 < len(text) <= MAX_ID_CHARACTERS:
            found[name] = text
    return found


def _members(baggage: str) -> list[str]:
    return [member.strip() for member in baggage.split(",") if member.strip()]


def _digest(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def _is_hex(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{16}", text) is not None and bool(text.strip("0"))
