"""A failure that is deleted: its verdicts go with it, and its answer is as if nobody had judged it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from api.jobs.arguments import AttributeArguments
from api.jobs.work.attributes import run
from api.jobs.work.context import Context, Document
from schema.errors import InputError, NotFoundError
from schema.kinds import VariableKind
from schema.models import Batch, Failure, Trace, Variable
from store.contract.answers import Label, Stored, WriteResult
from store.contract.protocol import GraphStore
from store.shared.references import elements_of
from tests.contract.samples import assistant
from tests.factory import TraceBuilder


async def _answer(store: GraphStore, answer: Variable) -> Variable:
    (found,) = await store.get(Label.VARIABLE, [answer.id])
    assert isinstance(found, Variable)
    return found


def _twice(project: str, name: str) -> tuple[TraceBuilder, Variable, list[Failure]]:
    """An answer that two failures have, of two questions, with a verdict on each."""
    trace = TraceBuilder(project, name)
    answer = trace.variable("answer", kind=VariableKind.ANSWER)
    questions = [trace.variable(f"question {number}", kind=VariableKind.QUERY) for number in range(2)]
    failures = [trace.failure(question, answer) for question in questions]
    for failure in failures:
        trace.attribution(failure, "flow")
    return trace, answer, failures


class _Withdrawing:
    """A store whose failure is withdrawn by somebody else, just when a verdict on it is to be stored."""

    def __init__(self, store: GraphStore, failure_id: str) -> None:
        self._store = store
        self._failure_id = failure_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, batch: Batch) -> WriteResult:
        if self._failure_id in {one.failure_id for one in batch.attributions}:
            await self._store.delete_failure(self._failure_id)
        return await self._store.write(batch)


@pytest.mark.parametrize("is_known", [False, True], ids=["a new verdict", "one that was given before"])
async def test_a_failure_that_is_withdrawn_while_a_job_attributes_it(
    store: GraphStore, project: str, is_known: bool
) -> None:
    trace, _, (kept, withdrawn) = _twice(project, "job")
    trace.attributions.clear()
    await trace.write(store)
    if is_known:
        await _attributed(store)
        later = max(one.created_at for one in await store.attributions([withdrawn.id]) if one.created_at)
        trace.attribution(withdrawn, "flow", id="f" * 32, created_at=later + timedelta(seconds=1))
        await trace.write(store)
    result = await _attributed(cast("GraphStore", _Withdrawing(store, withdrawn.id)))
    assert (result["failures"], result["withdrawn"], result["cached"]) == (2, 1, int(is_known))
    (id_,) = result["attributionIds"]
    assert [one.id for one in await store.attributions([kept.id, withdrawn.id])] == [id_]
    assert (await store.failures()).items == [kept]
    assert (await store.stats(trace.trace.id)).labels["Attribution"] == 1


async def test_a_verdict_is_not_written_when_its_failure_went_after_it_was_looked_up(
    store: GraphStore, project: str
) -> None:
    trace, _, (kept, withdrawn) = _twice(project, "late")
    verdicts = [one for one in trace.attributions if one.failure_id == withdrawn.id]
    trace.attributions.clear()
    await trace.write(store)
    (found,) = await store.get(Label.TRACE, [trace.trace.id])
    stored = Stored(cast("Trace", found), {}, {Label.FAILURE: {withdrawn.id: withdrawn}})
    await store.delete_failure(withdrawn.id)
    with pytest.raises(InputError, match=withdrawn.id):
        await store.write(Batch(trace.trace, attributions=verdicts), None, stored)
    assert await store.get(Label.ATTRIBUTION, [one.id for one in verdicts]) == []
    assert (await store.failures()).items == [kept]


async def _attributed(store: GraphStore) -> Document:
    """What a job says that attributes everything."""
    nothing = cast("Any", None)
    context = Context(store, nothing, nothing, lambda stage, done, total: None, None)
    return await run(context, AttributeArguments())


@pytest.mark.each_engine
async def test_a_failure_goes_with_its_verdicts_and_nothing_else(store: GraphStore, project: str) -> None:
    trace, other = assistant(project), assistant(project, "other")
    await trace.write(store)
    await other.write(store)
    (failure,) = trace.failures
    trace.attribution(failure, "agent", operation_id=trace.operations[0].id)
    await trace.write(store)
    assert await store.delete_failure(failure.id) == {"Failure": 1, "Attribution": 2}
    assert (await store.failures()).items == other.failures
    assert await store.attributions([failure.id]) == []
    assert await store.get(Label.ATTRIBUTION, [one.id for one in trace.attributions]) == []
    with pytest.raises(NotFoundError, match=failure.id):
        await store.delete_failure(failure.id)
    kept = replace(trace.batch(), failures=[], attributions=[])
    for label, expected in (*elements_of(kept).items(), *elements_of(other.batch()).items()):
        found = await store.get(label, [one.id for one in expected])
        assert [one for one in found if not isinstance(one, Variable)] == [
            one for one in expected if not isinstance(one, Variable)
        ]
        assert len(found) == len(expected)
    assert (await trace.write(store)).created == {"Failure": 1, "Attribution": 2}
    assert (await store.failures(trace.trace.id)).items == [failure]


async def test_an_answer_is_wrong_as_long_as_a_failure_has_it(store: GraphStore, project: str) -> None:
    trace, answer, (first, second) = _twice(project, "asked twice")
    await trace.write(store)
    assert (await _answer(store, answer)).right is False
    assert await store.delete_failure(first.id) == {"Failure": 1, "Attribution": 1}
    assert (await _answer(store, answer)).right is False
    assert (await store.failures()).items == [second]
    assert await store.delete_failure(second.id) == {"Failure": 1, "Attribution": 1}
    assert (await _answer(store, answer)).right is None
    await store.write(Batch(trace.trace, right_answers=[answer.id]))
    assert (await _answer(store, answer)).right is True


async def test_a_failure_without_an_answer_or_verdicts(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project, "unanswered")
    failure = trace.failure(trace.variable("question", kind=VariableKind.QUERY), None)
    judged = trace.variable("answer", kind=VariableKind.ANSWER)
    await store.write(replace(trace.batch(), right_answers=[judged.id]))
    assert await store.delete_failure(failure.id) == {"Failure": 1}
    assert (await store.failures()).items == []
    assert (await _answer(store, judged)).right is True


async def test_two_failures_of_an_answer_go_at_once(store: GraphStore, project: str) -> None:
    for number in range(10):
        trace, answer, failures = _twice(project, f"at once {number}")
        await trace.write(store)
        await asyncio.gather(*(store.delete_failure(one.id) for one in failures))
        assert (await _answer(store, answer)).right is None


@pytest.mark.parametrize("reference", ["", "x", "0" * 32, "ünï"])
async def test_what_is_no_failure_is_not_found(store: GraphStore, project: str, reference: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    for wrong in (reference, trace.variables[0].id, trace.attributions[0].id):
        with pytest.raises(NotFoundError):
            await store.delete_failure(wrong)
    assert (await store.failures()).items == trace.failures
