from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from schema.errors import ConflictError
from schema.models import Batch
from store.contract.answers import IN_ORDER, Label, Stored, WriteResult
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.values

WRITERS = 8


def growing(project: str, name: str = "growing") -> TraceBuilder:
    """A chain of 160 notes, each derived from the two before it; some of their values are large."""
    trace = TraceBuilder(project, name)
    trace.session("only")
    for number in range(160):
        step = trace.operation(f"o{number}")
        text = f"note {number} " * (400 if number % 10 == 0 else 1)
        note = trace.variable(f"v{number}", text, by=step)
        trace.derive(note, *trace.variables[-3:-1], by=step)
        trace.use(step, *trace.variables[-3:-1])
    return trace


def beginning(trace: TraceBuilder, count: int) -> Batch:
    batch = trace.batch()
    variables = {variable.id for variable in batch.variables[:count]}
    operations = {operation.id for operation in batch.operations[:count]}
    return replace(
        batch,
        operations=batch.operations[:count],
        variables=batch.variables[:count],
        derivations=[derivation for derivation in batch.derivations if derivation.target in variables],
        usages=[usage for usage in batch.usages if usage.operation_id in operations],
    )


async def write(store: GraphStore, trace: TraceBuilder, batch: Batch) -> WriteResult:
    with trace.values() as values:
        return await store.write(batch, values)


async def assert_whole(store: GraphStore, trace: TraceBuilder) -> None:
    assert await store.get(Label.VARIABLE, [one.id for one in trace.variables]) == trace.variables
    closure = await store.closure([trace.variables[-1].id])
    assert closure.variables == trace.variables
    assert closure.derivations == trace.derivations
    assert closure.operations == trace.operations[1:]
    for variable in trace.variables:
        assert await store.value(variable) == trace.text(variable).encode()
    assert len((await store.operation(trace.operations[7].id)).used) == 2


def added(results: list[WriteResult]) -> Counter[str]:
    return sum((Counter(result.created) for result in results), Counter())


async def test_eight_writers_of_one_trace_add_each_element_once(
    store: GraphStore, database: Database, project: str
) -> None:
    trace = growing(project)
    batches = [beginning(trace, 20 * (number + 1)) for number in range(WRITERS)]
    results = await asyncio.gather(*(write(database.project(project), trace, batch) for batch in batches))
    labels = (await store.stats()).labels
    assert added(results) == Counter({label: count for label, count in labels.items() if count})
    for result, batch in zip(results, batches, strict=True):
        assert result.created.get("Variable", 0) + result.existing.get("Variable", 0) == len(batch.variables)
    await assert_whole(store, trace)


@pytest.mark.each_engine
async def test_eight_equal_writers(store: GraphStore, project: str) -> None:
    trace = growing(project)
    results = await asyncio.gather(*(trace.write(store) for _ in range(WRITERS)))
    assert sorted(result.created.get("Variable", 0) for result in results) == [0] * 7 + [160]
    assert added(results)["Derivation"] == len(trace.derivations)
    await assert_whole(store, trace)


async def test_eight_writers_of_traces_of_their_own(store: GraphStore, project: str) -> None:
    traces = [growing(project, f"trace {number}") for number in range(WRITERS)]
    await asyncio.gather(*(trace.write(store) for trace in traces))
    for trace in traces:
        await assert_whole(store, trace)


async def test_readers_see_a_trace_before_or_after_a_write(store: GraphStore, project: str) -> None:
    trace = growing(project)
    await write(store, trace, beginning(trace, 80))
    writing = asyncio.ensure_future(trace.write(store))
    seen = set()
    while not writing.done():
        page = await store.page(Label.VARIABLE, trace.trace.id)
        seen.add(len(page.items))
        closure = await store.closure([trace.variables[79].id])
        assert closure.variables == trace.variables[:80]
    await writing
    assert seen <= {80, 160}
    await assert_whole(store, trace)


async def test_the_last_of_eight_verdicts_stands_alone(store: GraphStore, project: str) -> None:
    trace = growing(project)
    failure = trace.failure(trace.variables[0])
    await trace.write(store)
    verdicts = [trace.attribution(failure, reason=f"reason {number}") for number in range(WRITERS)]
    batches = [Batch(trace.trace, attributions=[replace(one, created_at=None)]) for one in verdicts]
    results = await asyncio.gather(*(store.write(batch) for batch in batches))
    assert added(results)["Attribution"] == 1
    (found,) = await store.attributions([failure.id])
    assert found.reason in {one.reason for one in verdicts}


NOTHING = Stored(None, dict.fromkeys(IN_ORDER, 0), {})
"""The result of a write that found everything written by an earlier writer."""


async def test_a_writer_before_whom_another_came_adds_the_rest(store: GraphStore, project: str) -> None:
    trace = growing(project)
    first = await write(store, trace, beginning(trace, 80))
    with trace.values() as values:
        second = await store.write(trace.batch(), values, NOTHING)
    assert second.created == {"Operation": 80, "Variable": 80, "Derivation": 160}
    assert second.existing == first.created
    await assert_whole(store, trace)
    labels = (await store.stats()).labels
    with trace.values() as values:
        third = await store.write(trace.batch(), values, NOTHING)
    assert third.created == {}
    assert (await store.stats()).labels == labels
    assert [len(detail.used) for detail in (await store.operations([o.id for o in trace.operations])).values()] == [
        len([usage for usage in trace.usages if usage.operation_id == operation.id]) for operation in trace.operations
    ]


async def test_a_writer_before_whom_another_came_is_told_of_a_conflict(store: GraphStore, project: str) -> None:
    trace = growing(project)
    await write(store, trace, beginning(trace, 80))
    batch = trace.batch()
    changed = replace(batch.variables[79], comment="another")
    batch = replace(batch, variables=[*batch.variables[:79], changed, *batch.variables[80:]])
    with trace.values() as values, pytest.raises(ConflictError, match="comment"):
        await store.write(batch, values, NOTHING)
    assert await store.get(Label.VARIABLE, [one.id for one in trace.variables]) == trace.variables[:80]
