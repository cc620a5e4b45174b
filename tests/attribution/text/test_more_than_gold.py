"""Answers that have the words of the right answer, and give more, or something else first."""

from __future__ import annotations

import pytest

from attribution.needed.more_than_gold import gives_more


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("six", "Five: six had hatched, one was dead.", "How many chicks were ringed?"),
        ("Jule", "Both: Oskar on weekdays, Jule on weekends.", "Who does the dishes?"),
        ("Lenz", "Der Hias, vom alten Lenz.", "Wer hat die Schleuder bekommen?"),
        ("hives 1, 2 and 3", "Hives 1 and 2; number 3 was left out.", "Which hives did he treat?"),
        ("shoes and the scarf", "Shoes, the scarf, a torch and water.", "What must every singer pack?"),
        ("la rainette verte", "la rainette verte et le triton crêté", "Quels amphibiens a-t-elle trouvés ?"),
    ],
)
def test_the_answer_gives_more(gold: str, answer: str, question: str) -> None:
    assert gives_more([gold], answer, question)
    assert not gives_more([gold, answer], answer, question)


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("two days", "48 hours", "How many hours does it last?"),
        ("six", "Six, at noon.", "How many chicks were ringed?"),
        ("six", "In 2025 it was six.", "How many chicks were ringed in 2025?"),
        ("Jule", "Jule, and only on weekends.", "Who does the dishes?"),
        ("in Berlin", "in Kreuzberg, Berlin", "Where does Jule live?"),
        ("without sugar", "without any sugar", "How does she drink tea?"),
        ("Tuesday and Friday", "on Friday and Tuesday", "When does the club meet?"),
    ],
)
def test_the_answer_gives_the_same(gold: str, answer: str, question: str) -> None:
    assert not gives_more([gold], answer, question)


def test_without_a_right_answer_nothing_is_more() -> None:
    assert not gives_more([], "five", "How many?")
