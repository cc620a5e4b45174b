"""Numbers, times and days of the year that both answers tell, in different words of many languages."""

from __future__ import annotations

import pytest

from attribution.needed.content import Rarity, content
from attribution.needed.gold_agreement import agreement
from attribution.text.clock import times
from attribution.text.halves import halved
from attribution.text.named_days import named_days
from attribution.text.wanted_numbers import told

_PLAIN = Rarity(())


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Weekday evenings, after 18:00", "Ring on weekday evenings, after six."),
        ("nach 19 Uhr", "Abends, nach sieben."),
        ("Um 7:45 Uhr", "Der Bus fährt Viertel vor acht."),
        ("à 20h", "Le soir, à huit heures."),
        ("às 21:30", "À noite, às nove e meia."),
        ("22.09.", "Zebranie jest 22 września."),
        ("3 июля", "Это будет 03.07."),
        ("18. června", "Odevzdáme to 18.6."),
        ("5/12", "5 Aralık"),
        ("2026-09-22", "22 września 2026"),
        ("7", "सात कुर्सियाँ।"),
        ("दो", "2"),
        ("24", "चौबीस"),
        ("5", "خمسة"),
        ("9", "São nove, e é o que está na lista."),
        ("Duas", "2"),
        ("39,5", "Porta il 39 e mezzo."),
        ("39 e mezzo", "Porta il 39,5."),
        ("quatro quilos e meio", "4,5 quilos"),
        ("Três semanas", "21 dias"),
        ("Duas semanas", "Quinze dias"),
        ("Twee weken", "Veertien dagen"),
        ("Två veckor", "Fjorton dagar"),
        ("dwa tygodnie", "14 dni"),
        ("Две недели", "14 дней"),
        ("60 Tage", "zwei Monate"),
        ("30 días", "un mes"),
    ],
)
def test_the_same_in_other_words(gold: str, answer: str) -> None:
    found = agreement(content(gold, _PLAIN), answer, [gold])
    assert found.recall == 1.0
    assert not found.conflicts


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("After 18:00", "In the evening, before six."),
        ("In the evening, after 18:00", "In the evening, after seven."),
        ("bis 14 Uhr", "Ab 14 Uhr."),
        ("at least two weeks", "At most 14 days."),
        ("22.09.", "23 września"),
        ("7", "आठ कुर्सियाँ।"),
        ("39,5", "Porta il 38 e mezzo."),
        ("Duas semanas", "Um mês"),
        ("2026-09-22", "22 września 2025"),
    ],
)
def test_another_in_other_words(gold: str, answer: str) -> None:
    found = agreement(content(gold, _PLAIN), answer, [gold])
    assert found.conflicts or found.recall < 1.0


def test_a_word_of_another_language_is_a_number_only_beside_that_number() -> None:
    assert told([10], "São dez pessoas, e eu não sei.") == {10.0}
    assert told([8], "Der Otto ist acht Jahre alt, und er ist nicht da.") == frozenset()
    assert told([6], "She wears a hat.") == frozenset()
    assert told([11], "Undici") == {11.0}


def test_a_part_of_the_day_before_a_time_is_of_the_time() -> None:
    assert [one.minutes for one in times("in the evening, after six")] == [18 * 60]
    assert [one.minutes for one in times("abends um sechs am Bahnhof")] == [18 * 60]
    assert [one.minutes for one in times("på kvällen efter 6")] == [18 * 60]
    assert times("in the morning, 5 apples") == []


def test_only_where_a_time_is_wanted_a_number_is_one() -> None:
    assert times("after six.") == []
    assert [one.minutes for one in times("after six.", is_wanted=True)] == [6 * 60]
    assert times("after six days", is_wanted=True) == []


def test_a_half_stands_after_a_number() -> None:
    assert halved("38 e mezzo") == {38.0}
    assert halved("three kilos and a half, or 7½") == {3.0, 7.0}
    assert halved("half of 38") == frozenset()


def test_a_name_of_a_month_may_be_two_months() -> None:
    (day,) = named_days("7 listopada")
    assert day.readings == {(10, 7), (11, 7)}
    assert named_days("17/40 of them, in May") == []
