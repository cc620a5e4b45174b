"""An assistant that is a graph with a checkpointer and a store, unchanged: exactly what is recorded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sdk.instruments.running import Run, check_whole
from tests.sdk.instruments.unchanged import FAMILIES, both, complaints, names, past


def script(body: dict[str, Any]) -> str:
    return f"Reply to: {body['messages'][-1]['content']}"


@pytest.fixture(scope="module", params=FAMILIES)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    return both("langgraph_agent.py", request.param, script, tmp_path_factory.mktemp("graph"))


def of_user(recorded: Run, user: str) -> Run:
    """The recorded events of one user."""
    (trace,) = [event["trace"] for event in recorded.of("trace") if event.get("name") == f"LangChain: user_id={user}"]
    return Run(None, [event for event in recorded.events if event["trace"] == trace])


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said
    assert not complaints(without, recorded)


def test_each_user_has_a_trace_and_each_conversation_a_session(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    check_whole(recorded)
    assert len({event["trace"] for event in recorded.events}) == 4
    sessions = {event["name"] for event in of_user(recorded, "ann").of("session")}
    assert {"monday", "tuesday"} <= sessions
    for user in ("ben", "cleo", "dora"):
        others = {"ben", "cleo", "dora"} - {user}
        values = " ".join(event["value"] for event in of_user(recorded, user).of("variable"))
        assert user in values
        assert not any(other in values for other in others)


def test_units_are_written_replaced_and_deleted_as_the_store_says(runs: tuple[Run, Run]) -> None:
    ann = of_user(runs[1], "ann")
    units = [event for event in ann.variables("MemoryUnit") if not event.get("reads")]
    dog, tarnow, krakow = sorted(units, key=lambda event: event["time"])
    assert [event["value"] for event in (dog, tarnow, krakow)] == [
        '{"text":"I have a dog called Figa."}',
        '{"text":"I live in Tarnow."}',
        '{"text":"I live in Krakow now."}',
    ]
    assert krakow["revisionOf"] == tarnow["variable"]
    assert past(ann, dog, "Message") == {"I have a dog called Figa."}
    assert [event["variable"] for event in ann.of("invalidated")] == [krakow["variable"]]


def test_a_conversation_is_one_buffer_that_grows(runs: tuple[Run, Run]) -> None:
    ann = of_user(runs[1], "ann")
    versions = [event for event in ann.variables("Buffer") if event["name"] == "messages of monday"]
    assert [event["version"] for event in versions] == [0, 1, 2]
    assert [event.get("revisionOf") for event in versions] == [None, *(event["variable"] for event in versions[:-1])]


def test_an_answer_derives_from_its_question_and_from_what_was_said(runs: tuple[Run, Run]) -> None:
    ann = of_user(runs[1], "ann")
    dog = ann.only("Reply to: What is my dog called?", "Response")
    assert past(ann, dog, "Query") == {"What is my dog called?"}
    assert "I have a dog called Figa." in past(ann, dog, "Message")
    home = ann.only("Reply to: Where do I live?", "Response")
    assert past(ann, home, "Query") == {"Where do I live?"}
    assert past(ann, home, "Message") == {"I live in Tarnow.", "I live in Krakow now.", "Where do I live?"}


def test_each_call_of_the_model_is_one_operation(runs: tuple[Run, Run]) -> None:
    counted = names(runs[1])
    assert counted["Generation ChatOpenAI"] == 11
    assert not any("openai" in name for name in counted)
    assert counted["Update InMemoryStore.put"] == 6
    assert counted["Deletion InMemoryStore.delete"] == 1
