"""What stands out in a memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from attribution.trace.memory_review import Held, review
from attribution.trace.remembered import Memory, Unit, Version
from schema.kinds import VariableKind
from tests.factory import TraceBuilder


def _memory(texts: Sequence[str], read: Sequence[int] = ()) -> Memory:
    """A memory of one unit for each text; ``|`` separates the versions of a unit."""
    trace = TraceBuilder("test", "memory")
    units = []
    for number, text in enumerate(texts):
        made = [
            trace.variable(f"unit {number} {place}", said, kind=VariableKind.MEMORY_UNIT)
            for place, said in enumerate(text.split("|"))
        ]
        units.append(Unit([Version(one, number, None) for one in made]))
    return Memory(units, frozenset(units[one].versions[0].variable.external_id for one in read))


def _texts(some: Sequence[Held]) -> list[str]:
    return [version.variable.preview for _, version in some]


def test_units_that_no_operation_read_are_named() -> None:
    found = review(_memory(["I have a dog.", "I live in Leeds.", "I live in York.|I live in Hull."], read=[0, 2]), None)
    assert found.has_reads
    assert _texts(found.unread) == ["I live in Leeds."]
    assert _texts(found.changed) == ["I live in Hull."]
    unknown = review(_memory(["I have a dog."]), None)
    assert not unknown.has_reads
    assert not unknown.unread


def test_the_same_words_in_two_units_are_there_twice() -> None:
    found = review(_memory(["I have a big brown dog.", "I live in Leeds.", "I have a big, brown dog!", "", ""]), None)
    assert [_texts(group) for group in found.alike] == [["I have a big brown dog.", "I have a big, brown dog!"]]
    assert not found.conflicts


def test_other_numbers_days_and_denials_contradict_and_are_no_copies() -> None:
    texts = [
        "My pottery class is on Thursday evenings",
        "My pottery class is on Monday evenings",
        "We have 2 children at home",
        "We have 3 children at home",
        "I eat fish on my holidays",
        "I do not eat fish on my holidays",
        '{"memory": "The cat sleeps on the red sofa", "timestamp": "2023-05-08T13:56:00"}',
        '{"memory": "The cat sleeps on the red chair", "timestamp": "2024-06-09T13:56:00"}',
    ]
    found = review(_memory(texts), None)
    assert [_texts(pair) for pair in found.conflicts] == [texts[0:2], texts[2:4], texts[4:6]]
    assert not found.alike


@pytest.mark.parametrize(
    ("one", "other", "conflicts", "alike"),
    [
        ("tea at five", "tea at six", 0, 0),  # fewer than three words beside the values
        ("she drinks tea at 5", "she drinks tea at 6", 1, 0),
        ("she drinks tea at 5", "she drinks tea", 0, 0),  # the other has no value
        ("she drinks tea", "she never drinks tea", 1, 0),
        ("she doesn't drink tea", "she doesn\u2019t drink tea", 0, 1),
        ("she never drinks tea at 5", "she never drinks tea at 6", 1, 0),
        ("she never drinks tea", "she won't drinks tea", 1, 0),
        ("in March she went home", "in May she went home", 1, 0),
        ("a b c d e 1", "a b c x y 2", 0, 0),
        ("a b c d e 1", "a b c d x 2", 1, 0),
        ("the cat was here at 2024-05-06T10:00:00Z", "the cat was here at 2025-07-08 11:00", 0, 1),
    ],
)
def test_what_contradicts_and_what_is_there_twice(one: str, other: str, conflicts: int, alike: int) -> None:
    found = review(_memory([one, other]), None)
    assert (len(found.conflicts), len(found.alike)) == (conflicts, alike)


def test_units_with_most_versions_come_first_and_the_newest_units_count(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["one|two", "other", "first|second|third"]
    found = review(_memory(texts), None)
    assert _texts(found.changed) == ["third", "two"]
    monkeypatch.setattr("attribution.trace.memory_review.MOST_UNITS", 2)
    assert _texts(review(_memory(texts, read=[0]), None).unread) == ["other", "third"]


def test_of_many_units_about_the_same_only_some_are_compared() -> None:
    found = review(_memory([f"she drinks tea at {number}" for number in range(21)]), None)
    assert len(found.conflicts) == 20 * 19 // 2


def test_a_moment_shows_the_units_of_then() -> None:
    memory = _memory(["I have a dog now.", "I have a dog now."])
    assert not review(memory, 0).alike
    assert len(review(memory, 1).alike) == 1
