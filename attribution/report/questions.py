"""What the traces of a report were asked: right and wrong answers alike, so that a rate has its whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attribution.report.model import Answered, AskedQuestion
from schema.kinds import VariableKind
from schema.models import Failure, Trace, Variable
from store.paging import elements
from store.protocol import GraphStore

MOST_QUESTIONS = 50_000
"""Of more, a report lists none."""

_AT_ONCE = 8
_KINDS = (VariableKind.ANSWER.value, VariableKind.QUERY.value)


async def answered(store: GraphStore, failures: Sequence[Failure], traces: Sequence[Trace]) -> Answered:
    """The answers that some traces hold, and the questions, as far as the recording says which they are.

    Args:
        store: holds them.
        failures: all that is known to be wrong in these traces.
        traces: what is counted.
    """
    room = asyncio.Semaphore(_AT_ONCE)

    async def read(trace: Trace) -> list[Variable]:
        async with room:
            return await elements(store, Variable, trace.id, _KINDS)

    found = await asyncio.gather(*map(read, traces))
    answers = {one.id for many in found for one in many if one.kind is VariableKind.ANSWER}
    named = {failure.answer_id for failure in failures} & answers
    asked = {
        one.id: AskedQuestion(trace.external_id, one.external_id, one.preview)
        for trace, many in zip(traces, found, strict=True)
        for one in many
        if one.kind is VariableKind.QUERY and not one.occurrence
    }
    # Where a failed question is not among them, others may be missing, too: then none is known to have been left out.
    is_whole = all(failure.question_id in asked for failure in failures) and len(asked) <= MOST_QUESTIONS
    return Answered(
        answers=len(answers),
        elsewhere=len(failures) - len(named),
        right=sum(one.right is True for many in found for one in many),
        questions=list(asked.values()) if is_whole else [],
    )
