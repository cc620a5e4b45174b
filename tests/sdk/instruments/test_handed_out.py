"""Which of the texts that were given out are recognised later, and what is forgotten first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import pytest
from memtrace.identity import Variable
from memtrace.instruments import handed_out
from memtrace.instruments.handed_out import Given, inside, leaves, remember, rename, same_object, traces_of

FACT = "Mira keeps bees on the roof"
LONGER = f"{FACT} of the old mill"


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    handed_out.forget()
    yield
    handed_out.forget()


def variable(name: str) -> Variable:
    return Variable(name, name, 1, "MemoryUnit", 0)


def give(text: str, trace: str = "t", name: str = "unit") -> Given:
    given = Given(text, trace, variable(name))
    remember(given)
    return given


def test_of_many_values_with_one_text_the_newest_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handed_out, "MAX_SAME_TEXT", 3)
    for number in range(5):
        give(FACT, name=f"v{number}")
    (found,) = inside(f"They say: {FACT}.")
    assert [one.variable.id for one in found.given["t"]] == ["v2", "v3", "v4"]


def test_a_variable_that_is_given_out_again_is_known_once() -> None:
    given = give(FACT)
    remember(given)
    (found,) = inside(FACT)
    assert found.given == {"t": [given]}


def test_of_many_traces_with_one_text_the_last_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handed_out, "MAX_SAME_TRACES", 2)
    for trace in ("a", "b", "a", "c"):
        give(FACT, trace, name=trace)
    assert traces_of(FACT) == ["a", "c"], "a was used after b"


def test_of_many_texts_with_one_beginning_the_newest_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handed_out, "MAX_SAME_BEGINNING", 2)
    texts = [f"{FACT} number {number}" for number in range(4)]
    for text in texts:
        give(text)
    assert [one.text for text in texts for one in inside(f"{text}.")] == texts[2:]


def test_a_text_inside_a_longer_known_text_is_left_out_there_only() -> None:
    for text in (FACT, LONGER):
        give(text)
    assert [one.text for one in inside(f"First: {LONGER}.")] == [LONGER]
    assert [one.text for one in inside(f"{LONGER}. And again: {FACT}!")] == [LONGER, FACT]
    assert [one.text for one in inside(f"{FACT}, {LONGER}, {FACT}")] == [FACT, LONGER]


def test_a_text_that_is_searched_again_has_what_was_given_out_since() -> None:
    prompt = f"Notes: {FACT}. Bo is afraid of thunder."
    give(FACT)
    assert [one.text for one in inside(prompt)] == [FACT]
    give("It is in no prompt at all")
    assert [one.text for one in inside(prompt)] == [FACT]
    give("Bo is afraid of thunder")
    assert [one.text for one in inside(prompt)] == [FACT, "Bo is afraid of thunder"]


@pytest.mark.parametrize(("text", "known"), [("a" * 11, False), ("a" * 12, True), ("  - " + "a" * 12, True)])
def test_short_texts_could_come_from_anywhere(text: str, known: bool) -> None:
    give(text)
    assert [one.text for one in inside(f"so {text} it is")] == [text] * known


def test_what_a_trace_gave_out_becomes_another_trace_s() -> None:
    first, second = give(FACT, "part", "p"), give(FACT, "whole", "w")
    rename("part", "whole")
    assert traces_of(FACT) == ["whole"]
    (found,) = inside(FACT)
    assert found.given["whole"] == [second, first]


def test_an_object_is_known_by_itself() -> None:
    text = "".join(["a text of ", "its own"])
    given = give(text)
    assert same_object(text) is given
    assert same_object("".join(["a text of ", "its own"])) is None
    word = "yes"
    remember(Given(word, "t", variable("w")))
    assert same_object(word) is None, "Python shares short words"
    remember(Given(word, "t", variable("w")), is_own=True)
    assert same_object(word) is not None


def test_the_parts_of_a_value_come_in_order_and_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"a": ["one", ("two", "three")], "b": deque(["four"]), "c": "five"}
    assert [one for one in leaves(value) if isinstance(one, str)] == ["one", "two", "three", "four", "five"]
    nested: object = "deep"
    for _ in range(handed_out.MAX_DEPTH):
        nested = [nested]
    assert "deep" in list(leaves(nested))
    assert "deep" not in list(leaves([nested]))
    monkeypatch.setattr(handed_out, "MAX_SEARCHED", 3)
    assert list(leaves(["one", "two", "three"]))[1:] == ["one", "two"]
