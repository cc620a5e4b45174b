"""Sizes of pages and cursors, at their borders."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from api.graphql.pages import MAX_PAGE, Connection, asked_page, connection, decode_cursor, encode_cursor, page_size
from schema.errors import InputError
from store.contract.answers import Page

INFO: Any = SimpleNamespace(path=SimpleNamespace(typename="Project"), field_name="failures")


@pytest.mark.parametrize(("first", "most"), [(1, MAX_PAGE), (MAX_PAGE, MAX_PAGE), (1, 50), (50, 50), (1, 1)])
def test_sizes_up_to_the_largest_are_given(first: int, most: int) -> None:
    assert page_size(first, most) == first


@pytest.mark.parametrize(("first", "most"), [(0, 500), (-1, 500), (501, 500), (51, 50), (2, 1)])
def test_other_sizes_are_refused(first: int, most: int) -> None:
    with pytest.raises(InputError, match=f"first: {first} is not from 1 to {most}"):
        page_size(first, most)


def test_a_page_without_a_next_one_has_no_cursor() -> None:
    last = connection(INFO, Page(["a", "b"], None))
    assert (last.nodes, [one.node for one in last.edges], [one.cursor for one in last.edges]) == (
        ["a", "b"],
        ["a", "b"],
        [None, None],
    )
    assert (last.page_info.has_next_page, last.page_info.end_cursor) == (False, None)
    none: Connection[str] = connection(INFO, None)
    assert (none.nodes, none.edges, none.page_info.has_next_page, none.page_info.end_cursor) == ([], [], False, None)


def test_the_last_item_has_the_cursor_of_the_next_page() -> None:
    found = connection(INFO, Page(["a", "b"], "after b"))
    cursor = found.page_info.end_cursor
    assert found.page_info.has_next_page
    assert [one.cursor for one in found.edges] == [None, cursor]
    assert asked_page(INFO, 7, cursor) == (7, "after b")
    assert asked_page(INFO, 7, None) == (7, None)


def test_a_page_without_items_may_have_a_next_one() -> None:
    found: Connection[str] = connection(INFO, Page([], "further"))
    assert (found.edges, found.page_info.has_next_page) == ([], True)
    assert asked_page(INFO, 1, found.page_info.end_cursor) == (1, "further")


@pytest.mark.parametrize("cursor", ["", "a", "ab", "abc", "abcd", "é\0\n", "x" * 300])
def test_a_cursor_of_any_length_comes_back(cursor: str) -> None:
    sent = encode_cursor(cursor, "Project.failures")
    assert "=" not in sent
    assert decode_cursor(sent, "Project.failures") == cursor


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "not a cursor",
        "a\xe9",
        encode_cursor("after b", "Project.traces"),
        encode_cursor("after b", "Project.failures")[1:],
        encode_cursor("after b", "Project.failures")[:-1],
        base64.urlsafe_b64encode(b"\0\0\0\0after b").decode(),
        "+" + encode_cursor("after b", "Project.failures")[1:],
    ],
)
def test_a_cursor_that_was_not_given_is_refused(cursor: str) -> None:
    with pytest.raises(InputError, match="is not a cursor of this list"):
        decode_cursor(cursor, "Project.failures")
