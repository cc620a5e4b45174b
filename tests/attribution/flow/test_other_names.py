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
    ],
)
def test_names(gold: str, answer: str, is_other: bool) -> None:
    assert names_another([gold], answer) is is_other


def test_one_of_several_gold_answers_may_have_the_name() -> None:
    assert not names_another(["Mr Hale", "Mr Hall"], "Mr Hall")
    assert not names_another([], "Mr Hall")
