"""Texts that fit into their room, at the borders of the room."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.fit import middle, printable, wrapped


@pytest.mark.parametrize(
    "character",
    [
        "\x00",
        "\x08",
        "\x0b",
        "\x0c",
        "\x0e",
        "\x1f",
        "\x7f",
        "\x9f",
        "\u202a",
        "\u202e",
        "\u2066",
        "\u2069",
        chr(0xD800),
        chr(0xDFFF),
    ],
)
def test_what_can_not_be_shown_is_replaced(character: str) -> None:
    assert printable(f"a{character}b") == "a\ufffdb"


@pytest.mark.parametrize(
    "character",
    ["\t", "\n", "\r", " ", "~", "\xa0", "\u2029", "\u202f", "\u2065", "\u206a", "\ud7ff", "\ue000", "é", "漢"],
)
def test_what_can_be_shown_stays(character: str) -> None:
    assert printable(f"a{character}b") == f"a{character}b"


@pytest.mark.parametrize(
    ("text", "length", "cut"),
    [
        ("", 3, ""),
        ("abc", 3, "abc"),
        ("abcd", 3, "a…d"),
        ("abcdef", 4, "ab…f"),
        ("abcdefgh", 5, "ab…gh"),
        ("abcd", 2, "a…"),
        ("abcd", 1, "…"),
    ],
)
def test_a_text_is_cut_in_its_middle(text: str, length: int, cut: str) -> None:
    assert middle(text, length) == cut


@pytest.mark.parametrize(
    ("text", "width", "most", "lines"),
    [
        ("", 5, 3, []),
        (" \n ", 5, 3, []),
        ("aaa", 1.8, 3, ["aaa"]),
        ("aaaa", 1.8, 3, ["aaa", "a"]),
        ("a  b\nc", 9, 3, ["a b c"]),
        ("aa bb cc", 1.6, 9, ["aa", "bb", "cc"]),
        ("aa bb cc", 2.75, 9, ["aa", "bb", "cc"]),
        ("aa bb cc", 2.77, 9, ["aa bb", "cc"]),
        ("aa bb", 1.2, 2, ["aa", "bb"]),
        ("aa bb cc", 1.6, 2, ["aa", "b…"]),
        ("aaaaaa aa", 3, 1, ["aaa…"]),
        ("aaaa_bb", 3.6, 3, ["aaaa_", "bb"]),
        ("aaaa-bb", 3.6, 3, ["aaaa-", "bb"]),
        ("aaaa.bb", 3.4, 3, ["aaaa.", "bb"]),
        ("aaaa/bb", 3.6, 3, ["aaaa/", "bb"]),
        ("a_bbbbbb", 3.6, 3, ["a_bbbb", "bb"]),
        ("aa_bbbbb", 3.6, 3, ["aa_", "bbbbb"]),
        ("aaaa", 0.1, 9, ["a", "a", "a", "a"]),
        ("mmm", 2.04, 3, ["mm", "m"]),
        ("漢漢漢", 2.04, 3, ["漢漢", "漢"]),
        ("AAA", 1.52, 3, ["AA", "A"]),
        ("iiii", 1.08, 3, ["iii", "i"]),
        ("e\u0301e\u0301e", 1.2, 3, ["e\u0301e\u0301", "e"]),
    ],
)
def test_lines_are_broken_where_they_are_full(text: str, width: float, most: int, lines: list[str]) -> None:
    assert wrapped(text, width, most) == lines


@given(st.text(st.sampled_from("ab _-./WéI漢"), max_size=60), st.integers(2, 20), st.integers(1, 5))
def test_nothing_is_lost_but_what_is_marked(text: str, width: int, most: int) -> None:
    lines = wrapped(text, width, most)
    assert len(lines) <= most
    said = "".join("".join(lines).split())
    whole = "".join(text.split())
    assert said == whole or (said.endswith("…") and whole.startswith(said[:-1]))
    assert unicodedata.normalize("NFC", said) == said or not unicodedata.is_normalized("NFC", text)
