"""Generators as operations: the stream is one output, which is complete when it ends, is left early, or fails.

The operation is the current one only while the generator's own code runs, not while its consumer's code runs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from functools import wraps
from typing import Any, Protocol


class Run(Protocol):
    """One run of a generator. It is entered each time the generator's own code continues."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: object) -> None: ...

    def add(self, chunk: Any) -> None:
        """The generator gave this chunk."""

    def end(self, error: BaseException | None = None) -> None:
        """The run is over."""


Begin = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Run | None, Any]]
"""Takes the arguments of a call; returns its run, or None if the call is not recorded, and the generator."""


def synchronous(fn: Callable[..., Generator[Any, Any, Any]], begin: Begin) -> Callable[..., Any]:
    """Make a generator function each run of which is a ``Run``."""

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
    """Make an asynchronous generator function each run of which is a ``Run``."""

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
    """A run that is not recorded."""

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...

    def add(self, chunk: Any) -> None: ...

    def end(self, error: BaseException | None = None) -> None: ...
