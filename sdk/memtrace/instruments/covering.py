"""Keeps a model's call from being recorded twice: by the package that the application calls, and by the client inside.

The outer instrument covers the call, and the instrument of the client then records nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

_is_covered: ContextVar[bool] = ContextVar("memtrace.covered", default=False)


@contextmanager
def covering() -> Iterator[None]:
    """A block whose model calls the outer instrument records, or leaves out on purpose.

    Like the current trace, the cover follows asyncio tasks and copies of the context.
    """
    token = _is_covered.set(True)
    try:
        yield
    finally:
        _is_covered.reset(token)


def is_covered() -> bool:
    """Whether an outer instrument records the current call."""
    return _is_covered.get()


def covered(original: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a package whose model calls the package's own instrument records, instead of the client's.

    A stream is covered while it makes a chunk, not while the application works with the chunk.
    """
    if inspect.isasyncgenfunction(original):

        @wraps(original)
        async def stream_later(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
            async for chunk in _chunks_later(original(*args, **kwargs)):
                yield chunk

        return stream_later
    if inspect.isgeneratorfunction(original):

        @wraps(original)
        def stream(*args: Any, **kwargs: Any) -> Generator[Any, None, None]:
            yield from _chunks(original(*args, **kwargs))

        return stream
    if inspect.iscoroutinefunction(original):

        @wraps(original)
        async def call_later(*args: Any, **kwargs: Any) -> Any:
            with covering():
                return _streamed(await original(*args, **kwargs))

        return call_later

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        with covering():
            return _streamed(original(*args, **kwargs))

    return call


def _streamed(result: Any) -> Any:
    if isinstance(result, Generator):
        return _chunks(result)
    return _chunks_later(result) if isinstance(result, AsyncGenerator) else result


def _chunks(chunks: Generator[Any, None, None]) -> Generator[Any, None, None]:
    try:
        while True:
            with covering():
                try:
                    chunk = next(chunks)
                except StopIteration:
                    return
            yield chunk
    finally:
        chunks.close()


async def _chunks_later(chunks: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    try:
        while True:
            with covering():
                try:
                    chunk = await chunks.__anext__()
                except StopAsyncIteration:
                    return
            yield chunk
    finally:
        await chunks.aclose()
