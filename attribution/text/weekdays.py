"""The days of the week that a text names, in several languages."""

from __future__ import annotations

import re

_NAMES = (
    "mondays? montags? lundis? lunes lunedì segunda-feira maandag måndag понедельник\\w* pazartesi",
    "tuesdays? dienstags? mardis? martes martedì terça-feira dinsdag tisdag вторник\\w* salı",
    "wednesdays? mittwochs? mercredis? miércoles mercoledì quarta-feira woensdag onsdag сред[ауеы] çarşamba",
    "thursdays? donnerstags? jeudis? jueves giovedì quinta-feira donderdag torsdag четверг\\w* perşembe",
    "fridays? freitags? vendredis? viernes venerdì sexta-feira vrijdag fredag пятниц\\w* cuma",
    "saturdays? samstags? sonnabends? samedis? sábados? sabato zaterdag lördag суббот\\w* cumartesi",
    "sundays? sonntags? dimanches? domingos? domenica zondag söndag воскресень\\w* pazar",
)
_DENSE = ("월요일|月曜", "화요일|火曜", "수요일|水曜", "목요일|木曜", "금요일|金曜", "토요일|土曜", "일요일|日曜")
_CHINESE = ("一", "二", "三", "四", "五", "六", "[日天]")
_DAYS = [
    re.compile(rf"\b(?:{names.replace(' ', '|')})\b|{dense}|(?:星期|礼拜|禮拜|周|週){chinese}", re.IGNORECASE)
    for names, dense, chinese in zip(_NAMES, _DENSE, _CHINESE, strict=True)
]


def weekdays(text: str) -> frozenset[int]:
    """The days of the week that a text names; 0 is Monday."""
    return frozenset(day for day, names in enumerate(_DAYS) if names.search(text))


def names_other_weekdays(golds: list[str] | tuple[str, ...], text: str) -> bool:
    """Whether gold answers and text name days of the week, and none in common."""
    wanted = frozenset[int]().union(*(weekdays(gold) for gold in golds))
    said = weekdays(text) if wanted else frozenset()
    return bool(said) and wanted.isdisjoint(said)
