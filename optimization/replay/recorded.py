"""What a stored trace says of its replay: its calls, where the rest is kept, and which answer is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec
from memtrace.replay import Ask, Call, folder_of

from attribution.graph import TraceGraph
from schema.kinds import VariableKind
from schema.models import Failure, Operation, Trace
from store.answers import Label

NOT_KEPT = (
    "the trace can't be replayed: nothing was kept of it on this machine; record it with memtrace.trace(..., "
    'program="module:function", input={...}), and replay it where it was recorded'
)


class CannotReplayError(Exception):
    """A trace, or an operation of it, can't be replayed; the message says why."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace as it was recorded.

    Attributes:
        folder: what is kept of it on this machine.
        calls: what its calls are known by, by operation, in their order; operations without one are left out.
    """

    folder: Path
    calls: Mapping[str, Call]

    @classmethod
    async def of(cls, graph: TraceGraph) -> Recorded:
        """What a trace says of its replay.

        Raises:
            CannotReplayError: it was not recorded for one, or not on this machine.
        """
        (trace,) = cast("list[Trace]", await graph.store.get(Label.TRACE, [graph.trace_id]))
        folder = folder_of(trace.external_id)
        calls = {
            one.id: call
            for one in sorted(graph.operations.values(), key=lambda one: one.sequence)
            if (call := call_of(one)) is not None
        }
        if not folder.exists():
            raise CannotReplayError(NOT_KEPT)
        if not calls:
            raise CannotReplayError("none of the trace's operations was recorded for a replay")
        return cls(folder, calls)

    def call(self, operation: Operation) -> Call:
        """What an operation's call is known by.

        Raises:
            CannotReplayError: it is no call of a function.
        """
        found = self.calls.get(operation.id)
        if found is None:
            raise CannotReplayError(
                f"the operation {operation.name or operation.external_id!r} is no call of a decorated function, "
                "so nothing can be put in its place"
            )
        return found


def call_of(operation: Operation) -> Call | None:
    """What an operation's call is known by; None where the recording does not say it."""
    try:
        said: Any = msgspec.json.decode(operation.attributes).get("call")
        return Call.parse(said) if isinstance(said, str) else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer that a failure is about, as a replay can find it: it may be made from other things there.

    Attributes:
        turn: which of the answers to equal questions it is, from 0.
        text: what was answered.
    """

    ask: Ask
    turn: int
    text: str

    @classmethod
    async def of(cls, graph: TraceGraph, failure: Failure) -> Asked:
        """The answer of a failure.

        Raises:
            CannotReplayError: the failure names no answer or question of its trace.
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
