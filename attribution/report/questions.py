"""Reads all questions that were asked in the traces of a report, answered right or wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from attribution.report.model import Answered, AskedQuestion
from attribution.text.said import text_of
from ingest.events.questions import questions_of
from schema.kinds import VariableKind
from schema.models import Failure, Trace, Variable
from store.contract.protocol import GraphStore
from store.shared.paging import elements

MOST_QUESTIONS = 50_000
"""With more questions, a report lists none."""

MOST_ANSWERS = 10_000
"""With more answers, a report does not say what was answered: finding each question takes time."""

_AT_ONCE = 8
_SOME = 500
_KINDS = (VariableKind.ANSWER.value, VariableKind.QUERY.value)


async def answered(store: GraphStore, failures: Sequence[Failure], traces: Sequence[Trace]) -> Answered:
    """The answers in some traces, and their questions, as far as these are recorded.

    Args:
        store: contains the traces.
        failures: all known failures of the traces.
        traces: to count.
    """
    room = asyncio.Semaphore(_AT_ONCE)

    async def read(trace: Trace) -> list[Variable]:
        async with room:
            return await elements(store, Variable, trace.id, _KINDS)

    found = await asyncio.gather(*map(read, traces))
    answers = {one.id for many in found for one in many if one.kind is VariableKind.ANSWER}
    named = {failure.answer_id for failure in failures} & answers
    asked = {
        one.id: AskedQuestion(trace.external_id, one.external_id, text_of(one.preview))
        for trace, many in zip(traces, found, strict=True)
        for one in many
        if one.kind is VariableKind.QUERY and not one.occurrence
    }
    unnamed = [one for many in found for one in many if one.kind is VariableKind.ANSWER and one.id not in named]
    for start in range(0, len(unnamed) if len(unnamed) <= MOST_ANSWERS else 0, _SOME):
        some = unnamed[start : start + _SOME]
        for id_, questions in (await questions_of(store, some)).items():
            answers_of = {one.id: one for one in some}
            if len(questions) == 1 and questions[0].id in asked:
                answer = answers_of[id_]
                text = text_of(answer.value or answer.preview)
                asked[questions[0].id] = replace(asked[questions[0].id], answer=text, right=answer.right)
    # If a failed question is not recorded, other questions may be missing, too: then the list would not be complete.
    is_whole = all(failure.question_id in asked for failure in failures) and len(asked) <= MOST_QUESTIONS
    return Answered(
        answers=len(answers),
        elsewhere=len(failures) - len(named),
        right=sum(one.right is True for many in found for one in many),
        questions=list(asked.values()) if is_whole else [],
    )
