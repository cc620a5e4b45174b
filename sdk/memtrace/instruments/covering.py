"""Keeps one call from being recorded twice: by the package that the application calls, and by the client inside it.

The outer instrument says that it records the model's call itself, and the inner one then records nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_covered: ContextVar[bool] = ContextVar("memtrace.covered", default=False)


@contextmanager
def covering() -> Iterator[None]:
    """A block whose model calls the instrument around it records, or leaves out on purpose.

    It follows asyncio tasks and whatever copies the context, as the current trace does.
    """
    token = _is_covered.set(True)
    try:
        yield
    finally:
        _is_covered.reset(token)


@contextmanager
def uncovered() -> Iterator[None]:
    """A block inside ``covering`` in which application's code runs, whose calls count again (a tool, a callback)."""
    token = _is_covered.set(False)
    try:
        yield
    finally:
        _is_covered.reset(token)


def is_covered() -> bool:
    """Whether an instrument around this call records it."""
    return _is_covered.get()
