"""Days that are named by a day of the month and a month, in digits or in the words of many languages.

Only days of the year are compared, so that ``18.06.`` and ``18 czerwca`` are the same. ``dates`` reads dates in fewer
languages, and knows the calendar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from attribution.text.intervals import Interval
from attribution.text.scripts import folded
from attribution.text.tokens import tokens

_MONTHS = """
january januar enero janvier gennaio janeiro januari tammikuuta tammikuu stycznia styczeń ledna leden januára
január siječnja siječanj січня січень января январь студзеня студзень януари ocak जनवरी gener ianuarie
ιανουαρίου ιανουάριος يناير ژانویه |
february februar febrero février febbraio fevereiro februari helmikuuta helmikuu lutego luty února únor februára
február veljače veljača лютого лютий февраля февраль лютага люты февруари şubat फ़रवरी febrer februarie
φεβρουαρίου φεβρουάριος فبراير فوریه |
march märz marzo mars março maart marts maaliskuuta maaliskuu marca marzec března březen marec ožujka ožujak
березня березень марта март сакавіка сакавік mart मार्च març martie március μαρτίου μάρτιος maret مارس |
april abril avril aprile huhtikuuta huhtikuu kwietnia kwiecień dubna duben apríla apríl travnja travanj квітня
квітень апреля апрель красавіка красавік април nisan अप्रैल aprilie április απριλίου απρίλιος أبريل آوریل |
may mai mayo maggio maio mei maj toukokuuta toukokuu maja května květen mája máj svibnja svibanj травня травень
мая май mayıs मई maig május μαΐου μάιος مايو مه |
june juni junio juin giugno junho kesäkuuta kesäkuu czerwca czerwiec června červen júna jún junij lipnja lipanj
червня червень июня июнь чэрвеня чэрвень юни haziran जून juny iunie június ιουνίου ιούνιος يونيو ژوئن |
july juli julio juillet luglio julho heinäkuuta heinäkuu lipca lipiec července červenec júla júl julij srpnja
srpanj липня липень июля июль ліпеня ліпень юли temmuz जुलाई juliol iulie július ιουλίου ιούλιος يوليو ژوئیه |
august agosto août augustus augusti elokuuta elokuu sierpnia sierpień srpna srpen augusta avgust kolovoza
kolovoz серпня серпень августа август жніўня жнівень ağustos अगस्त agost augusztus αυγούστου αύγουστος agustus
أغسطس اوت |
september septiembre septembre settembre setembro syyskuuta syyskuu września wrzesień září septembra rujna rujan
вересня вересень сентября сентябрь верасня верасень септември eylül सितंबर setembre septembrie szeptember
σεπτεμβρίου σεπτέμβριος سبتمبر سپتامبر |
october oktober octubre octobre ottobre outubro lokakuuta lokakuu października październik října říjen októbra
október listopada listopad жовтня жовтень октября октябрь кастрычніка кастрычнік октомври ekim अक्टूबर octombrie
οκτωβρίου οκτώβριος أكتوبر اکتبر |
november noviembre novembre novembro marraskuuta marraskuu listopada listopad listopadu novembra studenoga
studeni листопада листопад ноября ноябрь лістапада лістапад ноември kasım नवंबर noiembrie νοεμβρίου νοέμβριος
نوفمبر نوامبر |
december dezember diciembre décembre dicembre dezembro desember joulukuuta joulukuu grudnia grudzień prosince
prosinec decembra prosinca prosinac грудня грудень декабря декабрь снежня снежань декември aralık दिसंबर
desembre decembrie δεκεμβρίου δεκέμβριος ديسمبر دسامبر
"""
"""The names of the months in Unicode's CLDR (wide, as in a date and alone) of 29 languages, from January on."""
_NAMED: dict[str, set[int]] = {}
for _place, _names in enumerate(_MONTHS.split("|"), 1):
    for _name in _names.split():
        _NAMED.setdefault(folded(_name), set()).add(_place)
_DIGITS = re.compile(r"(?<![\d/.,:-])(\d{1,2})([/.-])(\d{1,2})(?:\2(?:(?:19|20)?\d\d)?)?(?![\d/:-])")
_BETWEEN = re.compile(
    r"(?:st|nd|rd|th|er|º|ª|\.|-?го|['’]?(?:an|en|te|de))?[\s.,-]*(?:of\s+|de\s+|d['’]\s*|the\s+)?", re.IGNORECASE
)
"""What may stand between the day and the name of its month."""
_YEAR = re.compile(r"[\s,.]*(?:de\s+|del\s+|r\.\s*)?((?:19|20)\d\d)\b")
_LAST_MONTH, _LAST_DAY = 12, 31


class NamedDay(NamedTuple):
    """A day at ``text[start:end]``: all its readings, as month and day of the month."""

    start: int
    end: int
    readings: frozenset[tuple[int, int]]
    is_word: bool


def named_days(text: str) -> list[NamedDay]:
    """The days of a text: in digits (``18.06.``, ``6/18``), or with the name of the month (``18 czerwca``)."""
    found = []
    for match in _DIGITS.finditer(text):
        some, other = int(match[1]), int(match[3])
        readings = {(month, day) for month, day in ((some, other), (other, some)) if _is_day(month, day)}
        if readings:
            found.append(NamedDay(match.start(), match.end(), frozenset(readings), is_word=False))
    said = tokens(text)
    for before, after in pairwise(said):
        for name, count in ((after, before), (before, after)):
            digits = re.match(r"\d{1,2}(?!\d)", count.word)
            if name.word in _NAMED and digits and _BETWEEN.fullmatch(text, before.end, after.start):
                days = {(month, int(digits[0])) for month in _NAMED[name.word] if _is_day(month, int(digits[0]))}
                if days:
                    found.append(NamedDay(before.start, after.end, frozenset(days), is_word=True))
    return found


def days_in_words(text: str, wanted: Sequence[Interval]) -> list[Interval]:
    """The wanted days that a text names with the name of the month, in any of the languages here.

    Args:
        text: to read.
        wanted: the days in question, whose year counts where the text tells none.
    """
    days = [(one, date.fromordinal(one.first)) for one in wanted if one.first == one.last]
    found = []
    for named in named_days(text) if days else ():
        year = _YEAR.match(text, named.end)
        found += [
            one
            for one, day in days
            if named.is_word and (day.month, day.day) in named.readings and (year is None or int(year[1]) == day.year)
        ]
    return found


def _is_day(month: int, day: int) -> bool:
    return 1 <= month <= _LAST_MONTH and 1 <= day <= _LAST_DAY


def same_named_days(one: str, other: str) -> tuple[list[NamedDay], list[NamedDay]]:
    """The days of two texts that are the same, where one of both is in digits and one is in words."""
    some, others = named_days(one), named_days(other)
    pairs = [(day, same) for day in some for same in others
             if day.is_word is not same.is_word and day.readings & same.readings]  # fmt: skip
    return [day for day, _ in pairs], [same for _, same in pairs]
