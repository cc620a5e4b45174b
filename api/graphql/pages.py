"""Relay connections with keyset cursors: a page is found by what it begins after, never by counting."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Generic, TypeVar

import strawberry

from schema.errors import InputError
from store.answers import Page

T = TypeVar("T")

MAX_PAGE = 500

First = Annotated[int, strawberry.argument(description=f"How many at most, 1 to {MAX_PAGE}.")]
After = Annotated[str | None, strawberry.argument(description="The `endCursor` of the page before.")]


@strawberry.type(description="Where a page stands in its list.")
class PageInfo:
    """Relay's PageInfo; pages are read forwards only."""

    has_next_page: bool = strawberry.field(description="Whether more comes after this page.")
    end_cursor: str | None = strawberry.field(description="Where the next page begins; null after the last.")
    has_previous_page: bool = strawberry.field(default=False, description="Always false: pages are read forwards.")
    start_cursor: str | None = strawberry.field(default=None, description="Always null: pages are read forwards.")


@strawberry.type(description="One item of a page.")
class Edge(Generic[T]):
    """Relay's Edge. Only the last item of a page has a cursor: the store gives no others."""

    node: T = strawberry.field(description="The item.")
    cursor: str | None = strawberry.field(
        default=None, description="Where the next page begins; only of the last item of a page that is not the last."
    )


@strawberry.type(description="A page of a list, in the list's order.")
class Connection(Generic[T]):
    """Relay's Connection."""

    edges: list[Edge[T]] = strawberry.field(
        description="The items, each with what belongs to its place.", metadata={"size": 1}
    )
    nodes: list[T] = strawberry.field(description="The items alone.", metadata={"size": 1})
    page_info: PageInfo = strawberry.field(description="Where this page stands.")


def connection(page: Page[T] | None) -> Connection[T]:
    """A page of the store as a connection; None is an empty one."""
    if page is None:
        page = Page([], None)
    cursor = None if page.next is None else encode_cursor(page.next)
    edges = [Edge(node=item) for item in page.items]
    if cursor and edges:
        edges[-1].cursor = cursor
    return Connection(
        edges=edges, nodes=page.items, page_info=PageInfo(has_next_page=cursor is not None, end_cursor=cursor)
    )


def page_size(first: int, most: int = MAX_PAGE) -> int:
    """The size of a page.

    Raises:
        InputError: it is not from 1 to ``most``.
    """
    if not 1 <= first <= most:
        raise InputError("first", "", f"{first} is not from 1 to {most}")
    return first


def encode_cursor(cursor: str) -> str:
    """A cursor of the store as it goes out: opaque, since each engine has its own."""
    return base64.urlsafe_b64encode(cursor.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> str | None:
    """A cursor as it came in.

    Raises:
        InputError: it never went out.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InputError("after", "", f"{cursor[:80]!r} is not a cursor of this list") from None
