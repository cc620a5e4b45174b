"""The same question in two runs: by id and text, by an id of its own, by text."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from attribution.compare.pairing import MOST_CHARACTERS, Places, pairs


@dataclass(frozen=True)
class Asked:
    """A question, written as ``name trace:id text``."""

    failure_id: str
    trace_external_id: str
    question_external_id: str | None
    question: str


def asked(*questions: str) -> list[Asked]:
    found = []
    for said in questions:
        name, place, text = said.split(" ", 2)
        trace, _, id_ = place.partition(":")
        found.append(Asked(name, trace, id_ or None, text))
    return found


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([], [], []),
        (["a t:1 Why?"], [], [("a", None)]),
        ([], ["x t:1 Why?"], [(None, "x")]),
        (["a t:1 Why?"], ["x t:1 Why?"], [("a", "x")]),
        # An id that one question of each run has is enough; a text, too.
        (["a t:1 Why?"], ["x t:1 Who?"], [("a", "x")]),
        (["a t:1 Why?"], ["x t:2 Why?"], [("a", "x")]),
        (["a t:1 Why?"], ["x t:2 Who?"], [("a", None), (None, "x")]),
        (["a t Why?"], ["x t Why?"], [("a", "x")]),
        (["a t Why?"], ["x t Who?"], [("a", None), (None, "x")]),
        (["a t  why  IS it?"], ["x t Why is it?"], [("a", "x")]),
        # Of questions with one id, id and text decide.
        (["a t:1 Why?", "b t:1 Who?"], ["x t:1 Who?", "y t:1 Why?"], [("a", "y"), ("b", "x")]),
        (["a t:1 Why?", "b t:1 Who?"], ["x t:1 Where?"], [("a", None), ("b", None), (None, "x")]),
        (["a t:1 Why?"], ["x t:1 Where?", "y t:1 Who?"], [("a", None), (None, "x"), (None, "y")]),
        # The surest pairs come first, in whatever order the questions stand.
        (["a t:1 Why?", "b t:2 Why?"], ["x t:2 Why?", "y t:1 Why?"], [("a", "y"), ("b", "x")]),
        (["a t:3 Why?", "b t:2 Why?"], ["x t:2 Why?", "y t:4 Why?"], [("a", "y"), ("b", "x")]),
        # Questions of equal text are paired in order; a further question stays alone.
        (["a t Why?", "b t Why?"], ["x t Why?", "y t Why?"], [("a", "x"), ("b", "y")]),
        (["a t Why?", "b t Why?"], ["x t Why?"], [("a", "x"), ("b", None)]),
        (["a t Why?"], ["x t Why?", "y t Why?"], [("a", "x"), (None, "y")]),
        # A trace that both runs cover is a place of its own; other traces are one place.
        (["a t:1 Why?", "b u:1 Why?"], ["x u:1 Why?", "y t:1 Why?"], [("a", "y"), ("b", "x")]),
        (["a old:1 Why?"], ["x new:1 Why?"], [("a", "x")]),
        (
            ["a t:1 Why?", "b old:2 Who?"],
            ["x t:3 Who?", "y new:4 Why?"],
            [("a", None), ("b", None), (None, "x"), (None, "y")],
        ),
    ],
)
def test_the_same_questions_are_paired(
    before: list[str], after: list[str], found: list[tuple[str | None, str | None]]
) -> None:
    first, second = asked(*before), asked(*after)
    places = Places({one.trace_external_id for one in first}, [one.trace_external_id for one in second])
    paired = pairs(first, second, places)
    assert [tuple(one and one.failure_id for one in pair) for pair in paired] == found


def test_texts_are_compared_by_their_beginning() -> None:
    places = Places(["t"], ["t"])
    long = "a" * (MOST_CHARACTERS - 1)
    assert places.text("t", long + "bc") == places.text("t", long + "bd")
    assert places.text("t", long + "b") != places.text("t", long + "c")
    assert places.text("t", " A  b\n") == places.text("t", "a b") != places.text("u", "a b")
    assert places.text("u", "a b") == places.text("v", "a b")
    assert (places.id("t", None), places.id("t", "1")) == (None, ("t", "1"))
    assert places.id("u", "1") == places.id("v", "1") == (None, "1")
