"""Amounts and times of day are read in digits and in words, and compared across units."""

from __future__ import annotations

import pytest

from attribution.needed.content import Rarity, content
from attribution.needed.gold_agreement import agreement, tells_another_amount
from attribution.text.amounts import amounts
from attribution.text.clock import times
from attribution.text.money import money


@pytest.mark.parametrize(
    ("text", "sort", "value"),
    [
        ("three weeks", "duration", 1_814_400),
        ("a fortnight", "duration", 1_209_600),
        ("It took half an hour.", "duration", 1800),
        ("three quarters of an hour", "duration", 2700),
        ("two and a half hours", "duration", 9000),
        ("an hour and a half", "duration", 5400),
        ("one hour and 20 minutes", "duration", 4800),
        ("forty-five minutes", "duration", 2700),
        ("thirty minutes", "duration", 1800),
        ("mezz'ora", "duration", 1800),
        ("media hora", "duration", 1800),
        ("eine halbe Stunde", "duration", 1800),
        ("drei Wochen", "duration", 1_814_400),
        ("quinze jours", "duration", 1_296_000),
        ("due settimane", "duration", 1_209_600),
        ("1,500 m", "length", 1500),
        ("1.5 km", "length", 1500),
        ("anderthalb Meter", "length", 1.5),
        ("1,5 Meter", "length", 1.5),
        ("zweieinhalb Stunden", "duration", 9000),
        ("3 kg", "mass", 3000),
        ("12 %", "share", 0.12),
        ("twelve per cent", "share", 0.12),
        ("il dodici per cento", "share", 0.12),
        ("zwölf Prozent", "share", 0.12),
        ("two years", "months", 24),
    ],
)
def test_amounts(text: str, sort: str, value: float) -> None:
    (found,) = amounts(text)
    assert found.sort == sort
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize("text", ["I play well", "5 per centre", "per cent", "room 12 is free", "the second house"])
def test_no_amounts(text: str) -> None:
    assert amounts(text) == []


@pytest.mark.parametrize(
    ("text", "minutes", "is_exact"),
    [
        ("at 9:15", 555, True),
        ("quarter past nine", 555, False),
        ("twenty to four", 220, False),
        ("half past two", 150, False),
        ("seven o'clock in the evening", 1140, True),
        ("4 pm", 960, True),
        ("noon", 720, True),
        ("halb acht", 450, False),
        ("om half drie", 150, False),
        ("om half drie 's middags", 870, True),
        ("kwart voor tien", 585, False),
        ("tien over half acht", 460, False),
        ("vijf voor twaalf", 715, False),
        ("klockan halv åtta", 450, False),
        ("kvart i tre", 165, False),
        ("fem över halv sju", 395, False),
        ("kvart på ni", 525, False),
        ("Viertel vor drei", 165, False),
        ("16.45 Uhr", 1005, True),
        ("a las cuatro de la tarde", 960, True),
        ("las siete y media", 450, False),
        ("às quatro da tarde", 960, True),
        ("às 16h30", 990, True),
        ("trois heures de l'après-midi", 900, True),
        ("alle sette e mezza", 450, False),
        ("alle 6:45", 405, True),
        ("om 17.00 uur", 1020, True),
        ("om vijf uur", 300, False),
        ("19時30分に始まる", 1170, True),
        ("七時半", 450, False),
        ("午後七時半", 1170, True),
        ("晚上八点", 1200, True),
        ("下午三点一刻", 915, True),
        ("오후 일곱 시 반", 1170, True),
        ("저녁 여덟 시", 1200, True),
    ],
)
def test_times(text: str, minutes: int, is_exact: bool) -> None:
    (found,) = times(text)
    assert (found.minutes, found.is_exact) == (minutes, is_exact)


@pytest.mark.parametrize(
    "text",
    [
        "two to four cats",
        "5 to 7 days",
        "seven people",
        "les trois heures de route",
        "16",
        "三時間",
        "wel vijf uur lang",
        "half to me and half to you",
        "half of eleven",
        "ik heb er vijf over",
        "zes voor Tom",
        "两点建议",
        "세 시간",
    ],
)
def test_no_times(text: str) -> None:
    assert times(text) == []


