"""Feedback on an answer becomes a failure: sent by the wire or by the recorder, once or again, early or late."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import memtrace
import pytest
from memtrace import context
from memtrace.events import Event, decode
from memtrace.exporters.memory import MemoryExporter

from ingest.events.taking import take_events
from schema.ids import trace_id
from schema.kinds import Origin
from schema.models import Failure, Variable
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.ingest.test_events import Sender, agent

pytestmark = pytest.mark.one_engine


def _project(database: Database) -> GraphStore:
    return database.project(f"feedback-{uuid4().hex}")


def _said(trace: str, **fields: Any) -> Event:
    sender = Sender(trace)
    sender.say("feedback", **{"answer": "a", **fields})
    return sender.events[0]


async def _failures(store: GraphStore) -> list[Failure]:
    return list((await store.failures()).items)


async def test_feedback_is_a_failure_with_the_texts_of_its_variables(database: Database) -> None:
    store = _project(database)
    event = _said("t", gold=["A poodle.", "poodle"], evidence=["m2", "m1"], comment="a user wrote")
    assert await take_events(store, [event, *agent("t")]) == []
    (failure,) = await _failures(store)
    names = {}
    for name in ("q", "a", "m1", "m2"):
        variable = await store.resolve(name, Label.VARIABLE)
        assert isinstance(variable, Variable)
        names[name] = variable.id
    assert (failure.question_id, failure.answer_id) == (names["q"], names["a"])
    assert failure.evidence_ids == (names["m2"], names["m1"])
    assert (failure.question, failure.prediction) == ("What breed is the dog?", "A beagle.")
    assert failure.gold_answers == ("A poodle.", "poodle")
    assert (failure.origin, failure.created_at) == (Origin.USER, event.time)
    assert json.loads(failure.attributes) == {"author": "application", "comment": "a user wrote"}


async def test_again_changes_nothing_and_more_is_added(database: Database) -> None:
    store = _project(database)
    await take_events(store, agent("t"))
    first = _said("t", gold=["A poodle."], comment="first")
    for _ in range(2):
        assert await take_events(store, [first]) == []
    (before,) = await _failures(store)
    assert await take_events(store, [_said("t", evidence=["m2"], question="q")]) == []
    (after,) = await _failures(store)
    assert (after.id, after.gold_answers, after.attributes) == (before.id, before.gold_answers, before.attributes)
    assert len(after.evidence_ids) == 1


async def test_what_is_not_there_yet_is_early(database: Database) -> None:
    store = _project(database)
    for said in (_said("t"), _said("t", answer="q", evidence=["m9"])):
        (refused,) = await take_events(store, [said])
        assert refused.is_early
        assert "there is no variable" in refused.reason
    sender = Sender("t")
    sender.variable("a", "Answer", "A beagle.")
    (refused,) = await take_events(store, [*sender.events, _said("t")])
    assert (refused.index, refused.is_early) == (1, True)
    assert "name what was asked" in refused.reason
    assert await _failures(store) == []


async def test_of_several_questions_one_is_named(database: Database) -> None:
    store = _project(database)
    sender = Sender("t")
    sender.say("operationStarted", operation="o", name="o", kind="Generation")
    for position, name in enumerate(("q1", "q2")):
        sender.variable(name, "Query", f"Which {name}?")
        sender.say("used", operation="o", variable=name, position=position)
    sender.variable("a", "Answer", "that one", operation="o")
    (refused,) = await take_events(store, [*sender.events, _said("t")])
    assert (refused.index, refused.is_early) == (len(sender.events), False)
    assert "2 may have been meant" in refused.reason
    assert await take_events(store, [_said("t", question="q2")]) == []
    assert [failure.question for failure in await _failures(store)] == ["Which q2?"]


async def test_of_a_conversation_the_question_is_meant_that_was_put_into_the_prompt(database: Database) -> None:
    store = _project(database)
    sender = Sender("t")
    made = {"before": ("Query", ()), "reply": ("Response", ("before",)), "history": ("Buffer", ("before", "reply"))}
    made |= {"asked": ("Query", ()), "prompt": ("Prompt", ("history", "asked")), "a": ("Answer", ("prompt",))}
    for name, (kind, sources) in made.items():
        if sources:
            sender.say("operationStarted", operation=f"make {name}", name=name, kind="Other")
            for position, source in enumerate(sources):
                sender.say("used", operation=f"make {name}", variable=source, position=position)
        sender.variable(name, kind, f"the {name}", **({"operation": f"make {name}"} if sources else {}))
        sender.derived(name, *sources, operation=f"make {name}")
    assert await take_events(store, [*sender.events, _said("t")]) == []
    assert [failure.question for failure in await _failures(store)] == ["the asked"]


@memtrace.operation(kind="Generation", output="Answer")
def _answer(query: str) -> str:
    return "A beagle, says " + query


@pytest.mark.parametrize("how", ["the same process", "another process by ids", "another process by names"])
async def test_the_recorder_says_it_later(database: Database, how: str) -> None:
    store, exporter, faults = _project(database), MemoryExporter(), memtrace.fault_counts()
    memtrace.configure(exporter=exporter)
    with memtrace.trace("agent", id="later"):
        message = memtrace.variable("Bo is a poodle.", "Message", "m3")
        answer = _answer(memtrace.variable("What is Bo?", "Query"))
        known = [memtrace.find(one) for one in (answer, message)]
    ids = [one.id for one in known if one is not None]
    is_known = how == "the same process"
    if is_known:
        memtrace.feedback(answer, "a poodle", [message], trace="later")
    else:
        context.forget()
        evidence = ["m3"] if how.endswith("names") else ids[1:]
        memtrace.feedback(ids[0], ["a poodle"], evidence, "by mail", trace="later")
    memtrace.configure(exporter=MemoryExporter())
    assert memtrace.fault_counts() == faults
    assert ("question" in exporter.of("feedback")[0]) == is_known
    assert await take_events(store, [decode(json.dumps(event)) for event in exporter.events]) == []
    (failure,) = await _failures(store)
    assert failure.question == "What is Bo?"
    assert failure.gold_answers == ("a poodle",)
    assert len(failure.evidence_ids) == 1


async def _answer_of(store: GraphStore) -> Variable:
    found = await store.resolve("a", Label.VARIABLE)
    assert isinstance(found, Variable)
    return found


async def test_an_answer_may_be_right_and_turn_out_wrong(database: Database) -> None:
    store = _project(database)
    right, wrong, late = (_said("t", **more) for more in ({"right": True, "gold": ["a beagle"]}, {}, {"right": True}))
    late = late.model_copy(update={"time": wrong.time + timedelta(seconds=1)})
    assert await take_events(store, [right, *agent("t")]) == []
    assert (await _answer_of(store)).right
    assert await _failures(store) == []
    assert await take_events(store, [wrong]) == []
    # Sending the first feedback again changes nothing; other feedback contradicts the first.
    for _ in range(2):
        assert await take_events(store, [right.model_copy(update={"time": wrong.time - timedelta(seconds=1)})]) == []
    (failure,) = await _failures(store)
    (refused,) = await take_events(store, [late])
    assert failure.id in refused.reason
    assert not refused.is_early
    assert (await _answer_of(store)).right is False


async def test_only_an_answer_that_is_there_can_be_right(database: Database) -> None:
    store = _project(database)
    (refused,) = await take_events(store, [_said("t", right=True)])
    assert refused.is_early
    (refused,) = await take_events(store, [*agent("t"), _said("t", answer="q", right=True)])
    assert not refused.is_early
    assert "only an Answer can be judged right" in refused.reason


async def test_the_recorder_says_that_an_answer_is_right(database: Database) -> None:
    store, exporter, faults = _project(database), MemoryExporter(), memtrace.fault_counts()
    memtrace.configure(exporter=exporter)
    with memtrace.trace("agent", id="later"):
        answer = _answer(memtrace.variable("What is Bo?", "Query"))
        other = _answer(memtrace.variable("Who is Bo?", "Query"))
    memtrace.feedback(answer, right=True, trace="later")
    memtrace.feedback(other, right=False, trace="later")
    memtrace.configure(exporter=MemoryExporter())
    assert memtrace.fault_counts() == faults
    assert ["right" in event for event in exporter.of("feedback")] == [True, False]
    assert await take_events(store, [decode(json.dumps(event)) for event in exporter.events]) == []
    answers = await elements(store, Variable, trace_id(store.project_id, "later"), ["Answer"])
    assert [one.right for one in answers] == [True, False]
