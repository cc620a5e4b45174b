"""Dates in other languages are the same dates in English."""

from __future__ import annotations

import re

import pytest

from attribution.text.other_dates import in_english


def told(text: str) -> list[tuple[str, str]]:
    """The dates of a text as they stand there, and in English."""
    words = set(re.findall("[a-z]+", text.lower()))
    return [(text[first:last], english) for first, last, english in in_english(text, words)]


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Am 3. Mai 2024 war es.", "3 may 2024"),
        ("Am 3. mai war es.", "3 may"),
        ("Es war der 12. März.", "12 march"),
        ("El 3 de mayo de 2024 fue.", "3 may 2024"),
        ("El 3 de septiembre fue.", "3 september"),
        ("C'est le 1er janvier 2024.", "1 january 2024"),
        ("Am 03.05.2024 war es.", "2024-05-03"),
        ("Im Dezember 2023 war es.", "december 2023"),
        ("En diciembre de 2023 fue.", "december 2023"),
        ("Letzten Montag war es.", "last monday"),
        ("Vergangene Woche war es nicht, vorige.", None),
        ("Vergangene woche, im letzten jahr.", "last week | last year"),
        ("Nächsten Sommer, letzte Woche.", "next summer | last week"),
        ("La semana pasada llovió.", "last week"),
        ("L'année dernière, l'an dernier.", "last year | last year"),
        ("El lunes que viene, hoy.", "next monday | today"),
        ("Le mois prochain, demain.", "next month | tomorrow"),
        ("El próximo viernes, ayer.", "next friday | yesterday"),
        ("Vor drei Tagen war es.", "3 days ago"),
        ("Vor 14 Tagen war es.", "14 days ago"),
        ("Hace dos semanas fue.", "2 weeks ago"),
        ("Il y a un an aujourd'hui.", "1 years ago | today"),
        ("In zwei Wochen, morgen.", "in 2 weeks | tomorrow"),
        ("Dentro de cinco días, hoy.", "in 5 days | today"),
        ("Dans dix jours.", "in 10 days"),
        ("Gestern und vorgestern.", "yesterday | day before yesterday"),
        ("Anteayer y mañana.", "day before yesterday | tomorrow"),
        ("Je l'ai vu hier.", "yesterday"),
        ("Ich bin hier heute.", "today"),
        ("Hier ist es schön.", ""),
        ("Am Morgen gestern.", "yesterday"),
        ("por la mañana, ayer", "yesterday"),
        ("Elle est arrivée jeudi, avec sa valise.", "on thursday"),
        ("Dimanche soir, on a dansé.", "on sunday"),
        ("Jeudi dernier, samedi prochain.", "last thursday | next saturday"),
        ("Le marché a lieu le jeudi et chaque dimanche.", ""),
        ("À jeudi ! Je le rends avant mardi.", ""),
        ("C'était jeudi 4 mai, à mardi gras.", "4 may"),
        ("Sono tornato sabato, il sabato dormo.", "on saturday"),
        ("L'altro ieri e tre giorni fa, ieri.", "day before yesterday | 3 days ago | yesterday"),
        ("La settimana scorsa, lo scorso anno, sabato prossimo.", "last week | last year | next saturday"),
        ("Fra due settimane, non in tre giorni, domani.", "in 2 weeks | tomorrow"),
        ("Anteontem, ontem e hoje.", "day before yesterday | yesterday | today"),
        ("Há três dias, faz um mês, duas semanas atrás.", "3 days ago | 1 months ago | 2 weeks ago"),
        ("Na sexta-feira e no sábado.", "on friday | on saturday"),
        ("Chegou na sexta, na segunda vez.", "on friday"),
        ("O ano passado, a semana que vem, daqui a dois meses.", "last year | next week | in 2 months"),
        ("Eergisteren, gisteren en vandaag.", "day before yesterday | yesterday | today"),
        ("Drie dagen geleden, een paar weken geleden.", "3 days ago | a few weeks ago"),
        ("Vor ein paar Tagen.", "a few days ago"),
        ("Vorige maand, afgelopen zaterdag, komende vrijdag.", "last month | last saturday | next friday"),
        ("Over twee maanden, volgend jaar.", "in 2 months | next year"),
        ("Volgende week dinsdag.", "next week"),
        ("Dinsdag zwom ik, elke zondag slaap ik.", "on tuesday"),
        ("Op woensdag, sinds maandag.", "on wednesday | since monday"),
        ("Op donderdag 12 maart 2026, in januari 2025.", "12 march 2026 | january 2025"),
        ("The rent is over 3 weeks late, since April.", ""),
        ("On 3 May 2024 it was.", ""),
        ("In April 2024 it was.", ""),
        ("Nothing about days.", ""),
        ("A version 1.02.3 of it.", ""),
    ],
)
def test_latin_letters(text: str, english: str | None) -> None:
    found = " | ".join(english for _, english in told(text))
    assert found == english or english is None


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("2024年5月3日", "3 may 2024"),
        ("二〇二四年五月三日", "3 may 2024"),
        ("5月3日", "3 may"),
        ("十二月二十五号", "25 december"),
        ("1月", "january"),
        ("12月", "december"),
        ("13月1日", ""),
        ("0月1日", ""),
        ("2023年", "2023"),
        ("我昨天去了", "yesterday"),
        ("前天", "day before yesterday"),
        ("一昨日", "day before yesterday"),
        ("おととい", "day before yesterday"),
        ("きのう", "yesterday"),
        ("きょう行く日", "today"),
        ("あした", "tomorrow"),
        ("今日", "today"),
        ("明天", "tomorrow"),
        ("去年", "last year"),
        ("今年", "this year"),
        ("前年", "2 years ago"),
        ("明年", "next year"),
        ("来年", "next year"),
        ("上个星期", "last week"),
        ("下周", "next week"),
        ("这个月", "this month"),
        ("先月", "last month"),
        ("来週", "next week"),
        ("上周末", "last weekend"),
        ("上周一", "last monday"),
        ("下星期天", "next sunday"),
        ("这周日", "this sunday"),
        ("三天前", "3 days ago"),
        ("两个月前", "2 months ago"),
        ("3週間後", "in 3 weeks"),
        ("十年后", "in 10 years"),
    ],
)
def test_chinese_and_japanese(text: str, english: str) -> None:
    assert " | ".join(english for _, english in told(text)) == english


def test_the_place_is_that_of_the_date() -> None:
    assert told("Es war am 3. Mai 2024, also vor zwei Jahren.") == [
        ("3. Mai 2024", "3 may 2024"),
        ("vor zwei Jahren", "2 years ago"),
    ]
    assert told("我三天前去过。") == [("三天前", "3 days ago")]
