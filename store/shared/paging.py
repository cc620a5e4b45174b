"""Reads lists page by page, and splits variables into parts by the size of their values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from typing import TypeVar

from schema.models import Derivation, Element, Operation, Session, Variable
from store.contract.answers import ALWAYS, Label, Page, Span
from store.contract.protocol import GraphStore

T = TypeVar("T")
E = TypeVar("E", Session, Operation, Variable, Derivation)

_PAGE = 10_000


async def every(read: Callable[[str | None], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    """The items of all pages; each page is read when needed.

    Args:
        read: returns the page after a cursor, or the first page for None.
    """
    after = None
    while True:
        page = await read(after)
        for item in page.items:
            yield item
        after = page.next
        if after is None:
            return


def in_trace(
    store: GraphStore,
    label: Label,
    trace_id: str,
    kinds: Collection[str] = (),
    first: int = _PAGE,
    statuses: Collection[str] = (),
    when: Span = ALWAYS,
) -> AsyncIterator[Element]:
    """All elements of a trace with a label, in order, ``first`` at a time; see ``GraphStore.page``."""
    return every(lambda after: store.page(label, trace_id, first, after, kinds, statuses, when=when))


async def elements(store: GraphStore, model: type[E], trace_id: str, kinds: Collection[str] = ()) -> list[E]:
    """All elements of a trace of one model, as a list."""
    found = in_trace(store, Label(model.__name__), trace_id, kinds)
    return [element async for element in found if isinstance(element, model)]


def by_size(variables: Sequence[Variable], most_bytes: int, most: int = _PAGE) -> Iterator[list[Variable]]:
    """Variables in lists of bounded total size, in order; a variable with a larger value is alone in its list.

    Args:
        variables: the variables.
        most_bytes: the largest total size of the values of a list.
        most: the largest number of variables in a list.
    """
    part: list[Variable] = []
    size = 0
    for variable in variables:
        if part and (size + variable.size > most_bytes or len(part) == most):
            yield part
            part, size = [], 0
        part.append(variable)
        size += variable.size
    if part:
        yield part
