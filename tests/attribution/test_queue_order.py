"""The rank of each failure in a queue, by what methods say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from attribution.review.annotation.choose import choose, system_of
from schema.annotation import MAX_CASES, CaseOrder
from schema.errors import InputError
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine

U, R, J = ErrorType.UPDATE, ErrorType.RETRIEVAL, ErrorType.JUDGE
Said = tuple[str, ErrorType | None, float | None]


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"test-{uuid4().hex}")


async def ranks(store: GraphStore, ordering: CaseOrder, *cases: list[Said], **more: Any) -> list[int]:
    """The ranks of cases with these verdicts: method, error type and confidence, oldest first."""
    trace = TraceBuilder(store.project_id)
    for number, said in enumerate(cases):
        failure = trace.failure(trace.variable(f"q{number}", kind=VariableKind.QUERY))
        for place, (method, kind, confidence) in enumerate(said):
            author = "Ada" if method == HUMAN_METHOD else None
            id_ = make_id("Attribution", failure.id, str(place))
            trace.attribution(failure, method, id=id_, error_type=kind, confidence=confidence, author=author)
    await trace.write(store)
    found = await choose(store, ordering, "seed", MAX_CASES, **more)
    of = dict(zip(found.failure_ids, found.ranks, strict=True))
    assert list(found.ranks) == sorted(found.ranks)
    return [of[failure.id] for failure in trace.failures]


@pytest.mark.parametrize(
    ("said", "rank"),
    [
        ([], 0),
        ([("flow", None, 0.9)], 0),
        ([("flow", U, None)], 0),
        ([("flow", U, 0.09)], 0),
        ([("flow", U, 0.1)], 1),
        ([("flow", U, 0.59)], 5),
        ([("flow", U, 1.0)], 10),
        ([("flow", U, 0.2), ("llm", R, 0.7)], 7),
        ([("flow", U, 0.2), ("llm", None, 0.7)], 2),
        ([("flow", U, 0.9), ("flow", U, 0.3)], 3),
        ([("flow", U, 0.3), (HUMAN_METHOD, U, 1.0)], 3),
    ],
)
async def test_the_surest_verdict_of_a_method_is_the_rank(store: GraphStore, said: list[Said], rank: int) -> None:
    assert await ranks(store, CaseOrder.UNSURE, said) == [rank]


@pytest.mark.parametrize(
    ("said", "rank"),
    [
        ([], 1),
        ([("flow", U, 0.5)], 1),
        ([("flow", U, 0.5), ("llm", U, 0.9)], 1),
        ([("flow", U, 0.5), ("llm", R, 0.5)], 0),
        ([("flow", U, 0.5), ("llm", None, 0.5)], 0),
        ([("flow", U, 0.5), ("flow", R, 0.5)], 1),
        ([("flow", U, 0.5), (HUMAN_METHOD, R, 0.5)], 1),
    ],
)
async def test_methods_that_disagree(store: GraphStore, said: list[Said], rank: int) -> None:
    assert await ranks(store, CaseOrder.DISAGREEMENT, said) == [rank]


async def test_failures_of_each_error_type_take_turns(store: GraphStore) -> None:
    cases: list[list[Said]] = [[("llm", R, 0.9), ("flow", U, 0.5)]] * 3
    silent: list[Said] = [("flow", R, 0.5), ("llm", None, 0.5)]
    last: list[Said] = [("flow", J, 0.5), (HUMAN_METHOD, U, 0.5)]
    cases += [silent, silent, [], last]
    found = await ranks(store, CaseOrder.ERROR_TYPE, *cases)
    assert sorted(found[:3]) == [0, 1, 2]
    assert sorted(found[3:6]) == [0, 1, 2]
    assert found[6] == 0


async def test_a_random_order_follows_its_seed(store: GraphStore) -> None:
    assert await ranks(store, CaseOrder.RANDOM, *[[]] * 8) == [0] * 8
    orders = [(await choose(store, CaseOrder.RANDOM, seed, 8)).failure_ids for seed in ("a", "a", "b")]
    assert orders[0] == orders[1] != orders[2]
    assert set(orders[0]) == set(orders[2])
    some = (await choose(store, CaseOrder.RANDOM, "a", 3)).failure_ids
    assert some == orders[0][:3]
    wanted = orders[0][2:5]
    assert (await choose(store, CaseOrder.RANDOM, "a", 8, failure_ids=wanted)).failure_ids
    assert set((await choose(store, CaseOrder.RANDOM, "a", 8, failure_ids=wanted)).failure_ids) == set(wanted)


@pytest.mark.parametrize("count", [0, -1, MAX_CASES + 1])
async def test_a_queue_has_a_number_of_cases(store: GraphStore, count: int) -> None:
    with pytest.raises(InputError, match="is not from 1 to"):
        await choose(store, CaseOrder.RANDOM, "", count)


async def test_without_failures_there_is_no_queue(store: GraphStore) -> None:
    await ranks(store, CaseOrder.RANDOM, [])
    for more in ({"trace_ids": ("0" * 32,)}, {"failure_ids": ("0" * 32,)}):
        with pytest.raises(InputError, match="nothing to annotate"):
            await choose(store, CaseOrder.RANDOM, "", 1, **more)


@pytest.mark.parametrize(
    ("attributes", "system"),
    [
        ("{}", "tests"),
        ('{"system": "mem0"}', "mem0"),
        ('{"smartcomment": {"project_id": "Letta"}}', "Letta"),
        ('{"smartcomment": {"project_id": "Letta"}, "system": "mem0"}', "mem0"),
        ('{"smartcomment": "no object"}', "tests"),
        ('{"system": ""}', "tests"),
    ],
)
def test_the_memory_system_of_a_trace(attributes: str, system: str) -> None:
    assert system_of(replace(TraceBuilder("p").trace, attributes=attributes)) == system
