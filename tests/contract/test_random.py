"""Random traces: every engine answers as the model does, and so as every other engine."""

from __future__ import annotations

from random import Random
from uuid import uuid4

import pytest
import pytest_asyncio

from schema.kinds import VariableKind
from store.contract.answers import NO_BUDGET, Budget, Direction
from store.contract.protocol import Database, GraphStore
from store.sqlite.database import SqliteDatabase
from tests.contract.model import Model
from tests.contract.samples import random_trace


@pytest_asyncio.fixture(scope="module")
async def shared(database: Database) -> GraphStore:
    """A project that the tests of this module share: they only read."""
    return database.project(f"test-{uuid4().hex}")


@pytest_asyncio.fixture(
    scope="module", params=[pytest.param(seed, marks=pytest.mark.once if seed % 3 else ()) for seed in range(6)]
)
async def model(request: pytest.FixtureRequest, shared: GraphStore) -> Model:
    trace = random_trace(shared.project_id, request.param, f"random {request.param}", 10 + 10 * request.param)
    await trace.write(shared)
    return Model(trace)


@pytest.fixture
def rounds(database: Database) -> int:
    """How many random questions to ask; each is a round trip or three where a server answers."""
    return 150 if isinstance(database, SqliteDatabase) else 40


async def test_closures(shared: GraphStore, model: Model) -> None:
    for direction in Direction:
        for id_ in model.variables:
            assert await shared.closure([id_], direction) == model.closure([id_], direction)


async def test_closures_within_budgets(shared: GraphStore, model: Model, rounds: int) -> None:
    random = Random(len(model.variables))
    for _ in range(rounds):
        budget = Budget(random.choice([None, *range(6)]), random.choice([None, *range(12), 1000]))
        roots = random.choices(list(model.variables), k=random.choice([1, 1, 2, 4]))
        direction = random.choice(list(Direction))
        assert await shared.closure(roots, direction, budget) == model.closure(roots, direction, budget)


async def test_closures_until_a_place_in_the_trace(shared: GraphStore, model: Model, rounds: int) -> None:
    random = Random(len(model.variables))
    for _ in range(rounds):
        until = random.randrange(-1, len(model.variables))
        bounds = random.choice([(None, None), (None, None), (2, None), (None, 5), (30, None), (None, 25)])
        budget = Budget(*bounds, random.choice([None, 1000.0]), until)
        roots = random.choices(list(model.variables), k=random.choice([1, 1, 2, 4]))
        kinds = random.choice([[], [], list(VariableKind)[:3]])
        for direction in Direction:
            expected = model.closure(roots, direction, budget, kinds)
            assert await shared.closure(roots, direction, budget, kinds) == expected
            if bounds == (None, None):
                assert not expected.truncated


async def test_several_closures_at_once(shared: GraphStore, model: Model) -> None:
    random = Random(len(model.variables))
    for budget in (NO_BUDGET, Budget(hops=2, until=len(model.variables) // 2)):
        groups = [random.choices(list(model.variables), k=random.choice([0, 1, 3])) for _ in range(20)]
        for direction in Direction:
            expected = [model.closure(roots, direction, budget, ["Message", "Query"]) for roots in groups]
            assert await shared.closures(groups, direction, budget, ["Message", "Query"]) == expected


async def test_closures_of_some_kinds(shared: GraphStore, model: Model, rounds: int) -> None:
    random = Random(len(model.variables))
    for _ in range(rounds // 3):
        budget = random.choice([NO_BUDGET, Budget(hops=2), Budget(nodes=7)])
        kinds = random.sample(list(VariableKind)[:5], random.randrange(4))
        roots = random.choices(list(model.variables), k=random.choice([1, 3]))
        direction = random.choice(list(Direction))
        assert await shared.closure(roots, direction, budget, kinds) == model.closure(roots, direction, budget, kinds)


async def test_a_frontier_leads_to_the_rest(shared: GraphStore, model: Model) -> None:
    for direction in Direction:
        for root in (model.trace.variables[-1].id, model.trace.variables[0].id):
            whole = await shared.closure([root], direction)
            for budget in (Budget(hops=1), Budget(nodes=2), Budget(hops=2, nodes=9), Budget(seconds=0.0)):
                cut = await shared.closure([root], direction, budget)
                rest = await shared.closure(cut.frontier, direction)
                assert cut.truncated == bool(cut.frontier)
                assert {one.id for one in cut.variables + rest.variables} == {one.id for one in whole.variables}


async def test_paths(shared: GraphStore, model: Model, rounds: int) -> None:
    ids = list(model.variables)
    random = Random(len(ids))
    for one, other in [(random.choice(ids), random.choice(ids)) for _ in range(rounds)]:
        assert await shared.path(one, other) == model.path(one, other)


async def test_versions(shared: GraphStore, model: Model) -> None:
    expected = {id_: model.versions(id_) for id_ in model.variables}
    assert await shared.versions_of(list(model.variables)) == expected
    for id_ in list(model.variables)[:10]:
        assert await shared.versions(id_) == expected[id_]
