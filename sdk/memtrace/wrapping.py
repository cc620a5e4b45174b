"""Functions whose whole run is one block, which is entered at each call and left when the call is over.

For a generator, the block is the current one only while the generator's own code runs, not while its consumer's code
runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from memtrace import streams
from memtrace.context import SavedContext


def is_function(value: object) -> bool:
    """Whether the value is a function, which a decorator without parentheses receives."""
    return callable(value) or isinstance(value, staticmethod | classmethod)


def in_block(fn: Any, block: Callable[[], AbstractContextManager[Any]]) -> Any:
    """The function, run in a new ``block()`` at each call; it may be a coroutine or a generator, too."""
    if isinstance(fn, staticmethod | classmethod):
        return type(fn)(in_block(fn.__func__, block))
    if inspect.isasyncgenfunction(fn) or inspect.isgeneratorfunction(fn):

        def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[_Inside, Any]:
            return _Inside(block()), fn(*args, **kwargs)

        is_asynchronous = inspect.isasyncgenfunction(fn)
        return streams.asynchronous(fn, begin) if is_asynchronous else streams.synchronous(fn, begin)
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
