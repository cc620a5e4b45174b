"""Matches a stored trace with replays of its program: the replay data, the calls of operations, the failed answer."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec
from memtrace.replay import Ask, Call, Replayed, ReplayedOperation, folder_of

from attribution.trace.graph import TraceGraph
from schema.kinds import VariableKind
from schema.models import Failure, Operation, Trace
from store.contract.answers import Label

NOT_KEPT = (
    "the trace can't be replayed: nothing was kept of it on this machine; record it with memtrace.trace(..., "
    'program="module:function", input={...}), and replay it where it was recorded'
)


_DRAWN = re.compile(rb"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")


class CannotReplayError(Exception):
    """A trace, or an operation of it, can't be replayed; the message says why."""


async def folder_of_trace(graph: TraceGraph) -> Path:
    """The folder of a trace's replay data on this machine.

    Raises:
        CannotReplayError: the trace was not recorded for a replay, or not on this machine.
    """
    (trace,) = cast("list[Trace]", await graph.store.get(Label.TRACE, [graph.trace_id]))
    folder = folder_of(trace.external_id)
    if not folder.exists():
        raise CannotReplayError(NOT_KEPT)
    return folder


_WHERE = frozenset({"store"})
"""Attributes that say where a memory is kept: a replay works on a copy in another folder."""


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """The recorded operations of a trace, matched with the operations of a null replay.

    Operations match by function, name, inputs and attributes; equal operations match in their order.

    Attributes:
        calls: identity of the call in replays, by operation id.
        missing: the first recorded operation that the replay does not have; None if there is none.
        further: the first operation of the replay that was not recorded; None if there is none.
    """

    calls: Mapping[str, Call]
    missing: Operation | None
    further: ReplayedOperation | None

    @classmethod
    async def of(cls, graph: TraceGraph, replayed: Replayed) -> RecordedCalls:
        """Match a trace with its null replay."""
        roles: dict[str, set[str]] = defaultdict(set)
        names: dict[str, set[str]] = defaultdict(set)
        waiting: dict[tuple[Any, ...], deque[ReplayedOperation]] = defaultdict(deque)
        for one in replayed.operations:
            roles[one.place] |= {role for role, _ in one.used}
            names[one.place] |= one.attributes.keys() - _WHERE
        for one in replayed.operations:
            said = {name: value for name, value in one.attributes.items() if name not in _WHERE}
            waiting[one.place, one.name, one.used, compared(said)].append(one)
        used: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for usage in await graph.store.usages(graph.trace_id):
            if usage.role is not None:
                used[usage.operation_id].append((usage.role, graph.variables[usage.variable_id].value_hash))
        calls: dict[str, Call] = {}
        missing = None
        for operation in sorted(graph.operations.values(), key=lambda one: one.sequence):
            place = _place(operation)
            given = tuple(sorted(pair for pair in used[operation.id] if pair[0] in roles[place]))
            said = msgspec.json.decode(operation.attributes)
            said = {name: value for name, value in said.items() if name in names[place]}
            same = waiting.get((place, operation.name, given, compared(said)))
            if not same:
                missing = missing or operation
                continue
            found = same.popleft()
            if found.call is not None:
                calls[operation.id] = Call.parse(found.call)
        left = {id(one) for some in waiting.values() for one in some}
        further = next((one for one in replayed.operations if id(one) in left), None)
        return cls(calls, missing, further)

    def call(self, operation: Operation) -> Call:
        """The identity of an operation's call.

        Raises:
            CannotReplayError: the operation is no call of a function.
        """
        found = self.calls.get(operation.id)
        if found is None:
            raise CannotReplayError(
                f"the operation {operation.name or operation.external_id!r} is no call of a decorated function, "
                "so nothing can be put in its place"
            )
        return found


def _place(operation: Operation) -> str:
    """Module and function of an operation, without the line number, which changes with the file."""
    module, _, rest = (operation.location or "").partition(":")
    return f"{module} {rest.partition(' ')[2]}"


def compared(attributes: Mapping[str, Any]) -> bytes:
    """Attributes as bytes for comparison; random UUIDs are replaced by numbers in order of appearance."""
    drawn: dict[bytes, bytes] = {}
    text = msgspec.json.encode(attributes, order="deterministic")
    return _DRAWN.sub(lambda found: drawn.setdefault(found[0].lower(), b"id %d" % len(drawn)), text)


@dataclass(frozen=True, slots=True)
class FailedAnswer:
    """The answer of a failure, identified so that a replay can find its counterpart.

    Attributes:
        ask: name and kind of the answer's variable, and the question.
        turn: position among the answers to equal questions, from 0.
        text: the recorded answer.
    """

    ask: Ask
    turn: int
    text: str

    @classmethod
    async def of(cls, graph: TraceGraph, failure: Failure) -> FailedAnswer:
        """The answer of a failure.

        Raises:
            CannotReplayError: the failure names no answer or question of its trace, or the answer does not derive from
                the question.
        """
        answer, question = graph.variables.get(failure.answer_id or ""), graph.variables.get(failure.question_id)
        if answer is None or question is None:
            raise CannotReplayError("the failure names no answer, or no question, of its trace")
        asked = await graph.text(question.id)
        equal = [one for one in graph.variables.values() if one.name == answer.name and one.kind is answer.kind]
        queries = [one.id for one in graph.variables.values() if one.kind is VariableKind.QUERY]
        texts = await graph.texts(queries)
        same = {id_ for id_ in queries if texts[id_] == asked}
        before = [one for one in equal if one.sequence < answer.sequence and not same.isdisjoint(graph.past([one.id]))]
        if same.isdisjoint(graph.past([answer.id])):
            raise CannotReplayError("the failure's question is not in the past of its answer")
        ask = Ask(answer.name, answer.kind.value, asked)
        return cls(ask, len(before), await graph.text(answer.id))
