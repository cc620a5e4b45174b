"""Relay connections with keyset cursors: a cursor names the last item of the page before, not a number of items."""

import base64
import binascii
from typing import Annotated, Generic, TypeVar

import strawberry

from api.graphql.context import Info
from schema.errors import InputError
from store.contract.answers import Page

T = TypeVar("T")

MAX_PAGE = 500

_CHECK_BYTES = 4
"""Bytes of a cursor's check sum. A made-up cursor, or a cursor of another list, is refused before anything is read."""

First = Annotated[int, strawberry.argument(description=f"How many at most, 1 to {MAX_PAGE}.")]
After = Annotated[str | None, strawberry.argument(description="The `endCursor` of the page before.")]


@strawberry.type(description="Whether there are more pages, and where the next one begins.")
class PageInfo:
    """Relay's PageInfo; pages are read forwards only."""

    has_next_page: bool = strawberry.field(description="Whether there is a next page.")
    end_cursor: str | None = strawberry.field(
        description="Give this as `after` to get the next page; null on the last page."
    )
    has_previous_page: bool = strawberry.field(
        default=False, description="Always false: pages can only be read forwards."
    )
    start_cursor: str | None = strawberry.field(
        default=None, description="Always null: pages can only be read forwards."
    )


@strawberry.type(description="One item of a page.")
class Edge(Generic[T]):
    """Relay's Edge. Only the last item of a page has a cursor, because the store returns one cursor a page."""

    node: T = strawberry.field(description="The item.")
    cursor: str | None = strawberry.field(
        default=None,
        description="Give this as `after` to get the next page. Only the last item of a page has one, and only if "
        "there is a next page; else null.",
    )


@strawberry.type(description="One page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = strawberry.field(description="The items of this page, with cursors.", metadata={"size": 1})
    nodes: list[T] = strawberry.field(description="The items of this page, without cursors.", metadata={"size": 1})
    page_info: PageInfo = strawberry.field(description="Whether there are more pages, and where the next one begins.")


def list_name(parent: str, field: str) -> str:
    """The name of the list that a field returns, such as ``Project.failures``. A cursor belongs to one list."""
    return f"{parent}.{field}"


def connection(info: Info, page: Page[T] | None) -> Connection[T]:
    """A page of the store as a connection; for None an empty connection."""
    if page is None:
        page = Page([], None)
    cursor = None if page.next is None else encode_cursor(page.next, _list_of(info))
    edges = [Edge(node=item) for item in page.items]
    if cursor and edges:
        edges[-1].cursor = cursor
    return Connection(
        edges=edges, nodes=page.items, page_info=PageInfo(has_next_page=cursor is not None, end_cursor=cursor)
    )


def page_size(first: int, most: int = MAX_PAGE) -> int:
    """The size of a page.

    Raises:
        InputError: the size is not from 1 to ``most``.
    """
    if not 1 <= first <= most:
        raise InputError("first", "", f"{first} is not from 1 to {most}")
    return first


def asked_page(info: Info, first: int, after: str | None) -> tuple[int, str | None]:
    """The page size that a field is asked for, and the store's cursor.

    Raises:
        InputError: the size is out of range, or the cursor is not of this list.
    """
    return page_size(first), None if after is None else decode_cursor(after, _list_of(info))


def encode_cursor(cursor: str, of: str) -> str:
    """The cursor that clients get: a check sum and the store's cursor.

    It is opaque, because each engine has its own form.

    Args:
        cursor: the store's cursor.
        of: the name of the list; see ``list_name``.
    """
    data = cursor.encode()
    return base64.urlsafe_b64encode(_check_sum(data, of) + data).decode().rstrip("=")


def decode_cursor(cursor: str, of: str) -> str:
    """The store's cursor, from a cursor that a client sent.

    Raises:
        InputError: the text is not a cursor of this list.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        data = base64.b64decode(padded, altchars=b"-_", validate=True)
        if data[:_CHECK_BYTES] == _check_sum(data[_CHECK_BYTES:], of):
            return data[_CHECK_BYTES:].decode()
    except (binascii.Error, ValueError):
        pass
    raise InputError("after", "", f"{cursor[:80]!r} is not a cursor of this list")


def _list_of(info: Info) -> str:
    return list_name(info.path.typename or "", info.field_name)


def _check_sum(data: bytes, of: str) -> bytes:
    return binascii.crc32(of.encode() + b"\0" + data).to_bytes(_CHECK_BYTES, "big")
