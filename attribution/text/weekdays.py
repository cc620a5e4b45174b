"""The days of the week that a text names, in several languages."""

from __future__ import annotations

import re

# The days from Monday on; several words for one day are joined by a slash.
ENGLISH = "monday tuesday wednesday thursday friday saturday sunday"
GERMAN = "montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag"
SPANISH = "lunes martes miércoles/miercoles jueves viernes sábado/sabado domingo"
FRENCH = "lundi mardi mercredi jeudi vendredi samedi dimanche"
ITALIAN = "lunedì martedì mercoledì giovedì venerdì sabato domenica"
DUTCH = "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"
PORTUGUESE = "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo"
_LATIN = (
    ENGLISH,
    GERMAN,
    SPANISH,
    FRENCH,
    ITALIAN,
    PORTUGUESE,
    DUTCH,
    "måndag tisdag onsdag torsdag fredag lördag söndag",
    "pazartesi salı çarşamba perşembe cuma cumartesi pazar",
)
_RUSSIAN = "понедельник\\w* вторник\\w* сред[ауеы] четверг\\w* пятниц\\w* суббот\\w* воскресень\\w*"
_DENSE = ("월요일|月曜", "화요일|火曜", "수요일|水曜", "목요일|木曜", "금요일|金曜", "토요일|土曜", "일요일|日曜")
_CHINESE = ("一", "二", "三", "四", "五", "六", "[日天]")
_NAMES = ["|".join(names).replace("/", "|") for names in zip(*(one.split() for one in _LATIN), strict=True)]
_DAYS = [
    re.compile(rf"\b(?:(?:{latin})s?|{russian})\b|{dense}|(?:星期|礼拜|禮拜|周|週){chinese}", re.IGNORECASE)
    for latin, russian, dense, chinese in zip(_NAMES, _RUSSIAN.split(), _DENSE, _CHINESE, strict=True)
]


def weekdays(text: str) -> frozenset[int]:
    """The days of the week that a text names; 0 is Monday."""
    return frozenset(day for day, names in enumerate(_DAYS) if names.search(text))


def names_other_weekdays(golds: list[str] | tuple[str, ...], text: str) -> bool:
    """Whether gold answers and text name days of the week, and none in common."""
    wanted = frozenset[int]().union(*(weekdays(gold) for gold in golds))
    said = weekdays(text) if wanted else frozenset()
    return bool(said) and wanted.isdisjoint(said)
