"""Dates in European and East Asian languages, told in English, so that one module knows the calendar.

The languages are German, Dutch, Spanish, French, Italian, Portuguese, Chinese, Japanese and Korean; of Korean only
dates with a month.

``dateparser`` knows more languages, but takes a third of a second to start and a hundredth for each sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from attribution.text.scripts import numeral
from attribution.text.weekdays import DUTCH, ENGLISH, FRENCH, GERMAN, ITALIAN, PORTUGUESE, SPANISH

_MONTH_NAMES = "january february march april may june july august september october november december"
_ENGLISH_MONTHS = _MONTH_NAMES.split()
_ENGLISH_DAYS = ENGLISH.split()
_YEAR = r"(?:19|20)\d\d"
_DAY = r"[0-3]?\d"


def _named(words: str, english: Iterable[str]) -> dict[str, str]:
    """The English word for each word; words with the same meaning are joined by ``/``."""
    return {word: one for some, one in zip(words.split(), english, strict=True) for word in some.split("/")}


_MONTHS = (
    _named(
        "januar/jänner februar märz/maerz april mai juni juli august september oktober november dezember",
        _ENGLISH_MONTHS,
    )
    | _named(
        "januari februari maart april mei juni juli augustus september oktober november december",
        _ENGLISH_MONTHS,
    )
    | _named(
        "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre",
        _ENGLISH_MONTHS,
    )
    | _named(
        "janvier février/fevrier mars avril mai juin juillet août/aout septembre octobre novembre décembre/decembre",
        _ENGLISH_MONTHS,
    )
    | _named(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        _ENGLISH_MONTHS,
    )
    | _named(
        "janeiro fevereiro março/marco abril maio junho julho agosto setembro outubro novembro dezembro",
        _ENGLISH_MONTHS,
    )
)
_BARE_WEEKDAYS = _named(FRENCH, _ENGLISH_DAYS) | _named(ITALIAN, _ENGLISH_DAYS) | _named(DUTCH, _ENGLISH_DAYS)
"""In these languages a day of the week without an article is a single day: with an article, it is each week's."""
_SHORT_WEEKDAYS = _named("segunda terça quarta quinta sexta", _ENGLISH_DAYS[:5])
"""Portuguese words that mean "second" to "sixth", too."""
_WEEKDAYS = {
    word: day
    for names in (GERMAN, DUTCH, SPANISH, FRENCH, ITALIAN, PORTUGUESE)
    for word, day in _named(names, _ENGLISH_DAYS).items()
}
_UNITS = {
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week", "wochenende": "weekend",
    "monat": "month", "monate": "month", "monaten": "month", "jahr": "year", "jahre": "year", "jahren": "year",
    "sommer": "summer", "winter": "winter", "herbst": "autumn", "frühling": "spring", "frühjahr": "spring",
    "dag": "day", "dagen": "day", "week": "week", "weken": "week", "weekend": "weekend", "maand": "month",
    "maanden": "month", "jaar": "year", "jaren": "year", "zomer": "summer", "herfst": "autumn", "najaar": "autumn",
    "lente": "spring", "voorjaar": "spring",
    "día": "day", "dias": "day", "días": "day", "semana": "week", "semanas": "week", "mes": "month", "meses": "month",
    "año": "year", "años": "year", "verano": "summer", "invierno": "winter", "otoño": "autumn", "primavera": "spring",
    "jour": "day", "jours": "day", "semaine": "week", "semaines": "week", "mois": "month", "an": "year", "ans": "year",
    "année": "year", "années": "year", "été": "summer", "hiver": "winter", "automne": "autumn", "printemps": "spring",
    "dia": "day", "mês": "month", "ano": "year", "anos": "year", "verão": "summer", "inverno": "winter",
    "outono": "autumn", "giorno": "day", "giorni": "day", "settimana": "week", "settimane": "week", "mese": "month",
    "mesi": "month", "anno": "year", "anni": "year", "estate": "summer", "autunno": "autumn",
}  # fmt: skip
_ITALIAN = frozenset({"giorno", "giorni", "settimana", "settimane", "mese", "mesi", "anno", "anni"})
_COUNTS = _named(
    "ein/eine/einem/einer/einen/een/un/una/une/um/uma zwei/twee/dos/deux/dois/duas/due "
    "drei/drie/tres/trois/três/tre vier/cuatro/quatre/quatro/quattro fünf/vijf/cinco/cinq/cinque "
    "sechs/zes/seis/six/sei sieben/zeven/siete/sept/sete/sette acht/ocho/huit/oito/otto "
    "neun/negen/nueve/neuf/nove zehn/tien/diez/dix/dez/dieci",
    map(str, range(1, 11)),
) | {"ein paar": "a few", "een paar": "a few"}
_DAYS = {
    "vorgestern": "day before yesterday", "gestern": "yesterday", "heute": "today", "morgen": "tomorrow",
    "eergisteren": "day before yesterday", "gisteren": "yesterday", "vandaag": "today",
    "anteayer": "day before yesterday", "antier": "day before yesterday", "ayer": "yesterday", "hoy": "today",
    "mañana": "tomorrow", "avant-hier": "day before yesterday", "hier": "yesterday", "aujourd'hui": "today",
    "aujourd’hui": "today", "demain": "tomorrow", "anteontem": "day before yesterday", "ontem": "yesterday",
    "hoje": "today", "amanhã": "tomorrow", "l'altro ieri": "day before yesterday", "altroieri": "day before yesterday",
    "ieri": "yesterday", "oggi": "today", "domani": "tomorrow",
}  # fmt: skip


