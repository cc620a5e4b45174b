"""How recorded operations are compared with those of a replay, and which answer a failure means."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from memtrace.replay import Ask, Call, Replayed, ReplayedOperation

from attribution.trace.graph import TraceGraph
from optimization.replay.recorded import CannotReplayError, FailedAnswer, RecordedCalls, compared
from schema.ids import hash_value
from schema.kinds import VariableKind
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine

TEA = hash_value(b"tea")
CALL = "app:add#00.0"


def test_ids_that_are_drawn_by_chance_are_compared_by_which_are_the_same() -> None:
    one, other, third = (str(uuid4()) for _ in range(3))
    assert compared({"candidates": [one, other]}) == compared({"candidates": [other, third]})
    assert compared({"candidates": [one, one]}) != compared({"candidates": [one, other]})
    assert compared({"candidates": [one]}) != compared({"candidates": [one, other]})
    assert compared({"candidates": ["unit-1"]}) != compared({"candidates": ["unit-2"]})
    assert compared({"b": 1, "a": one}) == compared({"a": other, "b": 1})


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"test-{uuid4().hex}")


@pytest.fixture
def trace(store: GraphStore) -> TraceBuilder:
    return TraceBuilder(store.project_id)


def operation(**more: Any) -> ReplayedOperation:
    """A call of ``add`` with the argument ``tea`` in a replay."""
    return replace(ReplayedOperation(CALL, "add", "app add", (("text", TEA),), {"top": 3}), **more)


def replay(*operations: ReplayedOperation) -> Replayed:
    return Replayed((), operations, (), (), (), None, (), True, frozenset(), 0, 0, None, 0.0)


def recorded(trace: TraceBuilder, text: str = "tea", role: str | None = "text", **more: Any) -> str:
    """Record a call of ``add``; returns the operation's id."""
    given = trace.variable(f"v{len(trace.variables)}", text)
    said = {"name": "add", "location": "app:7 add", "attributes": json.dumps({"top": 3})}
    step = trace.operation(f"o{len(trace.operations)}", **said | more)
    trace.use(step, given, role=role)
    return step.id


async def matched(store: GraphStore, trace: TraceBuilder, *operations: ReplayedOperation) -> RecordedCalls:
    await trace.write(store)
    return await RecordedCalls.of(await TraceGraph.load(store, trace.trace.id), replay(*operations))


@pytest.mark.parametrize(
    ("stored", "replayed", "is_same"),
    [
        ({}, {}, True),
        ({"location": "app:99 add"}, {}, True),
        ({"location": "other:7 add"}, {}, False),
        ({"location": "app:7 remove"}, {}, False),
        ({"name": "remove"}, {}, False),
        ({"text": "milk"}, {}, False),
        ({"role": "title"}, {}, False),
        ({"role": None}, {}, False),
        ({"role": None}, {"used": ()}, True),
        ({"role": "title"}, {"used": ()}, True),
        ({"attributes": '{"top": 4}'}, {}, False),
        ({"attributes": '{"top": 3, "more": 1}'}, {}, True),
        ({"attributes": "{}"}, {}, False),
        ({"attributes": '{"top": 3, "store": "here"}'}, {"attributes": {"top": 3, "store": "there"}}, True),
    ],
)
async def test_operations_match_by_their_content(
    store: GraphStore, trace: TraceBuilder, stored: dict[str, Any], replayed: dict[str, Any], is_same: bool
) -> None:
    id_, again = recorded(trace, **stored), operation(**replayed)
    found = await matched(store, trace, again)
    assert found.calls == ({id_: Call("app:add", "00", 0)} if is_same else {})
    assert (found.missing and found.missing.id) == (None if is_same else id_)
    assert found.further == (None if is_same else again)


async def test_equal_operations_match_in_their_order(store: GraphStore, trace: TraceBuilder) -> None:
    first, second, third = recorded(trace), recorded(trace), recorded(trace, "milk")
    found = await matched(store, trace, operation(), operation(call="app:add#00.1"), operation(call="app:add#00.2"))
    assert {id_: call.turn for id_, call in found.calls.items()} == {first: 0, second: 1}
    assert found.missing is not None
    assert found.missing.id == third
    assert found.further is not None
    assert found.further.call == "app:add#00.2"


async def test_the_first_that_is_missing_and_the_first_further_are_told(store: GraphStore, trace: TraceBuilder) -> None:
    missing, *_ = [recorded(trace, text) for text in ("milk", "juice", "tea")]
    further = [operation(name="remove"), operation(name="move")]
    found = await matched(store, trace, *further, operation())
    assert found.missing is not None
    assert (found.missing.id, found.further) == (missing, further[0])


async def test_an_operation_that_is_no_call_can_not_be_replaced(store: GraphStore, trace: TraceBuilder) -> None:
    id_ = recorded(trace)
    found = await matched(store, trace, operation(call=None))
    assert (found.calls, found.missing, found.further) == ({}, None, None)
    (step,) = trace.operations
    assert step.id == id_
    with pytest.raises(CannotReplayError, match="'add' is no call"):
        found.call(step)
    with pytest.raises(CannotReplayError, match="'o0' is no call"):
        found.call(replace(step, name=None))


def asked(trace: TraceBuilder, question: str, name: str = "answer", kind: VariableKind = VariableKind.ANSWER) -> Any:
    """A question with its answer."""
    number = len(trace.variables)
    query = trace.variable(f"q{number}", question, kind=VariableKind.QUERY)
    step = trace.operation(f"o{number}")
    answer = trace.variable(f"a{number}", f"answer {number}", step, name=name, kind=kind)
    trace.derive(answer, query, by=step)
    return query, answer


async def answer_of(store: GraphStore, trace: TraceBuilder, failure: Any) -> FailedAnswer:
    await trace.write(store)
    return await FailedAnswer.of(await TraceGraph.load(store, trace.trace.id), failure)


async def test_the_turn_counts_earlier_answers_to_the_same_question(store: GraphStore, trace: TraceBuilder) -> None:
    asked(trace, "where?")
    asked(trace, "when?")
    asked(trace, "where?", name="draft")
    asked(trace, "where?", kind=VariableKind.RESPONSE)
    asked(trace, "where?")
    failure = trace.failure(*asked(trace, "where?"))
    asked(trace, "where?")
    found = await answer_of(store, trace, failure)
    assert found == FailedAnswer(Ask("answer", "Answer", "where?"), 2, "answer 10")


async def test_a_failure_without_question_or_answer_can_not_be_replayed(store: GraphStore, trace: TraceBuilder) -> None:
    query, answer = asked(trace, "where?")
    other, _ = asked(trace, "when?")
    failure = trace.failure(query, answer)
    trace.failures.clear()
    for change in ({"answer_id": None}, {"answer_id": "0" * 32}, {"question_id": "0" * 32}):
        with pytest.raises(CannotReplayError, match="names no answer, or no question"):
            await answer_of(store, trace, replace(failure, **change))
    with pytest.raises(CannotReplayError, match="not in the past of its answer"):
        await answer_of(store, trace, replace(failure, question_id=other.id))
