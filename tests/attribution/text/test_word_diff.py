"""Two texts word by word, and a unified diff as rows."""

from __future__ import annotations

import pytest

from attribution.text import word_diff
from attribution.text.word_diff import Parts, difference, merged_changes, word_changes


@pytest.mark.parametrize(
    ("old", "new", "left", "right", "merged"),
    [
        ("a b", "a b", [("a b", "same")], [("a b", "same")], [("a b", "same")]),
        (
            "a b c",
            "a x c",
            [("a ", "same"), ("b", "gone"), (" c", "same")],
            [("a ", "same"), ("x", "new"), (" c", "same")],
            [("a ", "same"), ("b", "gone"), ("x", "new"), (" c", "same")],
        ),
        ("a", "a.", [("a", "same")], [("a", "same"), (".", "new")], [("a", "same"), (".", "new")]),
        ("a.", "a", [("a", "same"), (".", "gone")], [("a", "same")], [("a", "same"), (".", "gone")]),
        ("", "x", [], [("x", "new")], [("x", "new")]),
        ("x", "", [("x", "gone")], [], [("x", "gone")]),
        ("", "", [], [], []),
    ],
)
def test_words_that_changed(old: str, new: str, left: Parts, right: Parts, merged: Parts) -> None:
    assert word_changes(old, new) == (left, right)
    assert merged_changes(old, new) == merged


@pytest.mark.parametrize(
    ("name", "bound", "old", "new"),
    [
        ("_MOST_TOKENS", 6, "a b", "a c"),
        ("_MOST_PAIRS", 2, "a b", "a c"),
    ],
)
def test_long_texts_are_one_part(monkeypatch: pytest.MonkeyPatch, name: str, bound: int, old: str, new: str) -> None:
    monkeypatch.setattr(word_diff, name, bound)
    assert word_changes(old, new) == ([("a ", "same"), ("b", "gone")], [("a ", "same"), ("c", "new")])
    monkeypatch.setattr(word_diff, name, bound - 1)
    assert word_changes(old, new) == ([(old, "gone")], [(new, "new")])


def test_two_texts_of_many_different_words_are_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = "x one two", "x,four,five"
    monkeypatch.setattr(word_diff, "_MOST_PAIRS", 3)
    assert word_changes(old, new)[0][0] == ("x", "same")
    monkeypatch.setattr(word_diff, "_MOST_PAIRS", 2)
    assert word_changes(old, new) == ([(old, "gone")], [(new, "new")])


@pytest.mark.parametrize(
    ("unified", "rows"),
    [
        ("", [("same", [("", "same")])]),
        (
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n kept\n-old word\n+new word",
            [
                ("same", [("kept", "same")]),
                ("gone", [("old", "gone"), (" word", "same")]),
                ("new", [("new", "new"), (" word", "same")]),
            ],
        ),
        (
            "@@ @@\n-one\n-two\n+1\n@@ @@\n+three",
            [
                ("gone", [("one", "gone")]),
                ("gone", [("two", "gone")]),
                ("new", [("1", "new")]),
                ("gap", []),
                ("new", [("three", "new")]),
            ],
        ),
        (
            "@@ @@\n-one\n+1\n+2\n kept\n-two",
            [
                ("gone", [("one", "gone")]),
                ("new", [("1", "new")]),
                ("new", [("2", "new")]),
                ("same", [("kept", "same")]),
                ("gone", [("two", "gone")]),
            ],
        ),
        ("@@ @@\n----\n+++", [("gone", [("---", "gone")]), ("new", [("++", "new")])]),
        ("@@ @@\n-a\n\\ No newline at end of file", [("gone", [("a", "gone")])]),
    ],
)
def test_a_diff_has_rows(unified: str, rows: list[tuple[str, Parts]]) -> None:
    found = difference(unified)
    assert [kind for kind, _ in found] == [kind for kind, _ in rows]
    assert found == rows
