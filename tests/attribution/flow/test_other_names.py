"""Another name in the place of the right one is another answer, however many words both answers share."""

from __future__ import annotations

import pytest

from attribution.needed.other_names import names_another


@pytest.mark.parametrize(
    ("gold", "answer", "is_other"),
    [
        ("at the farm of Mr Hale", "It is at the farm of Mr Hall.", True),
        ("mevrouw Dekker", "Voor mevrouw Dekkers.", False),
        ("a la taberna Roca", "A la taberna Rosas.", True),
        ("Ilka e Bruno", "Vengono Ilka e Bruna.", True),
        ("Ann Lee", "It was Ann.", False),
        ("Mount Ember", "On Mount Emberly", False),
        ("the United Kingdom", "in the UK", False),
        ("a red car", "A red Volvo", False),
        ("κάθε Πέμπτη", "ΚΑΘΕ ΠΕΜΠΤΗ.", False),  # capitals have no accents
        ("", "Mr Hall", False),
        ("Zach alone", "You and Zach pay.", True),
        ("Захар сам", "Платите ви із Захаром.", True),
        ("nur Wilma", "Wilma und Jost", True),
        ("sólo Inés", "Inés y Pablo.", True),
        ("ザックだけ", "ザックと私です", True),
        ("Zach alone", "Zach pays.", False),
        ("Zach alone", "Only Zach, and he pays in cash.", False),
        ("only on Sundays", "On Sundays, and you may come as well.", False),
        ("only Ann and Ben", "Ann and Ben", False),
        ("Захар", "Ви із Захаром.", False),
    ],
)
def test_names(gold: str, answer: str, is_other: bool) -> None:
    assert names_another([gold], answer) is is_other


def test_one_of_several_gold_answers_may_have_the_name() -> None:
    assert not names_another(["Mr Hale", "Mr Hall"], "Mr Hall")
    assert not names_another([], "Mr Hall")


@pytest.mark.parametrize(
    ("gold", "answer", "is_other"),
    [
        ("lift D", "It goes by lift B.", True),
        ("lift D", "Lift D, as before.", False),
        ("lift D", "by the new lift", False),
        ("I do", "so do I", False),
        ("vitamin C", "vitamin B12", False),
    ],
)
def test_a_single_letter_is_a_name(gold: str, answer: str, is_other: bool) -> None:
    assert names_another([gold], answer) is is_other
