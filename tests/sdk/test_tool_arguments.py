"""What a model's reply hands to a tool, and what a search hands to a prompt, is recognised in new objects."""

from __future__ import annotations

import json
from typing import Any

import memtrace
import pytest
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import handed_out
from memtrace.instruments.conversations import Held, Talk, answered
from memtrace.instruments.model_calls import TOOL_CALLS, ModelCall, Reply, Said

from tests.sdk.graph import check, sources, value

FACT = "The spotlight is broken, and Goran repairs it."


def ask(*messages: Said, reply: str | list[Any] = "Done.") -> None:
    """One call of a model, as the instrument of a client records it."""
    here = scope.get()
    assert here is not None
    call = ModelCall(here, "chat")
    call.ask(messages, {})
    call.done([Reply(reply, TOOL_CALLS if isinstance(reply, list) else "reply")])


def call_of(**arguments: Any) -> list[dict[str, str]]:
    return [{"name": "remember", "arguments": json.dumps(arguments)}]


@memtrace.operation(kind="Extraction", output="MemoryUnit")
def remember(text: str) -> str:
    return text.partition(",")[0]


@memtrace.operation(kind="Retrieval")
def recall(query: str, memory: list[str]) -> list[str]:
    return memory[:1]


def test_what_a_held_conversation_says_twice_is_used_once(recorded: MemoryExporter) -> None:
    """The server of the model holds the conversation, in which the user said the same twice."""
    talk = Talk(name="c1", is_held=True)
    with memtrace.trace() as trace:
        here = scope.get()
        assert here is not None
        said = memtrace.find(memtrace.variable("Yes, please.", "Message"))
        assert said is not None
        answered(talk, trace.id, [], None, Held(trace.id, (said, said)))
        call = ModelCall(here, "chat")
        call.ask([Said("user", "And the light?")], {}, talk=talk)
        call.done([Reply("Off.")])
    check(recorded.events)
    used = [(one["variable"], one["role"]) for one in recorded.of("used")]
    assert used == [(said.id, "history"), (used[-1][0], "user")]


def test_the_argument_of_a_tool_is_the_reply_that_calls_it(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        ask(Said("user", FACT), reply=call_of(text=FACT, tags=["stage and light"]))
        arguments = json.loads(json.dumps({"text": FACT}))
        remember(**arguments)
    check(recorded.events)
    (reply,) = [event for event in recorded.of("variable") if event["name"] == TOOL_CALLS]
    unit = value(recorded.events, "The spotlight is broken")
    assert sources(recorded.events, unit) == [("Derivation", reply["value"])]


@pytest.mark.parametrize(
    "reply",
    [call_of(text="Something else was said."), [{"name": "remember", "arguments": "{no JSON"}], [{"name": "remember"}]],
    ids=["another text", "no JSON", "no arguments"],
)
def test_another_text_comes_from_outside(recorded: MemoryExporter, reply: list[Any]) -> None:
    with memtrace.trace():
        ask(Said("user", "Hello there, stage."), reply=reply)
        remember(FACT)
    check(recorded.events)
    unit = value(recorded.events, "The spotlight is broken")
    assert sources(recorded.events, unit) == [("Derivation", FACT)]
    assert value(recorded.events, FACT)["kind"] == "Message"


def test_a_question_stays_a_question(recorded: MemoryExporter) -> None:
    asked = "Who repairs the spotlight?"
    with memtrace.trace():
        ask(Said("user", asked), reply=call_of(query=asked))
        recall(json.loads(json.dumps(asked)), [remember(FACT)])
    (query,) = [event for event in recorded.of("variable") if event["kind"] == "Query"]
    assert query["value"] == asked


def test_what_a_search_found_is_inside_what_the_tool_tells(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        found = recall("Who repairs the spotlight?", [remember(FACT), "another"])
        told = json.dumps(found)
        ask(Said("user", "Who repairs the spotlight?"), Said("tool", told))
    check(recorded.events)
    message = value(recorded.events, told)
    ((kind, text),) = sources(recorded.events, message)
    assert (kind, text) == ("Derivation", "The spotlight is broken")


def test_a_user_who_says_what_a_search_found_has_said_it(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        recall("Who repairs the spotlight?", [remember(FACT)])
        ask(Said("user", "".join(["The spotlight is ", "broken"])))
    check(recorded.events)
    said = [event for event in recorded.of("variable") if event["name"] == "user message"]
    assert [event["kind"] for event in said] == ["Message"]


def test_a_text_of_an_extraction_is_a_message_unless_another_argument_is(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Extraction")
    def plain(line: str, language: str, count: int) -> str:
        return line.upper()

    @memtrace.operation(kind="Extraction")
    def named(line: str, message: str) -> str:
        return message.upper()

    @memtrace.operation(kind="Extraction", inputs={"line": "Other"})
    def chosen(line: str) -> str:
        return line.upper()

    @memtrace.operation(kind="Update")
    def update(line: str) -> str:
        return line.upper()

    with memtrace.trace():
        plain("I live in Rome.", "English", 3)
        named("This is the second line.", "I live in Oslo.")
        chosen("I live in Bonn.")
        update("I live in Nice.")
    kinds = {event["value"]: event["kind"] for event in recorded.of("variable") if not event.get("operation")}
    assert kinds == {
        "I live in Rome.": "Message",
        "English": "Other",
        "This is the second line.": "Other",
        "I live in Oslo.": "Message",
        "I live in Bonn.": "Other",
        "I live in Nice.": "Other",
    }


def give(text: str, kind: str) -> None:
    """A package gives a text to the application."""
    here = scope.get()
    assert here is not None
    known = here.trace.identities.find(memtrace.variable(text, kind=kind))
    assert known
    handed_out.remember(handed_out.Given(text, here.trace.id, known[0]))


@pytest.mark.parametrize(("last", "kind"), [("MemoryUnit", "Answer"), ("Response", "Response")])
def test_a_prompt_with_an_earlier_reply_asks_for_no_answer_unless_the_memory_gave_its_words_later(
    recorded: MemoryExporter, last: str, kind: str
) -> None:
    with memtrace.trace():
        give("Who repairs the spotlight on the stage?", "Query")
        for one in ["Response", "MemoryUnit"] if last == "MemoryUnit" else ["MemoryUnit", "Response"]:
            give("".join(FACT), one)
        ask(Said("user", f"Who repairs the spotlight on the stage?\n{FACT}"), reply="It is Goran.")
    check(recorded.events)
    assert value(recorded.events, "It is Goran.")["kind"] == kind
