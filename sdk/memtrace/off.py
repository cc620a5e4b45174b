"""What ``memtrace`` is where ``MEMTRACE_ENABLED`` is 0: the same names, which do nothing and cost next to nothing."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self, TypeVar

F = TypeVar("F")
T = TypeVar("T")


class _Nothing:
    """A block or decorator without effect."""

    __slots__ = ()
    id = ""
    is_recorded = False

    def __call__(self, fn: F) -> F:
        return fn

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def input(self, value: T, *said: Any, **more: Any) -> T:
        """The value."""
        return value

    def output(self, value: T, *said: Any, **more: Any) -> T:
        """The value."""
        return value


_nothing = _Nothing()


def operation(*said: Any, **more: Any) -> _Nothing:
    """A block or decorator without effect."""
    return _nothing


trace = session = mutation = operation


def variable(value: T, *said: Any, **more: Any) -> T:
    """The value."""
    return value


bind = carry = executor = variable


def link(*said: Any, **more: Any) -> None:
    """Nothing."""


deleted = retrieved = find = named = link
