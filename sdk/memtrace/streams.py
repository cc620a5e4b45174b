"""Generators as operations: the stream is one output, complete when it ends, is left early, or fails.

The operation is the current one only while the generator's own code runs, not while its consumer's does.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

from memtrace.context import scope
from memtrace.faults import report

if TYPE_CHECKING:
    from contextvars import Token

    from memtrace.calls import Call
    from memtrace.context import Scope

MAX_KEPT_CHARACTERS = 8_000_000
"""Beyond this the chunks of a stream are passed on without being kept."""


class Run(Protocol):
    """One run of a generator; entered each time that the generator's own code goes on."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: object) -> None: ...

    def add(self, chunk: Any) -> None:
        """This came out of it."""

    def end(self, error: BaseException | None = None) -> None:
        """It is over."""


Begin = Callable[[tuple[Any, ...], Mapping[str, Any]], Run | None]
"""Takes the arguments of a call; gives None where nothing is recorded of it."""


class Chunks:
    """What has come out of a stream so far."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._kept: list[Any] = []
        self._left = MAX_KEPT_CHARACTERS
        self._token: Token[Scope | None] | None = None

    def __enter__(self) -> None:
        self._token = scope.set(self._call)

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            scope.reset(self._token)

    def add(self, chunk: Any) -> None:
        """Keep what came out of it, as far as there is room."""
        if self._left > 0 and chunk is not None:
            self._kept.append(chunk)
            self._left -= len(chunk) + 1 if isinstance(chunk, str | bytes) else 100

    def end(self, error: BaseException | None = None) -> None:
        """Record the output, and that the operation is over."""
        call = self._call
        try:
            if self._kept and call.plan.records_output:
                from memtrace.observe import give

                is_text = all(isinstance(chunk, str) for chunk in self._kept)
                whole: Any = "".join(self._kept) if is_text and not call.plan.is_each else self._kept
                call.recognise(whole)
                result = give(
                    call.pending,
                    call,
                    call,
                    whole,
                    name=call.plan.output_name,
                    kind=call.plan.output_kind,
                    is_each=call.plan.is_each,
                )
                identities = call.trace.identities
                if result is not whole and whole is self._kept[0] and (known := identities.find(result)):
                    identities.bind(whole, known[0])  # its reader has it already
        except Exception as wrong:
            report("output of a stream", wrong)
        if error is not None:
            call.fail(error)
            return
        try:
            call.end("ok")
        except Exception as wrong:
            report("end of an operation", wrong)


def synchronous(fn: Callable[..., Generator[Any, Any, Any]], begin: Begin) -> Callable[..., Any]:
    """The generator function, each run of which is a ``Run``."""

    @wraps(fn)
    def recorded_stream(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        run = begin(args, kwargs)
        if run is None:
            return (yield from fn(*args, **kwargs))
        stream = fn(*args, **kwargs)
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
    """The asynchronous generator function, each run of which is a ``Run``."""

    @wraps(fn)
    async def recorded_stream(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        run = begin(args, kwargs) or _Unrecorded()
        stream = fn(*args, **kwargs)
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
    """A run of which nothing is recorded."""

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...

    def add(self, chunk: Any) -> None: ...

    def end(self, error: BaseException | None = None) -> None: ...
