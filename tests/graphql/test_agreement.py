"""The agreement of two sources, over all failures or over those of one trace."""

from __future__ import annotations

from uuid import uuid4

import pytest

from api.errors import TooManyError
from api.graphql import comparison
from api.graphql.comparison import agreement_of, agreement_type
from attribution.statistics.kappa import agreement
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine


def judged(store: GraphStore, name: str, *pairs: tuple[ErrorType | None, ErrorType | None]) -> TraceBuilder:
    """A trace with a failure for each pair of verdicts: of the free pass, and of a person."""
    trace = TraceBuilder(store.project_id, name)
    steps = [trace.operation(f"step {number}") for number in range(2)]
    for number, (flow, person) in enumerate(pairs):
        failure = trace.failure(trace.variable(f"q{number}", kind=VariableKind.QUERY))
        trace.attribution(failure, "flow", error_type=flow, operation_id=flow and steps[0].id)
        said = {"error_type": person, "operation_id": person and steps[number % 2].id, "author": "Ada"}
        trace.attribution(failure, HUMAN_METHOD, id=make_id("Attribution", failure.id, "Ada"), **said)
    return trace


UPDATE, RETRIEVAL = ErrorType.UPDATE, ErrorType.RETRIEVAL


@pytest.fixture
async def store(database: Database) -> GraphStore:
    store = database.project(f"test-{uuid4().hex}")
    await judged(store, "one", (UPDATE, UPDATE), (UPDATE, RETRIEVAL), (RETRIEVAL, RETRIEVAL), (None, UPDATE)).write(
        store
    )
    await judged(store, "two", (RETRIEVAL, UPDATE), (UPDATE, RETRIEVAL)).write(store)
    return store


async def test_failures_of_a_trace_or_of_the_project(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = {trace.external_id: trace.id for trace in (await store.traces()).items}
    for page in (1, 1_000):
        monkeypatch.setattr(comparison, "_PAGE", page)
        cases = {}
        for name, trace in {**traces, "all": None}.items():
            found = await agreement_of(store, "flow", "Ada", trace)
            assert found is not None
            cases[name] = found.cases, found.abstained
        assert cases == {"one": (3, 1), "two": (2, 0), "all": (5, 1)}


async def test_a_source_without_a_verdict(store: GraphStore) -> None:
    assert await agreement_of(store, "flow", "Ben", None) is None
    assert await agreement_of(store, "llm", "Ada", None) is None
    assert await agreement_of(store, HUMAN_METHOD, "flow", None) is not None


async def test_too_many_failures(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_PAGE", 1)
    monkeypatch.setattr(comparison, "MAX_FAILURES", 6)
    assert await agreement_of(store, "flow", "Ada", None) is not None
    monkeypatch.setattr(comparison, "MAX_FAILURES", 5)
    with pytest.raises(TooManyError):
        await agreement_of(store, "flow", "Ada", None)


async def test_every_number_is_told_under_its_name(store: GraphStore) -> None:
    failures = [one.id for one in (await store.failures()).items]
    known = agreement(await store.attributions(failures), "flow", "Ada")
    found = agreement_type(known)
    names = ["first", "second", "cases", "abstained", "type_accuracy", "type_kappa", "operation_accuracy"]
    names += ["operation_kappa", "joint_accuracy", "joint_kappa"]
    assert {name: getattr(found, name) for name in names} == {name: getattr(known, name) for name in names}
    assert (found.type_accuracy, found.operation_accuracy, found.joint_accuracy) == (0.4, 0.6, 0.4)
    assert [(one.first.value, one.second.value, one.count) for one in found.confusion] == [
        ("RetrievalError", "RetrievalError", 1),
        ("RetrievalError", "UpdateError", 1),
        ("UpdateError", "RetrievalError", 2),
        ("UpdateError", "UpdateError", 1),
    ]
