"""All events of small programs that use each part of the recorder."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter

from tests.expected import compare

LONG = "a line that is long enough for its beginning to be kept, and to be found again later on. " * 3


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a millisecond later."""
    ticks = itertools.count(1_772_000_000_000_000_000, 1_000_000)
    monkeypatch.setattr("time.time_ns", lambda: next(ticks))


def conversation() -> None:
    """Messages, units that are made of them, a search with scores, an answer, and what is said about it later."""

    @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
    def extract(message: str, k: int, strict: bool = True) -> list[str]:
        return message.split(". ")

    @memtrace.operation(name="look up", kind="Retrieval")
    def search(query: str, memory: list[str]) -> list[str]:
        found = memory[:1]
        memtrace.retrieved(query, [(memory[0], 0.75), (memory[1], None)], found)
        return found

    @memtrace.operation(kind="Generation", output="Answer", output_name="answer")
    def answer(question: str, context: list[str]) -> str:
        return f"{context[0]}!"

    with (
        memtrace.trace("an agent", id="conversation", attributes={"model": "m", "depth": {"n": 1}}),
        memtrace.session("talk", id="s1", category="chat", comment="first", attributes={"place": "home"}),
    ):
        message = memtrace.variable(
            "The cat is called Tom. The dog is called Rex",
            kind="Message",
            name="message",
            category="told",
            comment="by the user",
            class_name="Message",
            attributes={"speaker": "user"},
        )
        units = extract(message, 3)
        question = memtrace.variable("What is the cat called?", kind="Query", name="question")
        said = answer(question, search(question, units))
        memtrace.link(message, said, "a shortcut")
        memtrace.feedback(said, gold=["Tom", "Tommy"], evidence=[message], comment="a user wrote")
        memtrace.feedback(said, right=True)


def changes() -> None:
    """Buffers that change in place, versions of units, reads by another object, deletions."""
    with memtrace.trace("changes", id="changes"):
        buffer: list[str] = []
        for number in range(3):
            with memtrace.mutation(buffer, "buffer", inputs=[f"input {number}"]):
                buffer.append(f"{number}: {LONG}")
        first = memtrace.variable("Ada lives in Rome", kind="MemoryUnit", name="home")
        with memtrace.operation("update", kind="Update") as step:
            step.input(first, "before")
            second = memtrace.variable("Ada lives in Oslo", kind="MemoryUnit", name="home", revises=first)
            step.output(second, "after", kind="MemoryUnit")
        copy = memtrace.bind(f"{second} "[:-1], second)
        with memtrace.operation("read", kind="Tool", attributes={"size": 2}) as step:
            step.input(copy, "unit")
            step.output({"found": [1, None]}, "result", kind="Context")
        memtrace.deleted("home")
        memtrace.retrieved("where?", [], [])


def stores() -> None:
    """Units in a store that other processes use, too."""
    with memtrace.trace(id=memtrace.trace_id("db:1", "ada")), memtrace.session("storing"):
        with memtrace.operation("write", kind="Update"):
            memtrace.store_unit("likes tea", store="db:1", id="u1", version="1", attributes={"by": "ada"})
            memtrace.store_unit("likes coffee", store="db:1", id="u1", version="2")
            memtrace.store_unit({"likes": ["milk"]}, store="db:1", id="u2")
        with memtrace.operation("read", kind="Retrieval") as step:
            query = step.input("drinks?", "query")
            other = memtrace.stored_unit("likes cocoa", store="db:1", id="u3")
            memtrace.retrieved(query, [other, memtrace.newest_unit(store="db:1", id="u1")], [("likes cocoa", other)])
        memtrace.deleted(memtrace.newest_unit(store="db:1", id="u1"))


def faults() -> None:
    """Operations that fail or are left early, streams, tasks, and operations inside others."""

    @memtrace.operation(kind="Tool")
    def broken(text: str) -> str:
        raise ValueError(f"not {text}")

    @memtrace.operation(kind="Generation", output="Answer")
    def stream(text: str) -> Iterator[str]:
        yield from text.split()

    @memtrace.operation(kind="Generation")
    async def streamed(text: str) -> AsyncIterator[str]:
        for word in text.split():
            yield word

    @memtrace.operation(kind="Segmentation", inputs={"goal": "Message"})
    async def outer(goal: str, limit: int) -> str:
        with pytest.raises(ValueError, match="not this"):
            broken("this")
        words = [word async for word in streamed("one two")]
        left: Any = stream("a b c")
        next(left)
        left.close()
        return " ".join([*words, *stream("x y")])

    with memtrace.trace("faults", id="faults"):
        asyncio.run(outer("a goal", 2))


PROGRAMS: list[Callable[[], None]] = [conversation, changes, stores, faults]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_program(recorded: MemoryExporter, program: Callable[[], None]) -> None:
    program()
    compare(__file__, f"{program.__name__}.json", [_steady(event) for event in recorded.events])


def _steady(event: dict[str, Any]) -> dict[str, Any]:
    """The event without line numbers of this file: an edit of this file changes no expected output."""
    if "location" in event:
        event = event | {"location": re.sub(r":\d+\b", ":line", event["location"])}
    return event
