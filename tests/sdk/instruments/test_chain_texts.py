"""What a new text was made from, and a conversation that costs what is new in it; no package is needed for these."""

from __future__ import annotations

from functools import partial
from queue import Queue
from threading import Event, Thread
from types import SimpleNamespace

import memtrace
import pytest
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments.frameworks import root
from memtrace.instruments.frameworks.buffers import buffer
from memtrace.instruments.frameworks.replies import replied
from memtrace.instruments.frameworks.root import MAX_WAITING, Root
from memtrace.instruments.frameworks.runs import single
from memtrace.instruments.frameworks.values import known_message, write
from memtrace.instruments.langchain.prompts import formatted
from memtrace.instruments.making import Making, outside
from memtrace.instruments.texts import KnownTexts, outermost, texts
from memtrace.steps import Scope

TURNS = 60


def here() -> Scope:
    found = scope.get()
    assert found is not None
    return found


def said(number: int) -> SimpleNamespace:
    text = f"turn {number}: " + f"word{number} " * 40
    return SimpleNamespace(type="human", content=text, additional_kwargs={}, id=f"message-{number}")


def test_a_conversation_costs_what_is_new_in_it(recorded: MemoryExporter) -> None:
    messages: list[SimpleNamespace] = []
    with memtrace.trace(id="conversation"):
        run = single(here(), "model")
        run.root.session = "monday"
        for number in range(TURNS):
            messages = [*messages, said(number)]
            buffer(run, "messages", messages)
    sent = [event for event in recorded.events if event["type"] == "variable" and event["kind"] == "Buffer"]
    assert [event["version"] for event in sent] == list(range(TURNS))
    whole = [event["value"] for event in recorded.of("variable") if event["kind"] == "Buffer"]
    assert all(f"turn {number}:" in whole[number] for number in range(TURNS))
    assert sum(len(event["value"]) for event in sent) < 4 * len(whole[-1])
    assert len([event for event in recorded.of("variable") if event["kind"] == "Message"]) == TURNS


def test_a_filled_template_is_what_it_says_besides_the_conversation(recorded: MemoryExporter) -> None:
    """A conversation is recorded as a buffer, so a template that holds nothing else makes no prompt."""
    asked = SimpleNamespace(type="system", content="Be brief.", additional_kwargs={}, id="instruction")
    with memtrace.trace(id="template"):
        run = single(here(), "template")
        run.inputs = {"history": [said(1), said(2)]}
        formatted(run, SimpleNamespace(messages=[*run.inputs["history"]]))
        formatted(run, SimpleNamespace(messages=[asked, *run.inputs["history"]]))
        formatted(run, SimpleNamespace(text="How old is Rex?"))
    made = [event["value"] for event in recorded.of("variable") if event["kind"] == "Prompt"]
    assert made == ["Be brief.", "How old is Rex?"]


def test_reasoning_between_tags_is_no_part_of_a_model_s_reply(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="thinks"):
        making = Making(here(), "model", "Generation")
        replied(
            making, SimpleNamespace(type="ai", content="<think>\nIs it 5?\n</think>\n\nIt is 5.", additional_kwargs={})
        )
        making.end()
    thought, reply = recorded.of("variable")
    assert [(thought["kind"], thought["value"]), (reply["kind"], reply["value"])] == [
        ("Other", "Is it 5?"),
        ("Response", "It is 5."),
    ]
    assert [(one["source"], one["target"]) for one in recorded.of("derived")] == [
        (thought["variable"], reply["variable"])
    ]


def test_of_texts_inside_each_other_the_longest_counts(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="texts"):
        known = KnownTexts()
        short = outside(here(), "Bo is a dog", "short", "MemoryUnit")
        long = outside(here(), "Bo is a dog called Rex", "long", "MemoryUnit")
        known.add("Bo is a dog", short)
        known.add("Bo is a dog called Rex", long)
        assert known.inside("It says: Bo is a dog called Rex.", frozenset()) == [long]
        assert known.inside("Bo is a dog. Bo is a dog called Rex.", frozenset()) == [short, long]
        assert known.inside("Bo is a doggy.", frozenset()) == []


