"""Whether the code that runs writes memory: its model calls extract, and its searches are no questions of users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_writing: ContextVar[bool] = ContextVar("memtrace.writing", default=False)


@contextmanager
def writing() -> Iterator[None]:
    """A block that writes memory."""
    token = _writing.set(True)
    try:
        yield
    finally:
        _writing.reset(token)


def is_writing() -> bool:
    """Whether this code writes memory."""
    return _writing.get()
