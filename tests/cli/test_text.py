"""Stored text can't leave its line or steer the terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.render.style import quoted
from api.cli.render.text import counted, many_lines, middle, one_line, size_of

ANY_TEXT = st.text(st.characters())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\r\n\tand  more ", "two lines and more"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("\x9b2J", "\\x9b2J"),
        ("\ud800", "\\ud800"),
        ("[bold]no markup[/bold] :smile:", "[bold]no markup[/bold] :smile:"),
        ("👩\u200d🚀 é 漢字", "👩\u200d🚀 é 漢字"),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


@given(ANY_TEXT)
def test_one_line_holds_nothing_that_steers(text: str) -> None:
    shown = one_line(text)
    assert not [
        character
        for character in shown
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp", "Co"} or character in "\u202a\u202e\u2066\ufeff"
    ]


@given(ANY_TEXT, st.integers(2, 30))
def test_one_line_keeps_to_its_width(text: str, width: int) -> None:
    shown = one_line(text, width)
    assert len(shown) <= width
    whole = one_line(text)
    assert shown == whole if len(whole) <= width else shown.endswith("…")
    assert quoted(text, width + 2).cell_len <= width + 2
    assert len(middle(text, width)) <= width


def test_one_line_cuts_blanks_that_hide_an_end() -> None:
    assert one_line("a" + " " * 1000 + "b", 10) == "a…"


def test_middle_keeps_both_ends() -> None:
    assert middle("abcdefghijkl", 7) == "abc…jkl"


def test_many_lines_keeps_lines_and_tabs() -> None:
    assert many_lines("a\tb\nc\x1b[2J\x00\r\n") == "a\tb\nc\\x1b[2J\\x00\\r\n"


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (3 << 40, "3.0 TiB"), (None, "unknown")],
)
def test_size(count: int | None, shown: str) -> None:
    assert size_of(count) == shown


def test_counted() -> None:
    assert [counted(1, "byte"), counted(2000, "byte"), counted(0, "query", "queries")] == [
        "1 byte",
        "2,000 bytes",
        "0 queries",
    ]
