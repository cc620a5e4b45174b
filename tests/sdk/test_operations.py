"""Functions, streams and blocks as operations: their inputs, outputs, ends and edges."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import memtrace
import pytest
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter

from tests.sdk.graph import sources, value


def ends(recorded: MemoryExporter) -> list[str]:
    return [event["status"] for event in recorded.of("operationEnded")]


def test_two_inputs_one_output(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Generation", output="Answer")
    def answer(question: str, context: str, k: int = 3) -> str:
        assert k == 7
        return f"{question} {context}!"

    with memtrace.trace("t", id="t1"), memtrace.session("talk", category="chat"):
        assert answer("Where is it?", "It is here.", k=7) == "Where is it? It is here.!"
    (started,) = recorded.of("operationStarted")
    assert started["name"] == "answer"
    assert started["kind"] == "Generation"
    assert started["attributes"] == {"k": 7}
    assert started["location"].startswith("tests.sdk.test_operations:")
    assert started["session"] == recorded.of("session")[0]["session"]
    output = value(recorded.events, "Where is it? It is here.!")
    assert output["kind"] == "Answer"
    assert sources(recorded.events, output) == [("Derivation", "It is here."), ("Derivation", "Where is it?")]
    assert [(use["role"], use["position"]) for use in recorded.of("used")] == [("question", 0), ("context", 1)]
    assert ends(recorded) == ["ok"]


def test_values_are_followed_from_step_to_step(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
    def extract(message: str) -> list[str]:
        return [part.strip() for part in message.split("and")]

    @memtrace.operation(kind="Generation")
    def build(facts: list[str]) -> str:
        return "; ".join(facts)

    with memtrace.trace():
        facts = extract("the cat sleeps and the dog barks")
        prompt = build(facts[:1])
        assert memtrace.find(prompt) is not None
        assert [event["value"] for event in recorded.closure(memtrace.find(prompt))] == [  # type: ignore[arg-type]
            "the cat sleeps",
            "the cat sleeps",
            "the cat sleeps and the dog barks",
        ]


def test_equal_text_is_never_merged(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Judge")
    def judge(answer: str) -> str:
        return "yes"

    with memtrace.trace():
        first, second = judge("an answer of one"), judge("an answer of another")
        assert first == second == "yes"
        assert memtrace.find(first) is not memtrace.find(second)
        same = [memtrace.variable("hello", "Message") for _ in range(2)]
        assert memtrace.find(same[0]) is not memtrace.find(same[1])
    assert len([event for event in recorded.of("variable") if event["value"] == "yes"]) == 2
    assert all(event["kind"] == "Derivation" for event in recorded.of("derived"))


def test_a_method_leaves_out_self_and_what_is_no_data(recorded: MemoryExporter) -> None:
    class Memory:
        @memtrace.operation(kind="Retrieval")
        def search(self, query: str, client: object, *rest: str) -> str:
            return query.upper()

        @memtrace.operation()
        @classmethod
        def make(cls, text: str) -> str:
            return text + cls.__name__

        @memtrace.operation()
        @staticmethod
        def tidy(text: str) -> str:
            return text.strip()

    with memtrace.trace():
        memory = Memory()
        memory.search("what is it", object(), "more of it")
        Memory.make("text of it ")
        Memory.tidy(" text to tidy")
    assert [use["role"] for use in recorded.of("used")] == ["query", "rest", "text", "text"]


async def test_a_coroutine_and_its_tasks(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Generation")
    async def inner(text: str) -> str:
        await asyncio.sleep(0)
        return text + "!"

    @memtrace.operation()
    async def outer(texts: list[str]) -> list[str]:
        return list(await asyncio.gather(*(inner(text) for text in texts)))

    async with memtrace.trace():
        await outer([f"text number {number}" for number in range(3)])
    starts = recorded.of("operationStarted")
    assert [event.get("parent") for event in starts] == [None] + [starts[0]["operation"]] * 3
    assert len(recorded.of("variable")) == 1 + 3 + 3
    assert ends(recorded) == ["ok"] * 4


async def test_errors_and_cancelled_operations_are_recorded(recorded: MemoryExporter) -> None:
    @memtrace.operation()
    def fails(text: str) -> str:
        raise LookupError(f"no {text}")

    @memtrace.operation()
    async def waits() -> None:
        await asyncio.Event().wait()

    with memtrace.trace():
        with pytest.raises(LookupError):
            fails("such thing")
        task = asyncio.create_task(waits())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(KeyError), memtrace.operation("block"):
            raise KeyError("x")
    assert ends(recorded) == ["error", "cancelled", "error"]
    assert recorded.of("operationEnded")[0]["error"] == {"type": "LookupError", "message": "no such thing"}


@memtrace.operation(kind="Generation", output="Answer")
def words(question: str) -> Iterator[str]:
    for word in question.split():
        assert (here := scope.get()) is None or here.step is not None
        yield word + " "
    if "fail" in question:
        raise ConnectionError("cut")


@memtrace.operation(kind="Generation", output="Answer")
async def async_words(question: str) -> AsyncIterator[str]:
    for word in question.split():
        await asyncio.sleep(0)
        yield word + " "
    if "fail" in question:
        raise ConnectionError("cut")


async def consume(question: str, *, count: int | None, is_async: bool) -> None:
    if is_async:
        stream = async_words(question)
        async for number, _ in _enumerated(stream):
            if number + 1 == count:
                break
        await stream.aclose()  # type: ignore[attr-defined]
        return
    plain = words(question)
    for number, _ in enumerate(plain):
        assert (here := scope.get()) is None or here.step is None
        if number + 1 == count:
            break
    plain.close()  # type: ignore[attr-defined]


async def _enumerated(stream: AsyncIterator[str]) -> AsyncIterator[tuple[int, str]]:
    number = 0
    async for item in stream:
        yield number, item
        number += 1


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("question", "count", "text", "status"),
    [
        ("all of it", None, "all of it ", "ok"),
        ("left early by its reader", 2, "left early ", "cancelled"),
        ("to fail", None, "to fail ", "error"),
    ],
)
async def test_a_stream_is_one_output(
    recorded: MemoryExporter, question: str, count: int | None, text: str, status: str, is_async: bool
) -> None:
    with memtrace.trace():
        if status == "error":
            with pytest.raises(ConnectionError):
                await consume(question, count=count, is_async=is_async)
        else:
            await consume(question, count=count, is_async=is_async)
    output = value(recorded.events, text)
    assert output["kind"] == "Answer"
    assert sources(recorded.events, output) == [("Derivation", question)]
    assert ends(recorded) == [status]


def test_a_stream_that_nobody_reads_to_its_end_is_cancelled_when_it_is_collected(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        next(words("one two"))
    assert ends(recorded) == ["cancelled"]


def test_a_stream_takes_what_is_sent_and_thrown(recorded: MemoryExporter) -> None:
    @memtrace.operation()
    def echo() -> Any:
        received = yield "ready"
        try:
            yield received
        except KeyError:
            yield "caught"
        return "done"

    def reader() -> Any:
        return (yield from echo())

    with memtrace.trace():
        stream = reader()
        assert next(stream) == "ready"
        assert stream.send("ping") == "ping"
        assert stream.throw(KeyError()) == "caught"
        with pytest.raises(StopIteration) as end:
            next(stream)
    assert end.value.value == "done"
    assert value(recorded.events, "readypingcaught")


def test_what_is_decorated_stays_what_it_is() -> None:
    assert inspect.isgeneratorfunction(words)
    assert inspect.isasyncgenfunction(async_words)
    assert words.__name__ == "words"
    assert words.__doc__ is None
    assert str(inspect.signature(words)).startswith("(question: ")
    assert list(words("out of a trace")) == ["out ", "of ", "a ", "trace "]


def test_a_block_says_its_inputs_and_outputs(recorded: MemoryExporter) -> None:
    with memtrace.trace(), memtrace.operation("build prompt", kind="Generation") as step:
        step.input("first input", "a")
        early = step.output("early output", kind="Prompt")
        step.input("second input", "b")
        late = step.output("late output", kind="Prompt")
        memtrace.link(early, late, "only this")
    assert sources(recorded.events, value(recorded.events, "early output")) == [("Derivation", "first input")]
    assert sources(recorded.events, value(recorded.events, "late output")) == [("Derivation", "early output")]


def test_a_result_of_an_inner_step_is_not_made_again_by_the_outer_one(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Generation")
    def inner(question: str) -> str:
        return question + " answered"

    @memtrace.operation()
    def outer(question: str) -> str:
        return inner(question)

    @memtrace.operation(output="Answer")
    def named(question: str) -> str:
        return inner(question)

    with memtrace.trace():
        outer("the question of one")
        named("the question of two")
    assert len([event for event in recorded.of("variable") if event["value"] == "the question of one answered"]) == 1
    two = [event for event in recorded.of("variable") if event["value"] == "the question of two answered"]
    assert [event["kind"] for event in two] == ["Other", "Answer"]
    assert ("Read", "the question of two answered") in sources(recorded.events, two[1])


def test_results_have_names_and_versions_of_their_own_operation(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Generation")
    def summary(text: str) -> str:
        return text + " in short"

    @memtrace.operation(kind="Generation")
    def title(text: str) -> str:
        return text + " as title"

    @memtrace.operation("shorten it", kind="Generation", output_name="short")
    def shorten(text: str) -> str:
        return text[:4]

    class Memory:
        @memtrace.operation
        def title(self, text: str) -> Iterator[str]:
            yield text + " streamed"

    with memtrace.trace():
        for number in range(2):
            summary(f"text {number}"), title(f"text {number}"), shorten(f"text {number}")
            list(Memory().title(f"text {number}"))
        with memtrace.operation("by hand") as step:
            step.output("out of a block")
            step.output("out of it with a name", "mine")
    made = [(event["name"], event["version"]) for event in recorded.of("variable") if "operation" in event]
    assert made[:4] == [("summary output", 0), ("title output", 0), ("short", 0), ("Memory.title output", 0)]
    assert made[4:8] == [("summary output", 1), ("title output", 1), ("short", 1), ("Memory.title output", 1)]
    assert made[8:] == [("by hand output", 0), ("mine", 0)]
    assert not [event for event in recorded.of("variable") if "revisionOf" in event]


CACHED = {"text": "one object for all"}


@pytest.mark.parametrize(
    "result",
    ["yes", "a", "A whole sentence, interned or not.", 7, 1.5, True, (), ("pair", "of texts"), CACHED, b"bytes"],
)
def test_what_somebody_says_of_the_result_wins_over_what_the_object_was(recorded: MemoryExporter, result: Any) -> None:
    @memtrace.operation(kind="Generation")
    def think(text: str, about: object) -> object:
        return about

    @memtrace.operation(kind="Generation", output="Answer")
    def answer(text: str, about: object) -> object:
        return about

    @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
    def extract(about: object) -> list[object]:
        return [about]

    with memtrace.trace():
        memtrace.variable(result, "Message", "said")
        assert think("a thought of it", result) == result
        for _ in range(2):
            assert answer("What is it?", result) == result
        assert extract(result) == [result]
    ended = {event["name"]: event["operation"] for event in recorded.of("operationStarted")}
    answers = [event for event in recorded.of("variable") if event["kind"] == "Answer"]
    assert len({event["operation"] for event in answers}) == len(answers) == 2
    (unit,) = [event for event in recorded.of("variable") if event.get("operation") == ended["extract"]]
    assert unit["kind"] == "MemoryUnit"


def test_a_unit_that_is_the_message_itself_is_a_unit_from_then_on(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
    def extract(message: str) -> list[str]:
        return [message]

    @memtrace.operation(kind="Retrieval")
    def search(query: str, store: list[str]) -> list[str]:
        return store[:1]

    with memtrace.trace():
        store = extract(memtrace.variable("I have a dog, Bo.", "Message"))
        store += extract(memtrace.variable("I have a cat, Mia.", "Message"))
        found = search(memtrace.variable("What is the dog called?", "Query"), store)
        closure = recorded.closure(memtrace.find(found[0]))  # type: ignore[arg-type]
    assert [event["kind"] for event in closure] == ["MemoryUnit", "MemoryUnit", "Query", "Message"]
    assert [(event["rank"], event["returned"]) for event in recorded.of("considered")] == [(0, True), (1, False)]


def test_a_number_is_an_input_where_its_kind_is_said(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Judge", inputs={"score": "Score"})
    def judge(score: int | None) -> str:
        return f"judged {score}"

    with memtrace.trace():
        judge(3), judge(None)
    scores = [event["value"] for event in recorded.of("variable") if event["kind"] == "Score"]
    assert scores == ["3"]
    assert sources(recorded.events, value(recorded.events, "judged 3")) == [("Derivation", "3")]


_SCRIPT = """
import memtrace
from memtrace.exporters.memory import MemoryExporter

