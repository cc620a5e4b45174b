from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.words import LONGEST_WORD, contains, phrases, snippet, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mia moved to Oslo.", ["mia", "moved", "to", "oslo"]),
        ("user_name re-ranked x2", ["user", "name", "re", "ranked", "x2"]),
        ("It's 3.14, 50%!", ["it", "s", "3", "14", "50"]),
        ("Straße ÉCOLE naïve", ["strasse", "école", "naïve"]),
        ("ΟΔΟΣ οδός", ["οδοσ", "οδόσ"]),
        ("東京に住む", ["東", "京", "に", "住", "む"]),
        ("GPT四version", ["gpt", "四", "version"]),
        ("サーバー", ["サ", "ー", "バ", "ー"]),
        ("أحب القهوة", ["أحب", "القهوة"]),
        ("Он живёт", ["он", "живёт"]),
        ("서울 산다", ["서울", "산다"]),
        ("go 🚀 now", ["go", "now"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
        ("", []),
        (" _-\t\n🚀 ", []),
        ("a\0b", ["a", "b"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_are_words_of_themselves(text: str) -> None:
    found = words(text)
    assert words(" ".join(found)) == found


@given(st.text(st.characters(max_codepoint=127)))
def test_english_is_cut_as_any_other_language(text: str) -> None:
    assert words(text) == words(f"{text} é")[:-1]


@given(st.text())
def test_case_does_not_matter(text: str) -> None:
    assert words(text) == words(text.casefold())


def test_long_words_are_cut() -> None:
    assert words("x" * 1000) == ["x" * LONGEST_WORD]
    assert words("é" * 1000) == ["é" * LONGEST_WORD]


def test_a_query_is_a_phrase_for_each_part_between_spaces() -> None:
    assert phrases("Re-ranked  user_name 東京 ! Oslo") == [
        ["re", "ranked"],
        ["user", "name"],
        ["東", "京"],
        ["oslo"],
    ]
    assert phrases(" -- \n ") == []


def test_a_snippet_shows_the_first_text_with_a_word() -> None:
    texts = ["a name", "a comment", "Mia lives in Oslo"]
    assert snippet(texts, "oslo") == "Mia lives in Oslo"
    assert snippet(texts, "COMMENT oslo") == "a comment"
    assert snippet(texts, "absent") == "a name"
    assert snippet([], "absent") == ""


def test_a_snippet_is_cut_around_the_word() -> None:
    text = "before " * 100 + "needle" + " after" * 100
    found = snippet([text], "needle", width=60)
    assert "needle" in found
    assert (found[0], found[-1], len(found)) == ("…", "…", 62)


@given(st.text(), st.text(), st.integers(1, 50))
def test_a_snippet_is_a_part_of_a_text(text: str, query: str, width: int) -> None:
    assert snippet([text], query, width).strip("…") in text + text.strip("…")


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("Mia lives in OSLO", "oslo", True),
        ("Mia lives in Oslo", "Bergen", False),
        ("L'ÉCOLE", "école", True),
        ("STRASSE", "straße", True),
        ("東京に住む", "京に", True),
        ("a%b_c", "%b_", True),
        ("abc", "a.c", False),
        ("a\0b", "\0", True),
        ("日本", "\x97\xa5", False),
    ],
)
def test_contains(value: str, text: str, expected: bool) -> None:
    assert contains(value.encode(), text) is expected


@given(st.text(), st.text(), st.text())
def test_a_text_contains_its_parts_in_any_case(before: str, part: str, after: str) -> None:
    assert contains((before + part + after).encode(), part)
