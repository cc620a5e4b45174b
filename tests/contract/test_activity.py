from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from schema.kinds import OperationKind, Status, VariableKind
from schema.models import Element, Operation
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder, moment


def _trace(project: str) -> TraceBuilder:
    trace = TraceBuilder(project)
    for number in range(23):
        trace.operation(
            f"o{number}",
            kind=OperationKind.RETRIEVAL if number % 3 else OperationKind.UPDATE,
            status={7: Status.ERROR, 22: Status.RUNNING}.get(number, Status.OK),
            ended_at=None if number == 22 else moment(number + 1),
        )
    trace.variable("asked", kind=VariableKind.ANSWER, right=True)
    trace.variable("unjudged", kind=VariableKind.ANSWER)
    return trace


@pytest.mark.each_engine
async def test_activity_is_counted_in_stretches(store: GraphStore, database: Database, project: str) -> None:
    trace = _trace(project)
    await trace.write(store)
    found = await store.activity(trace.trace.id, 5)
    wanted = Counter((one.sequence // 5, one.kind, one.status) for one in trace.operations)
    assert {(one.number, one.kind, one.status): one.count for one in found} == wanted
    assert [(one.number, one.kind, one.status) for one in found] == sorted(wanted)
    lengths = [one.ended_at - one.started_at for one in trace.operations if one.ended_at and one.started_at]
    took = sum(lengths, timedelta()).total_seconds()
    assert abs(sum(one.seconds for one in found) - took) < 1e-6
    assert max(one.last for one in found if one.last) == moment(22)
    assert sum(one.count for one in await store.activity(trace.trace.id, 1000)) == 23
    assert await store.activity("0" * 32, 5) == []
    assert await database.project(f"{project}-other").activity(trace.trace.id, 5) == []


def _places(items: list[Element]) -> list[int]:
    return [one.sequence for one in items if isinstance(one, Operation)]


async def test_a_page_begins_at_a_place(store: GraphStore, project: str) -> None:
    trace = _trace(project)
    await trace.write(store)
    first = await store.page(Label.OPERATION, trace.trace.id, 4, since=9)
    assert _places(first.items) == [9, 10, 11, 12]
    second = await store.page(Label.OPERATION, trace.trace.id, 4, first.next, since=9)
    assert _places(second.items) == [13, 14, 15, 16]
    assert (await store.pages(Label.OPERATION, [trace.trace.id], 4, since=23))[trace.trace.id].items == []


async def test_right_answers_are_counted(store: GraphStore, project: str) -> None:
    trace = _trace(project)
    await trace.write(store)
    assert (await store.stats()).right_answers == 1
    assert (await store.stats(trace.trace.id)).right_answers == 1
    assert (await store.stats("0" * 32)).right_answers == 0
