"""``@operation`` and ``@trace`` on functions of every sort, with and without parentheses."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import memtrace
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter

from tests.sdk.graph import value


@memtrace.operation
def plain(text: str) -> str:
    """A docstring."""
    return text + "!"


@memtrace.operation
async def waiting(text: str) -> str:
    await asyncio.sleep(0)
    return text + "?"


@memtrace.operation
def stream(text: str) -> Iterator[str]:
    yield text
    yield "..."


class Memory:
    @memtrace.operation
    @staticmethod
    def tidy(text: str) -> str:
        return text.strip()

    @memtrace.operation
    def keep(self, text: str) -> str:
        return text.upper()


async def test_an_operation_without_parentheses(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        assert plain("a text") == "a text!"
        assert await waiting("a text") == "a text?"
        assert "".join(stream("a text")) == "a text..."
        assert Memory.tidy(" a text ") == "a text"
        assert Memory().keep("a text") == "A TEXT"
    starts = recorded.of("operationStarted")
    assert [event["name"] for event in starts] == ["plain", "waiting", "stream", "tidy", "keep"]
    assert [event["status"] for event in recorded.of("operationEnded")] == ["ok"] * 5
    assert plain.__doc__ == "A docstring."
    assert inspect.iscoroutinefunction(waiting)
    assert inspect.isgeneratorfunction(stream)


def step(number: int) -> None:
    memtrace.variable(f"message {number}", "Message")


@memtrace.trace("run", attributes={"of": "a test"})
def run(number: int) -> int:
    step(number)
    return number


@memtrace.trace("run", id="the one")
async def run_in_one(number: int) -> int:
    await asyncio.sleep(0)
    step(number)
    return number


@memtrace.trace("run")
def run_stream(number: int) -> Iterator[int]:
    for part in range(number):
        step(part)
        yield part
    try:
        yield -1
    finally:
        step(-1)


@memtrace.trace("run")
async def run_asynchronous_stream(number: int) -> AsyncIterator[int]:
    for part in range(number):
        await asyncio.sleep(0)
        step(part)
        yield part


@memtrace.trace
def alone() -> None:
    step(0)


async def test_a_trace_as_decorator_is_a_new_trace_at_each_call(recorded: MemoryExporter) -> None:
    assert [run(1), run(2)] == [1, 2]
    first, second = recorded.of("trace")
    assert first["trace"] != second["trace"]
    assert (first["name"], first["attributes"]) == ("run", {"of": "a test"})
    assert [event["trace"] for event in recorded.of("variable")] == [first["trace"], second["trace"]]
    await asyncio.gather(run_in_one(3), run_in_one(4))
    assert {event["trace"] for event in recorded.of("variable")[2:]} == {"the one"}
    alone()
    assert recorded.of("trace")[-1]["name"] == "alone"


async def test_a_trace_around_a_generator_is_not_around_its_consumer(recorded: MemoryExporter) -> None:
    taken = []
    with memtrace.trace("consumer", id="consumer"):
        for part in run_stream(2):
            taken.append(part)
            step(10 + part)
            if part == -1:
                break
        async with aclosing(run_asynchronous_stream(2)) as parts:  # type: ignore[type-var]
            async for part in parts:
                taken.append(part)
                step(20 + part)
    assert scope.get() is None
    assert taken == [0, 1, -1, 0, 1]
    by_trace: dict[str, list[str]] = {}
    for event in recorded.of("variable"):
        by_trace.setdefault(event["trace"], []).append(event["value"].removeprefix("message "))
    assert by_trace.pop("consumer") == ["10", "11", "9", "20", "21"]
    assert sorted(by_trace.values()) == [["0", "1"], ["0", "1", "-1"]]


def test_what_a_generator_of_a_trace_asked_is_still_its_question(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Retrieval")
    def search(text: str) -> str:
        return f"found for {text}"

    @memtrace.trace("run")
    def ask() -> Iterator[str]:
        memtrace.variable("which one is it?", "Query")
        yield "asked"
        yield search("something else")

    with memtrace.trace("consumer"):
        memtrace.variable("another question?", "Query")
        assert list(ask()) == ["asked", "found for something else"]
    assert value(recorded.events, "found for something else")["trace"] == recorded.of("trace")[1]["trace"]


def test_where_recording_is_off_a_decorated_function_is_itself() -> None:
    code = """
import memtrace
def f(): ...
assert memtrace.operation(f) is f and memtrace.trace(f) is f and memtrace.trace("x")(f) is f
assert memtrace.operation("x")(f) is f
with memtrace.operation("x") as step, memtrace.trace("y"), memtrace.session("z"):
    step.input(1)
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "MEMTRACE_ENABLED": "0"})