def _one_of(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


_SINCE = ("seit", "sinds", "desde", "depuis")
_MONTH, _WHAT, _WEEKDAY = _one_of(_MONTHS), _one_of([*_UNITS, *_WEEKDAYS]), _one_of(_WEEKDAYS)
_COUNT = rf"(?:\d{{1,3}}|{_one_of(_COUNTS)})"
_PLAIN_DAY = r"(?!,?\s+(?:(?:de[mn]\s+)?\d|pas|próx|que\s|dern|proch|scors|pross))"
"""Rules out that a date or a word such as "last" follows the name of a day."""
_OF_EACH = (
    "elke|iedere|de|een|tot|voor|vanaf|les?|chaque|une?|du|au|ce|à|pour|avant|dès|de|entre|d['’]ici|il|la|i|ogni|una?"
    "|al|alla|d[ae]lla?|di|a|per|entro"
)
"""What makes a day of the week that follows another day than the last one."""
_LATIN = re.compile(
    rf"""
      (?<![\d.])(?P<d1>{_DAY})(?:\.|er)?\s*(?:de\s+)?\b(?P<m1>{_MONTH})\b(?:,?\s+(?:del?\s+)?(?P<y1>{_YEAR}))?
    | (?<![\d.])(?P<d2>{_DAY})\.(?P<m2>[01]?\d)\.(?P<y2>{_YEAR})
    | \b(?P<m3>{_MONTH})\s+(?:del?\s+)?(?P<y3>{_YEAR})
    | \b(?P<back>letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?|afgelopen|scors[oa])\s+(?P<w1>{_WHAT})\b
    | \b(?P<on>nächste[nrsm]?|kommende[nrsm]?|volgende?|komende?|aanstaande)\s+(?P<w2>{_WHAT})\b
    | \b(?P<w3>{_WHAT})\s+(?:pass?ad[oa]|scors[oa]|derni(?:er|ère))\b
    | \b(?P<w4>{_WHAT})\s+(?:(?:próxim|prossim)[oa]|prochaine?|que\s+v(?:iene|em))\b
    | \b(?:próxim|prossim)[oa]\s+(?P<w5>{_WHAT})\b
    | \b(?P<c9>{_COUNT})\s+(?P<w9>{_WHAT})\s+(?:fa|atrás|geleden)\b
    | \b(?:vor|hace|il\s+y\s+a|há|faz)\s+(?P<c6>{_COUNT})\s+(?P<w6>{_WHAT})\b
    | \b(?P<to>in|dentro\s+de|dans|daqui\s+a|[tf]ra|over)\s+(?P<c7>{_COUNT})\s+(?P<w7>{_WHAT})\b
    | \b(?:am|seit|op|sinds|(?:desde\s+)?(?:el|n[oa])|desde|depuis)\s+(?P<w8>{_WEEKDAY})\b{_PLAIN_DAY}
    | (?:\b(?P<each>{_OF_EACH})\s+)?(?<!\bweek\s)\b(?P<bare>{_one_of(_BARE_WEEKDAYS)})\b(?!\s+gras){_PLAIN_DAY}
    | \bna\s+(?P<short>{_one_of(_SHORT_WEEKDAYS)})\b(?=\s*(?:[.,;:!?)]|$|à\b|de\s+manhã))
    | (?<![\w-])(?<!\bla\s)(?<!\bam\s)(?P<day>{_one_of(_DAYS)})(?![\w-])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMERIC = re.compile(r"\d\.\d\d?\.\d")
_FRENCH = re.compile(r"\b(?:le|la|les|je|j|nous|vous|elle|il|on|est|une|et|l|c|au|ma|mon|mes)\b", re.IGNORECASE)
_NUMBER = "(?:[0-9０-９]{1,3}|[〇零一二两兩三四五六七八九十百]{1,8})"
_WEEK = "(?:周|週|星期|礼拜|禮拜)"
_HAN = re.compile(
    rf"""
      (?:(?P<y1>{_YEAR}|[〇零一二三四五六七八九]{{4}})[年년]\s*)?(?P<m1>{_NUMBER})(?:月|월(?!요))
        (?:\s*(?P<d1>{_NUMBER})[日号號일])?
    | (?P<y2>{_YEAR}|[〇零一二三四五六七八九]{{4}})[年년]
    | (?P<day>前天|一昨日|おととい|昨[天日晚夜]|きのう|今[天日晚]|きょう|明[天日晚]|あした)
    | (?P<which>[上下这這本先来來今])(?:个|個|一)?
        (?: {_WEEK}(?P<weekday>[一二三四五六日天])(?![天日]) | (?P<end>[周週]末) | (?P<week>{_WEEK}) | (?P<month>月))
    | (?P<year>去年|昨年|今年|明年|来年|來年|前年)
    | (?P<count>{_NUMBER})(?:[个個ヶかカケ箇])?(?P<unit>[天日周週月年]|星期|礼拜)[間间]?[之以]?(?P<dir>[前后後])
    """,
    re.VERBOSE,
)
_MAY_BE = re.compile("[年년月월日号號天周週昨今明前期きあお]")
_TELLING_WORDS = """
    gisteren eergisteren vandaag geleden vorige afgelopen volgende volgend komende komend aanstaande dag dagen weken
    maand maanden jaar jaren januari februari maart mei augustus oktober maandag dinsdag woensdag donderdag vrijdag
    zaterdag zondag zomer herfst najaar voorjaar
    gestern vorgestern heute morgen vor tag tage tagen woche wochen monat monate monaten jahr jahre jahren
    januar februar rz april mai juni juli august september oktober november dezember
    ayer anteayer antier hoy ana semana semanas mes meses hace enero febrero marzo abril mayo junio julio agosto
    septiembre setiembre octubre noviembre diciembre hier aujourd demain jour jours semaine semaines mois ans janvier
    vrier mars avril juin juillet ao aout septembre octobre novembre cembre pasado pasada dernier derni prochain
    prochaine xima ximo gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro
    mar o marco maio junho julho setembro outubro novembro dezembro
    letzte letzten letzter letztes letztem
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lunes martes rcoles miercoles jueves viernes
    bado sabado domingo lundi mardi mercredi jeudi vendredi samedi dimanche passado passada ontem anteontem hoje amanh
    dia dias ano anos sexta quarta quinta segunda ter ieri altroieri oggi domani giorno giorni settimana settimane mese
    mesi anno anni scorso scorsa luned marted mercoled gioved venerd sabato domenica
"""
_TELLING = frozenset(_TELLING_WORDS.split())
"""Parts of words, cut at letters beyond a to z: a sentence without them has no date in these languages."""
_OF_HAN_UNIT = {
    "天": "day", "日": "day", "周": "week", "週": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year",
}  # fmt: skip
_WAY = {"上": "last", "先": "last", "下": "next", "来": "next", "來": "next"}
_OF_DAY = {
    "前": "day before yesterday", "一": "day before yesterday", "お": "day before yesterday", "昨": "yesterday",
    "今": "today", "明": "tomorrow", "き": "yesterday", "あ": "tomorrow",
}  # fmt: skip
_OF_YEAR = {"去年": "last year", "昨年": "last year", "今年": "this year", "前年": "2 years ago"}


def in_english(text: str, words: set[str]) -> Iterator[tuple[int, int, str]]:
    """The dates of a text in other languages, each with its place and the same date in English.

    Args:
        text: a sentence.
        words: its runs of the letters a to z, in lower case.
    """
    if not words.isdisjoint(_TELLING) or _NUMERIC.search(text):
        yield from _found(_LATIN, text, _latin)
    if not text.isascii() and _MAY_BE.search(text):
        yield from _found(_HAN, text, _han)


def _found(pattern: re.Pattern[str], text: str, told: Callable[[re.Match[str]], str]) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        english = told(match)
        if english:
            yield match.start(), match.end(), english


def _latin(match: re.Match[str]) -> str:
    if match["m1"]:
        month = match["m1"].lower()
        is_english = month in _ENGLISH_MONTHS and match.group()[len(match["d1"])] != "."
        return "" if is_english else f"{match['d1']} {_MONTHS[month]} {match['y1'] or ''}".strip()
    if match["m2"]:
        return f"{match['y2']}-{match['m2']}-{match['d2']}"
    if match["m3"]:
        month = match["m3"].lower()
        return "" if month in _ENGLISH_MONTHS else f"{_MONTHS[month]} {match['y3']}"
    if match["day"]:
        said = match["day"]
        # "Morgen" is the morning; and "hier" is yesterday in French, and here in German.
        is_other = said == "Morgen" or (said.lower() == "hier" and not _FRENCH.search(match.string))
        return "" if is_other else _DAYS[said.lower()]
    for place, way in (("w1", "last"), ("w2", "next"), ("w3", "last"), ("w4", "next"), ("w5", "next")):
        if match[place]:
            return f"{way} {_what(match[place])}"
    if match["w8"]:
        is_past = match.group().lower().startswith(_SINCE)
        return f"{'since' if is_past else 'on'} {_what(match['w8'])}"
    if match["bare"]:
        return "" if match["each"] else f"on {_what(match['bare'])}"
    if match["short"]:
        return f"on {_SHORT_WEEKDAYS[match['short'].lower()]}"
    for count, unit in (("c6", "w6"), ("c9", "w9")):
        if match[unit]:
            return f"{_count(match[count])} {_what(match[unit])}s ago"
    if match["to"].lower() == "in" and match["w7"].lower() in _ITALIAN:
        return ""  # in Italian, how long it took
    return f"in {_count(match['c7'])} {_what(match['w7'])}s"


def _what(word: str) -> str:
    lowered = word.lower()
    return _UNITS.get(lowered) or _WEEKDAYS[lowered]


def _count(word: str) -> str:
    return word if word.isdigit() else _COUNTS[word.lower()]


def _han(match: re.Match[str]) -> str:
    if match["m1"]:
        month = _number(match["m1"])
        if not 1 <= month <= 12:
            return ""
        name, year = _ENGLISH_MONTHS[month - 1], _year(match["y1"])
        return " ".join(filter(None, [match["d1"] and str(_number(match["d1"])), name, year]))
    if match["y2"]:
        return _year(match["y2"])
    if match["day"]:
        return "today" if match["day"] == "きょう" else _OF_DAY[match["day"][0]]
    if match["year"]:
        return _OF_YEAR.get(match["year"], "next year")
    if match["which"]:
        way = _WAY.get(match["which"], "this")
        if match["weekday"]:
            return f"{way} {_ENGLISH_DAYS['一二三四五六日'.find(match['weekday'].replace('天', '日'))]}"
        return f"{way} {'weekend' if match['end'] else 'week' if match['week'] else 'month'}"
    count, unit = _number(match["count"]), _OF_HAN_UNIT[match["unit"]]
    return f"{count} {unit}s ago" if match["dir"] == "前" else f"in {count} {unit}s"


def _number(said: str) -> int:
    return int(said) if said.isdigit() else numeral(said) or 0


def _year(said: str | None) -> str:
    return "" if not said else said if said.isdigit() else str(numeral(said) or "")
