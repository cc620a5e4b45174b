"""Generators as operations: the stream is one output, complete when it ends, is left early, or fails.

The operation is the current one only while the generator's own code runs, not while its consumer's does.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any

from memtrace.context import scope
from memtrace.faults import report

if TYPE_CHECKING:
    from memtrace.calls import Call
    from memtrace.operations import operation

MAX_KEPT_CHARACTERS = 8_000_000
"""Beyond this the chunks of a stream are passed on without being kept."""


class _Chunks:
    """What has come out of a stream so far."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._kept: list[Any] = []
        self._left = MAX_KEPT_CHARACTERS

    def add(self, chunk: Any) -> None:
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
                give(
                    call.pending,
                    call,
                    call,
                    "".join(self._kept) if is_text and not call.plan.is_each else self._kept,
                    name=call.plan.output_name,
                    kind=call.plan.output_kind,
                    is_each=call.plan.is_each,
                )
        except Exception as wrong:
            report("output of a stream", wrong)
        if error is not None:
            call.fail(error)
            return
        try:
            call.end("ok")
        except Exception as wrong:
            report("end of an operation", wrong)


def synchronous(plan: operation, fn: Callable[..., Generator[Any, Any, Any]]) -> Callable[..., Any]:
    """The generator function, recorded."""

    def recorded_stream(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        here = scope.get()
        call = None if here is None else plan.begin(here, args, kwargs)
        if call is None:
            return (yield from fn(*args, **kwargs))
        chunks = _Chunks(call)
        stream = fn(*args, **kwargs)
        step: Callable[[Any], Any] = stream.send
        sent: Any = None
        try:
            while True:
                token = scope.set(call)
                try:
                    chunk = step(sent)
                except StopIteration as end:
                    result = end.value
                    break
                finally:
                    scope.reset(token)
                chunks.add(chunk)
                try:
                    sent, step = (yield chunk), stream.send
                except GeneratorExit:
                    stream.close()
                    raise
                except BaseException as error:
                    sent, step = error, stream.throw
        except BaseException as error:
            chunks.end(error)
            raise
        chunks.end()
        return result

    return recorded_stream


def asynchronous(plan: operation, fn: Callable[..., AsyncGenerator[Any, Any]]) -> Callable[..., Any]:
    """The asynchronous generator function, recorded."""

    async def recorded_stream(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        here = scope.get()
        call = None if here is None else plan.begin(here, args, kwargs)
        stream = fn(*args, **kwargs)
        chunks = None if call is None else _Chunks(call)
        step: Callable[[Any], Any] = stream.asend
        sent: Any = None
        try:
            while True:
                token = scope.set(here if call is None else call)
                try:
                    chunk = await step(sent)
                except StopAsyncIteration:
                    break
                finally:
                    scope.reset(token)
                if chunks is not None:
                    chunks.add(chunk)
                try:
                    sent, step = (yield chunk), stream.asend
                except GeneratorExit:
                    await stream.aclose()
                    raise
                except BaseException as error:
                    sent, step = error, stream.athrow
        except BaseException as error:
            if chunks is not None:
                chunks.end(error)
            raise
        if chunks is not None:
            chunks.end()

    return recorded_stream
