"""Wraps functions whose whole call is one block or operation, among them generators, whose run has many parts.

The block or operation of a generator is the current one only while the generator's own code runs, not while the code
of its consumer runs. An operation has one output, the stream, which is complete when the generator ends, fails or is
left early.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Protocol

from memtrace.context import SavedContext


class Run(Protocol):
    """One run of a generator; entered each time the generator's own code continues."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: object) -> None: ...

    def add(self, chunk: Any) -> None:
        """Note a chunk that the generator gave."""

    def end(self, error: BaseException | None = None) -> None:
        """Note the end of the run."""


Begin = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Run | None, Any]]
"""Takes the arguments of a call; returns the generator's run (None if the call is not recorded) and the generator."""


def synchronous(fn: Callable[..., Generator[Any, Any, Any]], begin: Begin) -> Callable[..., Any]:
    """A generator function that tells each run to the ``Run`` of ``begin``."""

    @wraps(fn)
    def recorded_stream(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        run, stream = begin(args, kwargs)
        if run is None:
            return (yield from stream)
        step: Callable[[Any], Any] = stream.send
        sent: Any = None
        try:
            while True:
                try:
                    with run:
                        chunk = step(sent)
                except StopIteration as end:
                    result = end.value
                    break
                run.add(chunk)
                try:
                    sent, step = (yield chunk), stream.send
                except GeneratorExit:
                    with run:
                        stream.close()
                    raise
                except BaseException as error:
                    sent, step = error, stream.throw
        except BaseException as error:
            run.end(error)
            raise
        run.end()
        return result

    return recorded_stream


def asynchronous(fn: Callable[..., AsyncGenerator[Any, Any]], begin: Begin) -> Callable[..., Any]:
    """The same as ``synchronous`` for an asynchronous generator function."""

    @wraps(fn)
    async def recorded_stream(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        found, stream = begin(args, kwargs)
        run = found or _Unrecorded()
        step: Callable[[Any], Any] = stream.asend
        sent: Any = None
        try:
            while True:
                try:
                    with run:
                        chunk = await step(sent)
                except StopAsyncIteration:
                    break
                run.add(chunk)
                try:
                    sent, step = (yield chunk), stream.asend
                except GeneratorExit:
                    with run:
                        await stream.aclose()
                    raise
                except BaseException as error:
                    sent, step = error, stream.athrow
        except BaseException as error:
            run.end(error)
            raise
        run.end()

    return recorded_stream


class _Unrecorded:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...

    def add(self, chunk: Any) -> None: ...

    def end(self, error: BaseException | None = None) -> None: ...


def is_function(value: object) -> bool:
    """Whether the value is a function, so that a decorator was written without parentheses."""
    return callable(value) or isinstance(value, staticmethod | classmethod)


def in_block(fn: Any, block: Callable[[], AbstractContextManager[Any]]) -> Any:
    """A function that runs each call of ``fn`` in a new ``block()``; ``fn`` may be a coroutine or a generator."""
    if isinstance(fn, staticmethod | classmethod):
        return type(fn)(in_block(fn.__func__, block))
    if inspect.isasyncgenfunction(fn) or inspect.isgeneratorfunction(fn):

        def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[_Inside, Any]:
            return _Inside(block()), fn(*args, **kwargs)

        is_asynchronous = inspect.isasyncgenfunction(fn)
        return asynchronous(fn, begin) if is_asynchronous else synchronous(fn, begin)
    if inspect.iscoroutinefunction(fn):

        @wraps(fn)
        async def inside_coroutine(*args: Any, **kwargs: Any) -> Any:
            with block():
                return await fn(*args, **kwargs)

        return inside_coroutine

    @wraps(fn)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with block():
            return fn(*args, **kwargs)

    return inside


class _Inside:
    """A run of a generator inside a block."""

    def __init__(self, block: AbstractContextManager[Any]) -> None:
        outside = SavedContext()
        with outside, block:
            self._place = SavedContext()

    def __enter__(self) -> None:
        self._place.__enter__()

    def __exit__(self, *error: object) -> None:
        self._place.__exit__(*error)

    def add(self, chunk: Any) -> None:
        """The block does nothing with what the generator gives."""

    def end(self, error: BaseException | None = None) -> None:
        """The block was left when the generator's own code last stopped."""
