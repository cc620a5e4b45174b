"""Random traces: every engine answers as the model does, and so as every other engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio

from schema.kinds import VariableKind
from store.protocol import NO_BUDGET, Budget, Direction, GraphStore
from tests.contract.model import Model
from tests.contract.samples import random_trace


@pytest_asyncio.fixture(params=range(6))
async def model(request: pytest.FixtureRequest, store: GraphStore, project: str) -> AsyncIterator[Model]:
    trace = random_trace(project, seed=request.param, size=10 + 10 * request.param)
    await trace.write(store)
    yield Model(trace)


async def test_closures(store: GraphStore, model: Model) -> None:
    for direction in Direction:
        for id_ in model.variables:
            assert await store.closure([id_], direction) == model.closure([id_], direction)


async def test_closures_within_budgets(store: GraphStore, model: Model) -> None:
    random = Random(len(model.variables))
    for _ in range(150):
        budget = Budget(random.choice([None, *range(6)]), random.choice([None, *range(12), 1000]))
        roots = random.choices(list(model.variables), k=random.choice([1, 1, 2, 4]))
        direction = random.choice(list(Direction))
        assert await store.closure(roots, direction, budget) == model.closure(roots, direction, budget)


async def test_closures_of_some_kinds(store: GraphStore, model: Model) -> None:
    random = Random(len(model.variables))
    for _ in range(50):
        budget = random.choice([NO_BUDGET, Budget(hops=2), Budget(nodes=7)])
        kinds = random.sample(list(VariableKind)[:5], random.randrange(4))
        roots = random.choices(list(model.variables), k=random.choice([1, 3]))
        direction = random.choice(list(Direction))
        assert await store.closure(roots, direction, budget, kinds) == model.closure(roots, direction, budget, kinds)


async def test_a_frontier_leads_to_the_rest(store: GraphStore, model: Model) -> None:
    for direction in Direction:
        for root in (model.trace.variables[-1].id, model.trace.variables[0].id):
            whole = await store.closure([root], direction)
            for budget in (Budget(hops=1), Budget(nodes=2), Budget(hops=2, nodes=9), Budget(seconds=0.0)):
                cut = await store.closure([root], direction, budget)
                rest = await store.closure(cut.frontier, direction)
                assert cut.truncated == bool(cut.frontier)
                assert {one.id for one in cut.variables + rest.variables} == {one.id for one in whole.variables}


async def test_paths(store: GraphStore, model: Model) -> None:
    ids = list(model.variables)
    random = Random(len(ids))
    for one, other in [(random.choice(ids), random.choice(ids)) for _ in range(100)]:
        assert await store.path(one, other) == model.path(one, other)


async def test_versions(store: GraphStore, model: Model) -> None:
    for id_ in model.variables:
        assert await store.versions(id_) == model.versions(id_)
