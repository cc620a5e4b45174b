"""Two texts line by line, in the unified format."""

from __future__ import annotations

import difflib
from random import Random

import pytest

from attribution.text import lines
from attribution.text.lines import TooDifferentError, unified


def text(*said: str) -> str:
    return "\n".join(said)


LONG = [f"line {number}" for number in range(30)]


@pytest.mark.parametrize(
    ("old", "new", "shown", "added", "removed"),
    [
        ("a", "a", [], 0, 0),
        ("", "", [], 0, 0),
        ("a", "b", ["@@ -1 +1 @@", "-a", "+b"], 1, 1),
        ("", "b", ["@@ -0,0 +1 @@", "+b"], 1, 0),
        ("a", "", ["@@ -1 +0,0 @@", "-a"], 0, 1),
        (text("a", "b"), text("a", "x", "y", "b"), ["@@ -1,2 +1,4 @@", " a", "+x", "+y", " b"], 2, 0),
        (text("a", "b", "c"), text("a", "c"), ["@@ -1,3 +1,2 @@", " a", "-b", " c"], 0, 1),
        (
            text(*LONG),
            text(*LONG[:10], "new", *LONG[10:20], *LONG[21:]),
            [
                "@@ -8,6 +8,7 @@", " line 7", " line 8", " line 9", "+new", " line 10", " line 11", " line 12",
                "@@ -18,7 +19,6 @@", " line 17", " line 18", " line 19", "-line 20", " line 21", " line 22", " line 23",
            ],
            1,
            1,
        ),
    ],
)  # fmt: skip
def test_what_differs(old: str, new: str, shown: list[str], added: int, removed: int) -> None:
    head = ["--- old", "+++ new"] if shown else []
    assert unified(old, new, "old", "new") == (head + shown, added, removed)


@pytest.mark.parametrize("seed", range(20))
def test_the_lines_and_places_make_the_new_text_of_the_old(seed: int) -> None:
    random = Random(seed)
    old = random.choices("abcdefg", k=random.randrange(40))
    new = [one for one in old if random.random() > 0.2]
    for _ in range(random.randrange(5)):
        new.insert(random.randrange(len(new) + 1), random.choice("xyz"))
    found, added, removed = unified(text(*old), text(*new), "old", "new")
    before, after = text(*old).splitlines(), text(*new).splitlines()
    assert sum(line.startswith("+") for line in found[2:]) == added
    assert sum(line.startswith("-") for line in found[2:]) == removed
    assert len(before) + added - removed == len(after)
    rebuilt: list[str] = []
    taken = 0
    for line in found[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            begin = int(start) - (length != "0")
            rebuilt += before[taken:begin]
            taken = begin
            place, _, of = line.split()[2][1:].partition(",")
            assert int(place) - (of != "0") == len(rebuilt)
        elif line.startswith("-"):
            assert line[1:] == before[taken]
            taken += 1
        else:
            rebuilt.append(line[1:])
            taken += line.startswith(" ")
    assert rebuilt + before[taken:] == after
    known = [*difflib.unified_diff(before, after, lineterm="")]
    assert bool(known) == bool(found)


def test_texts_that_differ_in_too_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINES", 3)
    same = ["same"] * 10
    assert unified(text(*same, *"abc", *same), text(*same, *"xyz", *same), "", "")[1:] == (3, 3)
    for old, new in (("abcd", "x"), ("x", "abcd")):
        with pytest.raises(TooDifferentError):
            unified(text(*same, *old, *same), text(*same, *new, *same), "", "")
