"""Answers that nobody judged, by the gold answers of the same question: right, wrong, or not decided."""

from __future__ import annotations

import pytest

from attribution.compare.known_gold import judged

QUESTION = "On which day is the class?"


@pytest.mark.parametrize(
    ("answer", "golds", "wrong", "is_right"),
    [
        ("It is on Thursday.", ["Thursday"], None, True),
        ("thursday", ["Thursday"], None, True),
        ("On monday!", ["Thursday"], "On Monday.", False),
        ("It is on Monday.", ["Thursday"], "Never.", False),
        ("On 7 May 2023.", ["9 May 2023"], None, False),
        ("I do not know.", ["Thursday"], None, False),
        ("", ["Thursday"], None, False),
        ("I do not know.", ["Sorry, I don't know the answer."], None, True),
        ("It is on Monday.", ["Sorry, I don't know the answer."], None, None),
        ("Every week.", ["Thursday"], None, None),
        ("It is on Thursday.", [], None, None),
        ("It is on Thursday.", [], "It is on Thursday", False),
        ("At the house", ["Kiln House"], None, None),
        ("The class?", ["the class"], None, True),
    ],
)
def test_an_answer_is_judged_by_proof_alone(
    answer: str, golds: list[str], wrong: str | None, is_right: bool | None
) -> None:
    assert judged(answer, QUESTION, golds, wrong) is is_right