def _agrees(gold: str, answer: str) -> bool:
    found = agreement(content(gold, Rarity(())), answer, [gold])
    return found.recall > 0.55 and not found.conflicts


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("three weeks", "It lasts 21 days."),
        ("40 minutes", "two thirds of an hour or 40 minutes"),
        ("quarter past nine", "At 9:15."),
        ("half past two", "14:30"),
        ("às quatro da tarde", "Às 16h."),
        ("3 kg", "3000 grams"),
        ("70-245", "It is 70-245."),
        ("1200 euro", "Costa 1.200 €."),
        ("SEK 3,100", "It is 3100 Swedish kronor."),
        ("half a decade ago", "five years ago"),
        ("a decade ago", "It closed ten years ago."),
        ("two dozen", "24 of them"),
        ("vierzehn Tage", "zwei Wochen"),
        ("the European Union", "In the EU."),
        ("soixante-dix-huit ans", "Elle a 78 ans."),
        ("trinta e dois dias", "32 dias"),
        ("3:07", "three hours and seven minutes"),
        ("18 minutes and 40 seconds", "In 18:40."),
        ("1:12:05", "1 hour, 12 minutes and 5 seconds"),
        ("5 novembre 2027", "Il 5/11/2027"),
        ("el doce por ciento", "Tiene usted un 12 %."),
        ("two pounds forty", "She asks £2.40 for each."),
        ("£2.40", "It is two pounds forty a loaf."),
        ("$20", "I paid 20 dollars two years ago."),
        ("$20", "I paid 20 dollars twelve years ago."),
        ("$5", "He gave 5 dollars 30 times."),
        ("drei Euro fünfzig", "Das kostet 3,50 €."),
        ("five dollars and twenty-five cents", "It was $5.25."),
        ("die drei Wochen", "21 Tage"),
    ],
)
def test_the_same_measure(gold: str, answer: str) -> None:
    assert _agrees(gold, answer)
    assert not tells_another_amount(gold, answer)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("three weeks", "three months"),
        ("three weeks", "20 days"),
        ("quarter past nine", "At 9:45."),
        ("3 kg", "300 grams"),
        ("el doce por ciento", "Tiene usted un 21 %."),
        ("two pounds forty", "£2.14"),
        ("70-245", "It is 70-254."),
        ("210 Euro", "180 Euro"),
        ("1200 euro", "Costa 1.200 dollari, cioè $1,200."),
        ("3 plates and 4 cups", "3 plates and 5 cups"),
        ("19 April 2024", "20 April 2024"),
        ("3:07", "three hours and nine minutes"),
        ("soixante-dix-huit ans", "Elle a 68 ans."),
        ("quatre-vingt-trois ans", "84 ans"),
        ("18 minutes and 40 seconds", "In 18:41."),
        ("three hours and forty minutes", "three hours and forty-one minutes"),
        ("5 novembre 2027", "Il 6/11/2027"),
        ("Mondays and Fridays", "Mondays and Sundays"),
    ],
)
def test_another_measure(gold: str, answer: str) -> None:
    assert not _agrees(gold, answer)
    assert tells_another_amount(gold, answer)


def test_initials_of_two_letters_meet_a_name_by_chance() -> None:
    assert not _agrees("Peter Maier", "At 5 PM.")
    assert _agrees("the European Space Agency", "It was ESA.")


@pytest.mark.parametrize("text", ["she won 15 games", "Team won 2 000", "I won 3 medals"])
def test_a_verb_is_no_currency(text: str) -> None:
    assert money(text) == []
    assert [one.value for one in money("it costs 3,000 won")] == [3000]


def test_an_answer_with_two_amounts_is_compared_by_its_words() -> None:
    assert not _agrees("three weeks", "It lasts 21 days, and the way there takes 4 days.")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("quince días", "dos semanas", True),
        ("quinze jours", "two weeks", True),
        ("quindici giorni", "15 giorni", True),
        ("quinze jours", "16 days", False),
        ("15 days", "two weeks", False),
        ("a quarter pound", "4 ounces", True),
    ],
)
def test_amounts_in_idioms(one: str, other: str, same: bool) -> None:
    (first,), (second,) = amounts(one), amounts(other)
    assert (first.same(second), second.same(first)) == (same, same)