def test_what_was_found_for_another_question_is_not_meant(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="questions"):
        known = KnownTexts()
        made = outside(here(), "a fact that both have found", "unit", "MemoryUnit")
        made.questions = frozenset({"theirs"})
        known.add("a fact that both have found", made)
        assert known.inside("Context: a fact that both have found", frozenset({"ours"})) == []
        assert known.inside("Context: a fact that both have found", frozenset({"theirs"})) == [made]


def test_parts_that_stand_in_a_text_only_inside_others() -> None:
    assert outermost(["one", "one and two", "three"], "here is one and two") == ["one and two"]


def test_what_waited_is_recorded_before_another_thread_goes_on(recorded: MemoryExporter) -> None:
    root, order = Root("a question"), Queue[str]()
    is_recording, may_end = Event(), Event()

    def slow() -> None:
        assert root.place() is root.placed  # what is recorded asks for the place, too
        is_recording.set()
        assert may_end.wait(60)
        order.put("recorded")

    def place(name: str) -> None:
        root.place()
        order.put(name)

    assert root.later(slow)
    threads = [Thread(target=place, args=(name,)) for name in ("first", "second")]
    threads[0].start()
    assert is_recording.wait(60)
    threads[1].start()
    threads[1].join(0.2)  # it would have ended by then if it did not wait
    assert order.empty()
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert order.get(timeout=1) == "recorded"
    assert not root.later(slow)


def test_so_much_waits_and_no_more(recorded: MemoryExporter) -> None:
    root = Root("a question")
    done: list[int] = []
    for number in range(MAX_WAITING):
        assert root.later(partial(done.append, number))
    assert not root.later(partial(done.append, MAX_WAITING))
    root.place()
    assert (done, root.waiting) == (list(range(MAX_WAITING)), [])


def test_a_user_mentions_a_name_without_making_a_prompt_of_it(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="mentions"):
        run = single(here(), "model")
        name = outside(here(), "Dr Venn", "name", "Other")
        texts(here().trace).add("Dr Venn", name)
        for text in ("What does Dr Venn need?", "Ask for Dr Venn's ramp.", "Is it his ramp or Dr Venn"):
            assert known_message(run, SimpleNamespace(type="human", content=text, id=None)) is None
        quoted = known_message(run, SimpleNamespace(type="human", content="Notes: Dr Venn", id=None))
        assert quoted is not None
        assert quoted.kind == "Prompt"
    assert [event["value"] for event in recorded.of("variable") if event["kind"] == "Prompt"] == ["Notes: Dr Venn"]


def test_a_prompt_is_written_anew_when_its_results_were_read_again(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="again"):
        run = single(here(), "model")
        unit = outside(here(), "Bo is a dog called Rex", "unit", "MemoryUnit")

        def listed() -> None:
            search = Making(here(), "list", "Retrieval")
            search.make("Bo is a dog called Rex", "unit", "MemoryUnit", reads=unit)
            search.end()

        listed()
        first = write(run, "Known: Bo is a dog called Rex")
        assert write(run, "Known: Bo is a dog called Rex") is first
        listed()
        second = write(run, "Known: Bo is a dog called Rex")
        assert second is not first
        assert write(run, "Known: Bo is a dog called Rex") is second
        listed()
        assert write(run, "Known: Bo is a dog called Rex") not in {first, second}


@pytest.mark.parametrize("context", [{"user_id": "ada"}, SimpleNamespace(user_id="ada", model="m")])
def test_the_user_of_a_graph_s_context_has_a_trace(
    recorded: MemoryExporter, monkeypatch: pytest.MonkeyPatch, context: object
) -> None:
    told = {"configurable": {"thread_id": "monday", "__pregel_runtime": SimpleNamespace(context=context)}}
    monkeypatch.setattr(root, "configuration", lambda: told)
    Root(session="monday").place()
    (trace,) = recorded.of("trace")
    assert trace["name"] == "LangChain: user_id=ada"
    assert [event["name"] for event in recorded.of("session")] == ["monday"]
