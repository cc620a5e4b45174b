"""Writes a trace as a file of wire events, which ``ingest.files.wire.read`` reads again.

Elements come in the order of the trace, so an import gives them the same sequence numbers. The file has the reports of
users that an answer is wrong or right. Verdicts, and failures that judges found, are not in the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

import msgspec

from ingest.events.names import OF_GRAPH
from ingest.exports.content import Content, content_of, whole_values
from ingest.exports.turns import in_turn
from ingest.exports.wire import Event, Events
from schema.kinds import Origin
from schema.models import Failure, Trace
from store.contract.protocol import GraphStore
from store.shared.paging import every

_AT_ONCE = 1_000
_MOST_BYTES = 8 << 20
"""Events are written when their values have this size together, so that long values are not all in memory."""
VERSION = 1


async def write(store: GraphStore, trace: Trace, out: BinaryIO) -> None:
    """Write all events of a trace, one a line."""
    content = await content_of(store, trace)
    events = await in_turn(Events, content, OF_GRAPH)

    def say(some: Iterable[Event]) -> None:
        for event in some:
            line: dict[str, Any] = {"v": VERSION, "type": event["type"], "trace": trace.external_id, **event}
            out.write(msgspec.json.encode(line) + b"\n")

    await in_turn(say, events.of_trace({}))
    begun = _Begun(content, events)
    waiting: list[Event] = []
    size = 0
    ordered = sorted(content.variables.values(), key=lambda one: one.sequence)
    async for variable, text in whole_values(store, ordered):
        waiting += begun.until(variable.operation_id)
        waiting.append(events.variable(variable, text))
        size += variable.size
        if len(waiting) >= _AT_ONCE or size >= _MOST_BYTES:
            await in_turn(say, waiting)
            waiting, size = [], 0
    await in_turn(say, [*waiting, *begun.rest()])
    for start in range(0, len(content.operations), _AT_ONCE):
        part = content.operations[start : start + _AT_ONCE]
        await in_turn(say, [event for one in part for event in events.uses_of(one)])
    derived = sorted((one for some in content.derived.values() for one in some), key=lambda one: one.sequence)
    for start in range(0, len(derived), _AT_ONCE):
        await in_turn(say, [events.derived(one) for one in derived[start : start + _AT_ONCE]])
    for start in range(0, len(content.operations), _AT_ONCE):
        part = content.operations[start : start + _AT_ONCE]
        await in_turn(say, [event for one in part for event in events.end_of(one)])
    failures = [one async for one in every(lambda after: store.failures(trace.id, after=after))]
    await in_turn(say, _feedback(content, events, failures))


class _Begun:
    """The events of the beginnings of operations, each before the first variable that needs it."""

    def __init__(self, content: Content, events: Events) -> None:
        self._events = events
        self._left = iter(content.operations)
        self._sequence = {one.id: one.sequence for one in content.operations}
        self._last = -1

    def until(self, operation_id: str | None) -> list[Event]:
        """The events of the operations that began up to an operation, without events that were returned before."""
        wanted = self._sequence.get(operation_id or "", -1)
        said: list[Event] = []
        while self._last < wanted:
            one = next(self._left)
            self._last = one.sequence
            said.append(self._events.started(one))
        return said

    def rest(self) -> list[Event]:
        """All other beginnings."""
        return [self._events.started(one) for one in self._left]


def _feedback(content: Content, events: Events, failures: Iterable[Failure]) -> list[Event]:
    """What users said of answers."""
    said = [
        events.feedback(one)
        for one in failures
        if one.origin is Origin.USER and one.answer_id in content.variables and one.question_id in content.variables
    ]
    return said + [events.right(one) for one in content.variables.values() if one.right]
