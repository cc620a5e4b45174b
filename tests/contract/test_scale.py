"""Shapes and sizes that break stores which enumerate paths, recurse, or copy too much."""

from __future__ import annotations

from random import Random

import pytest

from store.contract.answers import Budget, Direction, Label
from store.contract.protocol import GraphStore
from store.neo4j.store import Neo4jStore
from tests.factory import TraceBuilder


@pytest.mark.each_engine
async def test_a_ladder_of_diamonds(store: GraphStore, project: str) -> None:
    """64 rungs have 2^64 paths."""
    trace = TraceBuilder(project)
    step = trace.operation("step")
    here = trace.variable("bottom")
    for rung in range(64):
        left, right, top = (trace.variable(f"{side} {rung}") for side in ("left", "right", "top"))
        trace.derive(left, here, by=step)
        trace.derive(right, here, by=step)
        trace.derive(top, left, right, by=step)
        here = top
    await trace.write(store)
    for root, direction in ((here, Direction.BACKWARD), (trace.variables[0], Direction.FORWARD)):
        for budget in (Budget(), Budget(hops=1000, nodes=1000, seconds=1000.0)):
            closure = await store.closure([root.id], direction, budget)
            assert closure.variables == trace.variables
            assert closure.derivations == trace.derivations
            assert not closure.truncated
    path = await store.path(here.id, trace.variables[0].id)
    assert len(path.derivations) == 128
    assert all(not variable.external_id.startswith("right") for variable in path.variables)


def _sized(store: GraphStore, count: int) -> int:
    """The size to try: half of it on Neo4j, where writing takes long."""
    return count // (2 if isinstance(store, Neo4jStore) else 1)


@pytest.mark.full
@pytest.mark.once
async def test_a_long_chain(store: GraphStore, project: str) -> None:
    steps = _sized(store, 20_000)
    trace = TraceBuilder(project)
    step = trace.operation("step")
    before = trace.variable("v0", "")
    for number in range(1, steps + 1):
        after = trace.variable(f"v{number}", "")
        trace.derive(after, before, by=step)
        before = after
    await trace.write(store)
    first, last = trace.variables[0], trace.variables[-1]
    backward = await store.closure([last.id])
    assert backward.variables == trace.variables
    assert backward.derivations == trace.derivations
    forward = await store.closure([first.id], Direction.FORWARD)
    assert (len(forward.variables), len(forward.derivations)) == (steps + 1, steps)
    path = await store.path(first.id, last.id)
    assert path.variables == trace.variables[::-1]
    assert path.derivations == trace.derivations[::-1]
    cut = await store.closure([last.id], budget=Budget(hops=300))
    assert cut.variables == trace.variables[-301:]
    assert cut.frontier == [trace.variables[-301].id]


@pytest.mark.full
@pytest.mark.once
async def test_a_hub_with_many_derivations_each_way(store: GraphStore, project: str) -> None:
    count = _sized(store, 10_000)
    trace = TraceBuilder(project)
    step = trace.operation("step")
    sources = [trace.variable(f"source {number}", "") for number in range(count)]
    hub = trace.variable("hub", "")
    targets = [trace.variable(f"target {number}", "") for number in range(count)]
    trace.derive(hub, *sources, by=step)
    for target in targets:
        trace.derive(target, hub, by=step)
    await trace.write(store)
    backward = await store.closure([hub.id])
    assert backward.variables == [*sources, hub]
    assert backward.derivations == trace.derivations[:count]
    forward = await store.closure([hub.id], Direction.FORWARD)
    assert forward.variables == [hub, *targets]
    assert forward.operations == [step]
    whole = await store.closure([targets[0].id])
    assert whole.variables == [*sources, hub, targets[0]]
    newest = await store.closure([hub.id], budget=Budget(nodes=1000))
    assert newest.variables == [*sources[-999:], hub]
    assert newest.frontier == [hub.id]
    oldest = await store.closure([hub.id], Direction.FORWARD, Budget(nodes=1000))
    assert oldest.variables == [hub, *targets[:999]]
    all_of_them = await store.closure([hub.id], budget=Budget(nodes=count + 1))
    assert (len(all_of_them.variables), all_of_them.truncated) == (count + 1, False)
    path = await store.path(sources[17].id, targets[23].id)
    assert path.variables == [targets[23], hub, sources[17]]


@pytest.mark.once
async def test_an_operation_with_many_inputs(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    inputs = [trace.variable(f"v{number}", "") for number in range(_sized(store, 4_000))]
    step = trace.operation("step")
    trace.use(step, *inputs)
    output = trace.variable("output", by=step)
    await trace.write(store)
    detail = await store.operation(step.id)
    assert detail.used == inputs
    assert detail.generated == [output]


@pytest.mark.once
@pytest.mark.values
async def test_values_of_20_megabytes(store: GraphStore, project: str) -> None:
    random = Random(20)
    trace = TraceBuilder(project)
    plain = trace.variable("plain", random.randbytes(10_000_000).hex())
    wide = trace.variable("wide", "東京🚀é" * 1_700_000)
    small = trace.variable("small", "small")
    await trace.write(store)
    assert min(plain.size, wide.size) >= 20_000_000
    assert await store.get(Label.VARIABLE, [one.id for one in trace.variables]) == [plain, wide, small]
    for variable in (wide, small, plain):
        assert await store.value(variable) == trace.text(variable).encode()
    assert [hit.variable for hit in (await store.scan(trace.text(plain)[-40:])).hits] == [plain]
