"""What one of two answers gives, and sentences that tell this value or do not."""

from __future__ import annotations

from datetime import date

import pytest

from attribution.needed.answer_value import AnswerValue, value_of
from attribution.needed.content import Content, Rarity, content
from attribution.text.segments import passage

DAY = date(2026, 3, 2).toordinal()
PLAIN = Rarity(())


def value(text: str, other: str, *, is_sure: bool = True) -> AnswerValue | None:
    return value_of(content(text, PLAIN, DAY), text, other, is_sure=is_sure)


@pytest.mark.parametrize(
    ("answer", "other", "sentence", "is_told"),
    [
        ("on 9 March", "on 5 March", "my slot is now Monday the 9th at 8", True),
        ("on 9 March", "on 5 March", "it stays on 5 March", False),
        ("on 9 March", "on 5 March", "I have 9 on 5 March", False),
        ("on Thursdays, at five", "on Tuesdays", "the lesson is on Thursday", True),
        ("on Thursdays, at five", "on Tuesdays", "the lesson is on Tuesday", False),
        ("35, as five were broken", "40", "that leaves thirty-five", True),
        ("35, as five were broken", "40", "five were broken", False),
        ("with Mr Ferreira at the sawmill", "with Mrs Brandt", "Ferreira at the sawmill has it, Mr Lowe says", True),
        ("with Mr Ferreira at the sawmill", "with Mrs Brandt", "the sawmill is closed", False),
        ("Marius", "Dilnoza", "Marius is on call", True),
    ],
)
def test_a_sentence_tells_a_value(answer: str, other: str, sentence: str, is_told: bool) -> None:
    found = value(answer, other)
    assert found is not None
    assert any(found.is_told(placed) for placed in passage(sentence, DAY)) is is_told


@pytest.mark.parametrize(("answer", "other"), [("a happy one", "a grey one"), ("40 of them", "the 40"), ("", "40")])
def test_what_any_sentence_may_tell_is_no_value(answer: str, other: str) -> None:
    assert value(answer, other) is None


def test_one_word_is_a_value_where_chance_does_not_matter() -> None:
    assert value("in the cathedral", "in the barn", is_sure=False) is not None


def test_a_speakers_name_is_a_value_though_no_content() -> None:
    assert value_of(Content({}, frozenset(), ()), "Marius", "Dilnoza") is not None
