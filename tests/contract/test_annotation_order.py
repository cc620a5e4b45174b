"""In which order people get the cases of a queue, on both engines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from schema.annotation import CaseOrder
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from store.contract.assigning import order_of
from store.contract.protocol import Database, GraphStore
from tests.contract.annotating import failing, queue_of
from tests.factory import TraceBuilder

PEOPLE = ["Ada", "Ben", "Cleo", "Dan"]


async def test_the_least_sure_come_first(database: Database, store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project, "sure")
    step = trace.operation("step")
    sure = [0.95, 0.15, None, 0.55, 0.12]
    for number, confidence in enumerate(sure):
        question = trace.variable(f"question {number}", kind=VariableKind.QUERY)
        failure = trace.failure(question, None)
        if confidence is not None:
            more = {"error_type": ErrorType.UPDATE, "operation_id": step.id, "confidence": confidence}
            trace.attribution(failure, "flow", **more)
    await trace.write(store)
    queue = await queue_of(database, project, ordering=CaseOrder.UNSURE)
    of = dict(zip((one.id for one in trace.failures), sure, strict=True))
    assert of[order_of(queue, "Ada")[0]] is None
    assert {of[id_] for id_ in order_of(queue, "Ada")[1:3]} == {0.15, 0.12}
    assert [of[id_] for id_ in order_of(queue, "Ben")][3:] == [0.55, 0.95]
    fewer = await queue_of(database, project, name="fewer", ordering=CaseOrder.UNSURE, count=3)
    assert {of[id_] for id_ in fewer.failure_ids} == {None, 0.15, 0.12}


async def test_what_methods_disagree_on_comes_first(database: Database, store: GraphStore, project: str) -> None:
    trace = failing(project, 6)
    for failure in trace.failures[::2]:
        trace.attribution(failure, "llm", error_type=ErrorType.JUDGE, operation_id=None)
    for failure in trace.failures[1::2]:
        (same,) = [one for one in trace.attributions if one.failure_id == failure.id]
        trace.attribution(failure, "llm", error_type=same.error_type, operation_id=same.operation_id)
    await trace.write(store)
    queue = await queue_of(database, project, ordering=CaseOrder.DISAGREEMENT)
    for person in PEOPLE:
        assert set(order_of(queue, person)[:3]) == {one.id for one in trace.failures[::2]}


async def test_strata_take_turns(database: Database, store: GraphStore, project: str) -> None:
    traces = [failing(project, 6, "one"), failing(project, 3, "other")]
    traces[1].trace = replace(traces[1].trace, source="elsewhere")
    for trace in traces:
        await trace.write(store)
    kind = {one.failure_id: one.error_type for trace in traces for one in trace.attributions}
    place = {one.id: trace.name for trace in traces for one in trace.failures}
    by_type = await queue_of(database, project, name="types", ordering=CaseOrder.ERROR_TYPE, count=6)
    by_system = await queue_of(database, project, name="systems", ordering=CaseOrder.SYSTEM, count=6)
    assert set(Counter(kind[id_] for id_ in by_type.failure_ids).values()) == {2}
    assert Counter(place[id_] for id_ in by_system.failure_ids) == {"one": 3, "other": 3}
    for person in PEOPLE:
        order = [place[id_] for id_ in order_of(by_system, person)]
        assert all({*pair} == {"one", "other"} for pair in list(pairwise(order))[::2])
    only = await queue_of(database, project, name="only", trace_ids=(traces[1].trace.id,))
    assert {place[id_] for id_ in only.failure_ids} == {"other"}


async def test_what_people_say_changes_no_order(database: Database, store: GraphStore, project: str) -> None:
    trace = failing(project, 2, confidence=0.5)
    said, _ = trace.failures
    trace.attribution(said, HUMAN_METHOD, error_type=ErrorType.JUDGE, confidence=1.0, author="Ada")
    await trace.write(store)
    for ordering in (CaseOrder.UNSURE, CaseOrder.DISAGREEMENT):
        queue = await queue_of(database, project, name=ordering.value, ordering=ordering)
        assert len(set(queue.ranks)) == 1
