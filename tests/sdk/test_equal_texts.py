"""Units are found by their text where the object is another, and the occurrence says that this is a guess."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter

from tests.sdk.graph import sources, value

FACT = "The user's dog is called Bo."


def copy(known: Any) -> Any:
    """An equal value that came out of a database."""
    return json.loads(json.dumps(known))


@memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
def extract(message: str) -> list[Any]:
    return [message.removeprefix("said: "), "The user likes tea."]


@memtrace.operation(kind="Generation", output="Answer")
def generate(query: str, found: object) -> str:
    return f"{query} {found}"


def store_and_ask(search: Callable[[str, list[Any]], Any]) -> tuple[str, Any]:
    units = extract(memtrace.variable("said: " + FACT, "Message"))
    question = memtrace.variable("What is the dog called?", "Query")
    found = search(question, copy(units))
    return generate(question, found), found


def as_text(query: str, store: list[Any]) -> Any:
    return store[0]


def as_list(query: str, store: list[Any]) -> Any:
    return store[:1]


def as_records(query: str, store: list[Any]) -> Any:
    return {"hits": [{"id": 7, "text": store[0], "score": 0.5}]}


def as_stream(query: str, store: list[Any]) -> Iterator[Any]:
    yield store[0]


def by_hand(query: str, store: list[Any]) -> Any:
    with memtrace.operation("search", kind="Retrieval", output=False) as step:
        step.input(query, kind="Query")
        return step.output(store[:1])


def told(query: str, store: list[Any]) -> Any:
    memtrace.retrieved(query, store, store[:1])
    return store[:1]


@pytest.mark.parametrize("search", [as_text, as_list, as_records, as_stream])
def test_a_retrieval_that_gives_back_a_copy_has_read_the_unit(recorded: MemoryExporter, search: Any) -> None:
    decorated = memtrace.operation(kind="Retrieval", inputs=["query"])(search)

    def ask(query: str, store: list[Any]) -> Any:
        found = decorated(query, store)
        return list(found) if search is as_stream else found

    with memtrace.trace():
        answer, _ = store_and_ask(ask)
        closure = recorded.closure(memtrace.find(answer))  # type: ignore[arg-type]
    assert "Message" in {event["kind"] for event in closure}
    (occurrence,) = [event for event in closure if "reads" in event]
    assert occurrence["attributes"] == {"inferred": "equal text", "confidence": 0.9}
    assert sources(recorded.events, occurrence) == [("Derivation", "What is the dog called?"), ("Read", FACT)]


@pytest.mark.parametrize("search", [by_hand, told])
def test_what_is_said_by_hand_is_recognised_too(recorded: MemoryExporter, search: Any) -> None:
    with memtrace.trace():
        answer, _ = store_and_ask(search)
        closure = recorded.closure(memtrace.find(answer))  # type: ignore[arg-type]
    assert "Message" in {event["kind"] for event in closure}
    assert [event["attributes"]["confidence"] for event in closure if "reads" in event] == [0.9]


def test_an_operation_that_uses_a_copy_uses_what_was_read_for_its_question(recorded: MemoryExporter) -> None:
    search = memtrace.operation(kind="Retrieval")(as_list)
    with memtrace.trace():
        units = extract(memtrace.variable("said: " + FACT, "Message"))
        answers = []
        for number in range(2):
            question = memtrace.variable(f"question {number}?", "Query")
            found = copy(search(question, units))
            answers.append(generate(question, found[0] if number else found))
        for number, answer in enumerate(answers):
            closure = recorded.closure(memtrace.find(answer))  # type: ignore[arg-type]
            assert [event["value"] for event in closure if event["kind"] == "Query"] == [f"question {number}?"]
            assert "Message" in {event["kind"] for event in closure}


def test_a_store_of_copies_is_what_a_retrieval_had_before_it(recorded: MemoryExporter) -> None:
    search = memtrace.operation(kind="Retrieval")(as_list)
    with memtrace.trace():
        store_and_ask(search)
    assert [(event["rank"], event["returned"]) for event in recorded.of("considered")] == [(0, True), (1, False)]


def test_an_argument_that_is_given_back_is_still_an_output(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Generation", output="Answer")
    def quote(found: str) -> str:
        return found

    with memtrace.trace():
        memtrace.variable(FACT, "MemoryUnit")
        assert quote(copy(FACT)) == FACT
    assert [event["value"] for event in recorded.of("variable") if event["kind"] == "Answer"] == [FACT]


def test_several_units_of_one_text_share_the_confidence_and_the_newest_is_meant(recorded: MemoryExporter) -> None:
    search = memtrace.operation(kind="Retrieval", inputs=["query"])(as_list)
    with memtrace.trace():
        for name in ("first", "second", "third"):
            memtrace.variable(FACT, "MemoryUnit", name)
        search(memtrace.variable("What is the dog called?", "Query"), [copy(FACT)])
    (occurrence,) = [event for event in recorded.of("variable") if "reads" in event]
    assert occurrence["name"] == "third"
    assert occurrence["attributes"]["confidence"] == 0.3


def test_a_unit_that_is_no_text_is_found_by_its_json(recorded: MemoryExporter) -> None:
    search = memtrace.operation(kind="Retrieval", inputs=["query"])(as_list)
    with memtrace.trace():
        memtrace.variable({"text": FACT, "id": 3}, "MemoryUnit")
        search(memtrace.variable("What is the dog called?", "Query"), [{"text": FACT, "id": 3}])
    (occurrence,) = [event for event in recorded.of("variable") if "reads" in event]
    assert occurrence["attributes"]["inferred"] == "equal text"


def test_short_texts_messages_and_questions_are_never_taken_for_a_unit(recorded: MemoryExporter) -> None:
    search = memtrace.operation(kind="Retrieval", inputs=["query"])(as_list)

    @memtrace.operation(kind="Extraction")
    def read(message: str, query: str, prompt: str) -> str:
        return "a result of it"

    with memtrace.trace():
        for text in ("yes", "yes, please", FACT):
            memtrace.variable(text, "MemoryUnit", text)
        search("What is it?", ["yes", copy("yes, please")])
        read(copy(FACT), copy(FACT), copy(FACT))
    assert not [event for event in recorded.of("variable") if "reads" in event]
    assert value(recorded.events, "a result of it")


def test_what_is_known_by_its_object_is_no_guess(recorded: MemoryExporter) -> None:
    search = memtrace.operation(kind="Retrieval")(as_list)
    with memtrace.trace():
        unit = memtrace.variable(FACT, "MemoryUnit")
        search("What is the dog called?", [unit])
    (occurrence,) = [event for event in recorded.of("variable") if "reads" in event]
    assert "attributes" not in occurrence
