"""A recorded generator behaves as the generator itself, and its run is told from beginning to end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from memtrace.context import question
from memtrace.streams import asynchronous, in_block, is_function, synchronous


class Told:
    """Notes the calls of a run."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __enter__(self) -> None:
        self.said.append("in")

    def __exit__(self, *error: object) -> None:
        self.said.append("out")

    def add(self, chunk: Any) -> None:
        self.said.append(f"chunk {chunk}")

    def end(self, error: BaseException | None = None) -> None:
        self.said.append("end" if error is None else type(error).__name__)


def echo(*, fails: bool = False) -> Generator[Any, Any, str]:
    """Gives back what it is sent, and the names of errors that are thrown into it."""
    heard: Any = "begin"
    try:
        while heard != "stop":
            try:
                heard = yield heard
            except KeyError as error:
                heard = f"caught {error.args[0]}"
        if fails:
            raise ValueError("failed")
        return "result"
    finally:
        closed.append("closed")


async def async_echo(*, fails: bool = False) -> AsyncGenerator[Any, Any]:
    heard: Any = "begin"
    try:
        while heard != "stop":
            try:
                heard = yield heard
            except KeyError as error:
                heard = f"caught {error.args[0]}"
        if fails:
            raise ValueError("failed")
    finally:
        closed.append("closed")


closed: list[str] = []


@pytest.fixture(autouse=True)
def _none_closed() -> None:
    closed.clear()


def test_values_errors_and_the_result_go_through() -> None:
    run = Told()
    stream = synchronous(echo, lambda args, kwargs: (run, echo(*args, **kwargs)))()
    assert next(stream) == "begin"
    assert stream.send("one") == "one"
    assert stream.throw(KeyError("key")) == "caught key"
    with pytest.raises(StopIteration) as end:
        stream.send("stop")
    assert end.value.value == "result"
    chunks = [part for word in ("begin", "one", "caught key") for part in ("in", "out", f"chunk {word}")]
    assert run.said == [*chunks, "in", "out", "end"]


async def test_values_and_errors_go_through_asynchronously() -> None:
    run = Told()
    stream = asynchronous(async_echo, lambda args, kwargs: (run, async_echo(*args, **kwargs)))()
    assert await anext(stream) == "begin"
    assert await stream.asend("one") == "one"
    assert await stream.athrow(KeyError("key")) == "caught key"
    with pytest.raises(StopAsyncIteration):
        await stream.asend("stop")
    chunks = [part for word in ("begin", "one", "caught key") for part in ("in", "out", f"chunk {word}")]
    assert run.said == [*chunks, "in", "out", "end"]


def test_a_generator_that_fails_or_is_left() -> None:
    for act, error, told in (
        (lambda stream: stream.send("stop"), ValueError, "ValueError"),
        (lambda stream: stream.throw(RuntimeError("mine")), RuntimeError, "RuntimeError"),
        (lambda stream: stream.throw(GeneratorExit()), GeneratorExit, "GeneratorExit"),
    ):
        run = Told()
        closed.clear()
        stream = synchronous(echo, lambda args, kwargs, run=run: (run, echo(fails=True)))()  # type: ignore[misc]
        next(stream)
        with pytest.raises(error):
            act(stream)  # type: ignore[no-untyped-call]
        assert run.said == ["in", "out", "chunk begin", "in", "out", told]
        assert closed == ["closed"]


def test_a_generator_that_is_closed_runs_its_end_inside_the_run() -> None:
    run = Told()
    stream = synchronous(echo, lambda args, kwargs: (run, echo()))()
    next(stream)
    stream.close()
    assert run.said == ["in", "out", "chunk begin", "in", "out", "GeneratorExit"]
    assert closed == ["closed"]


async def test_an_asynchronous_generator_that_fails_or_is_left() -> None:
    for act, error, told in (
        (lambda stream: stream.asend("stop"), ValueError, "ValueError"),
        (lambda stream: stream.athrow(RuntimeError("mine")), RuntimeError, "RuntimeError"),
        (lambda stream: stream.athrow(GeneratorExit()), GeneratorExit, "GeneratorExit"),
    ):
        run = Told()
        closed.clear()
        stream = asynchronous(async_echo, lambda args, kwargs, run=run: (run, async_echo(fails=True)))()  # type: ignore[misc]
        await anext(stream)
        with pytest.raises(error):
            await act(stream)  # type: ignore[no-untyped-call]
        assert run.said == ["in", "out", "chunk begin", "in", "out", told]
        assert closed == ["closed"]


async def test_an_asynchronous_generator_that_is_closed_runs_its_end_inside_the_run() -> None:
    run = Told()
    stream = asynchronous(async_echo, lambda args, kwargs: (run, async_echo()))()
    await anext(stream)
    await stream.aclose()
    assert run.said == ["in", "out", "chunk begin", "in", "out", "GeneratorExit"]
    assert closed == ["closed"]


async def test_a_generator_that_is_not_recorded_is_the_same() -> None:
    stream = synchronous(echo, lambda args, kwargs: (None, echo()))()
    assert (next(stream), stream.send("one"), stream.throw(KeyError("key"))) == ("begin", "one", "caught key")
    with pytest.raises(StopIteration) as end:
        stream.send("stop")
    assert end.value.value == "result"
    again = asynchronous(async_echo, lambda args, kwargs: (None, async_echo()))()
    assert (await anext(again), await again.asend("one")) == ("begin", "one")
    with pytest.raises(StopAsyncIteration):
        await again.asend("stop")


left: list[str] = []


@contextmanager
def block() -> Any:
    token = question.set("inside")
    try:
        yield
    finally:
        question.reset(token)
        left.append("left")


async def test_each_call_runs_in_a_block_of_its_own() -> None:
    def plain(value: str) -> str:
        return f"{value} {question.get()}"

    async def coroutine(value: str) -> str:
        return f"{value} {question.get()}"

    def generator(value: str) -> Generator[str, None, None]:
        yield f"{value} {question.get()}"
        yield str(question.get())

    async def async_generator(value: str) -> AsyncGenerator[str, None]:
        yield f"{value} {question.get()}"
        yield str(question.get())

    def of_class(cls: Any, value: str) -> str:
        return f"{cls.__name__} {plain(value)}"

    class Holder:
        static = in_block(staticmethod(plain), block)
        named = in_block(classmethod(of_class), block)

    left.clear()
    outside = question.get()  # other tests of the process may have asked
    assert in_block(plain, block)("a") == "a inside"
    assert await in_block(coroutine, block)("a") == "a inside"
    assert (Holder.static("a"), Holder.named("a")) == ("a inside", "Holder a inside")
    assert len(left) == 4
    for one in in_block(generator, block)("a"):
        assert (one in {"a inside", "inside"}, question.get()) == (True, outside)
    async for one in in_block(async_generator, block)("a"):
        assert (one in {"a inside", "inside"}, question.get()) == (True, outside)
    assert in_block(plain, block).__name__ == "plain"
    assert question.get() == outside


@pytest.mark.parametrize(
    ("value", "is_it"),
    [(len, True), (staticmethod(len), True), (classmethod(repr), True), ("name", False), (None, False)],
)
def test_a_decorator_without_parentheses_gets_a_function(value: object, is_it: bool) -> None:
    assert is_function(value) is is_it