@memtrace.operation
def note(message: str) -> str:
    return message

memtrace.configure(exporter=(exporter := MemoryExporter()))
with memtrace.trace("t"):
    note("hello")
print(exporter.of("operationStarted")[0]["location"])
"""


def test_the_place_of_a_script_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_SCRIPT, "utf-8")
    for command, place in ((["agent.py"], "agent.py"), (["-m", "agent"], "agent"), (["-c", _SCRIPT], "__main__")):
        ran = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == f"{place}:5 note"


def test_the_place_of_a_block_in_a_script_names_its_file(tmp_path: Path) -> None:
    block = _SCRIPT.replace('    note("hello")', '    with memtrace.operation("note", kind="Update"): pass')
    (tmp_path / "agent.py").write_text(block, "utf-8")
    ran = subprocess.run([sys.executable, "agent.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.strip().startswith("agent.py:11 ")


def test_a_window_of_the_last_messages_is_read_as_its_messages(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Generation", output="Answer")
    def answer(history: deque[str]) -> str:
        return f"{len(history)} messages."

    with memtrace.trace("t", id="t1"):
        history: deque[str] = deque(maxlen=2)
        for said in ("I have a dog.", "I live in Leeds.", "It rains."):
            history.append(memtrace.variable(said, "Message"))
        answer(history)
    given = sources(recorded.events, value(recorded.events, "2 messages."))
    assert [text for _, text in given] == ["I live in Leeds.", "It rains."]
