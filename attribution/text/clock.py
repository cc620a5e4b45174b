"""Times of day, in digits and in words: ``14:30``, ``half past two``, ``halb drei``, ``às três``, ``六時半``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attribution.text.day_parts import bound, part_before, stands_alone
from attribution.text.other_clock import other_times

_HALF_DAY, _DAY = 720, 1440
_NAMES = (
    ("one", "ein", "eins", "una", "uma", "une", "l'una", "een"),
    ("two", "zwei", "dos", "duas", "deux", "due", "twee"),
    ("three", "drei", "tres", "três", "trois", "tre", "drie"),
    ("four", "vier", "cuatro", "quatro", "quatre", "quattro"),
    ("five", "fünf", "cinco", "cinq", "cinque", "vijf"),
    ("six", "sechs", "seis", "sei", "zes"),
    ("seven", "sieben", "siete", "sete", "sept", "sette", "zeven"),
    ("eight", "acht", "ocho", "oito", "huit", "otto"),
    ("nine", "neun", "nueve", "nove", "neuf", "negen"),
    ("ten", "zehn", "diez", "dez", "dix", "dieci", "tien"),
    ("eleven", "elf", "once", "onze", "undici"),
    ("twelve", "zwölf", "doce", "doze", "douze", "dodici", "twaalf"),
)
_HOURS = {name: hour for hour, names in enumerate(_NAMES, 1) for name in names}
_MINUTES = _HOURS | {
    "fifteen": 15, "twenty": 20, "twenty-five": 25, "zwanzig": 20, "fünfundzwanzig": 25, "veinte": 20, "vinte": 20,
    "vingt": 20, "venti": 20, "quinze": 15, "thirty": 30,
}  # fmt: skip
_NORTHERN = {
    name: hour
    for hour, names in enumerate(
        (
            ("een", "één", "ett", "et"), ("twee", "två", "to"), ("drie", "tre"), ("vier", "fyra", "fire"),
            ("vijf", "fem"), ("zes", "sex", "seks"), ("zeven", "sju", "syv"), ("acht", "åtta", "åtte", "otte"),
            ("negen", "nio", "ni"), ("tien", "tio", "ti"), ("elf", "elva", "elleve"), ("twaalf", "tolv"),
        ),
        1,
    )
    for name in names
}  # fmt: skip
"""Hours in Dutch, Swedish, Norwegian and Danish, which count a half hour towards the next hour."""
_TWENTY = {"twintig": 20, "tjugo": 20, "tyve": 20}
_AFTER = frozenset({"over", "över", "efter"})


def _one_of(names: Sequence[str]) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + ")"


_HOUR = rf"(?:[01]?\d|2[0-4]|{_one_of([*_HOURS])})"
_MINUTE = rf"(?:[0-5]?\d|{_one_of([*_MINUTES])})"
_NORTH = _one_of([*_NORTHERN])
_PART = r"""(?:[\s,]*(?:
      (?P<{0}am>a\.?m\b\.?|in\s+the\s+morning|(?:['’]s\s+)?(?:morgens|ochtends)|vormittags|de\s+la\s+mañana|da\s+manhã|du\s+matin|d(?:i|el)\s+mattin[ao])
    | (?P<{0}pm>p\.?m\b\.?|in\s+the\s+(?:afternoon|evening)|at\s+night|nachmittags|abends
        |(?:['’]s\s+)?(?:middags|avonds)|de\s+la\s+(?:tarde|noche)
        |da\s+(?:tarde|noite)|de\s+l['’]après-midi|du\s+soir|d(?:i|el)\s+(?:pomeriggio|sera))))"""
_READ = re.compile(
    rf"""
      (?<![\d:.,])(?P<h1>[01]?\d|2[0-4]):(?P<m1>[0-5]\d)(?![\d:])(?:\s*(?:uhr|uur|horas|heures|ore|h|hrs|o['’]clock)\b)?
        {_PART.format("a")}?
    | \b(?:half|(?P<q2>(?:a\s+)?quarter)|(?P<m2>{_MINUTE})(?:\s+minutes?)?)\s+(?P<to2>past|after|to|before)\s+
        (?P<h2>{_HOUR})\b{_PART.format("b")}?
    | \bhalb\s+(?P<h3>{_HOUR})\b{_PART.format("c")}?
    | \b(?:(?P<q4>viertel)|(?P<m4>{_MINUTE})(?:\s+minuten)?)\s+(?P<to4>nach|vor)\s+(?P<h4>{_HOUR})\b{_PART.format("d")}?
    | \b(?:(?:(?P<q8>k[wv]art)|(?P<m8>{_NORTH}|twintig|tjugo|tyve)(?:\s+minut(?:en|er|ter))?)
          \s+(?P<to8>over|voor|över|efter|före|før|i|på)\s+(?P<half8>hal[fv]\s+)?
        |(?P<alone8>half(?!\s+to\b)|halv)\s+)(?P<h8>{_NORTH})\b{_PART.format("h")}?
    | (?<![\d:.,])\b(?P<h5>{_HOUR})
        (?:\s*o['’]clock\b|(?:[.](?P<n5>[0-5]\d))?\s+uhr\b(?:\s+(?P<m5>[0-5]\d)\b)?|[.](?P<u5>[0-5]\d)\s+uur\b){_PART.format("e")}?
    | (?<![\d:.,])\b(?P<h6>{_HOUR})\s*(?:h(?![^\W\d])|heures?\b)\s*(?P<m6>[0-5]\d\b)?
        (?P<half6>\s*et\s+demie)?(?P<quarter6>\s*et\s+quart)?
        (?P<less6>\s*moins\s+le\s+quart)?{_PART.format("f")}?
    | (?P<at7>\b(?:las?|às?|alle|le|om|all['’])\s*)?(?<![\d:.,])\b(?P<h7>{_HOUR})\b(?![:.]\d|\s*heures?\b)
        (?:\s+(?:[ye]\s+(?:(?P<half7>media|meia|mezz[ao])|(?P<quarter7>(?:un\s+)?[cq]uarto|quinze)|(?P<m7>{_MINUTE}))
          |(?P<less7>meno?s?\s+(?:un\s+)?[cq]uarto)|(?<=\s)uur)\b)?{_PART.format("g")}?
    | \b(?P<noon>noon|midday|mittags?|mediodía|meio-dia|midi|mezzogiorno)\b
    | \b(?P<midnight>midnight|mitternacht|medianoche|meia-noite|minuit|mezzanotte)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DIGITAL = re.compile(r"(?<![\d:.,])(?:[01]?\d|2[0-4]):[0-5]\d(?![\d:])")
_MAY_BE = re.compile(
    r"""\d|past|quarter|o['’]clock|after|before|\bto\b|\b(?:hal[bfv]|voor|över|viertel|k[wv]art|uhr|uur|nach|vor|las?|às?|alle|le)\b|heure|noon|mid|mitt
    |media|meia|mezz|minuit|morning|evening|night|tarde|noite|noche|manhã|mañana|matin|soir|pomeriggio|sera|abend|mittag
    |avond|ochtend|middag|kväll|morgon|rano|wieczorem|południu|вечер|утр|[時时點点시]""",
    re.VERBOSE | re.IGNORECASE,
)
"""A cheap test: a text without any of these names no time."""


class Time(NamedTuple):
    """A time of day at ``text[start:end]``, in minutes after midnight.

    Attributes:
        is_exact: whether morning and evening are told apart.
        bound: 1 for the earliest time (``after six``), -1 for the latest (``before six``), else 0.
    """

    start: int
    end: int
    minutes: int
    is_exact: bool
    bound: int = 0

    def is_comparable(self, other: Time) -> bool:
        """Whether one of two times may be the other: always."""
        return isinstance(other, Time)

    def same(self, other: Time) -> bool:
        """Whether two times can be the same moment of a day, and not the earliest and the latest."""
        if self.bound * other.bound < 0:
            return False
        apart = abs(self.minutes - other.minutes)
        return apart == 0 or (not (self.is_exact and other.is_exact) and apart % _HALF_DAY == 0)


def times(text: str, *, is_wanted: bool = False) -> list[Time]:
    """The times of day of a text, in order.

    Args:
        text: to read.
        is_wanted: whether the text answers a time: then ``after six`` names one, too.
    """
    return list(_times(text, is_wanted=is_wanted)) if is_wanted or _MAY_BE.search(text) else []


def without_digital_times(text: str) -> str:
    """The text without times of day such as ``9:21``."""
    return _DIGITAL.sub(" ", text)


def _times(text: str, *, is_wanted: bool) -> Iterator[Time]:
    if not text.isascii():
        for start, end, minutes, is_exact in other_times(text):
            yield Time(start, end, minutes, is_exact, bound(text, start, end))
    for match in _READ.finditer(text):
        found = _read(match, is_wanted=is_wanted)
        if found is not None:
            yield found


def _read(match: re.Match[str], *, is_wanted: bool) -> Time | None:
    if match["noon"] or match["midnight"]:
        return Time(match.start(), match.end(), 720 if match["noon"] else 0, True)
    part = match.lastgroup or ""
    is_early = any(match[f"{one}am"] for one in "abcdefgh")
    is_late = any(match[f"{one}pm"] for one in "abcdefgh")
    start = match.start()
    led = part_before(match.string, start)
    if led is not None:  # in "abends um sechs am Bahnhof", "am" is no time
        start, is_early, is_late = led.start, not led.is_late, led.is_late
    place = next(one for one in "12345678" if match[f"h{one}"])
    if _is_range(match, place):
        return None
    said = match[f"h{place}"]
    hour = _number(said, _NORTHERN if place == "8" else _HOURS)
    is_digital = place == "1" or (place in "56" and said.isdigit())
    if place == "7" and not (match["at7"] and match.end() > match.end("h7")):
        # A number alone is no time.
        is_told = led.has_word if led is not None else is_early or is_late
        if not is_told and not (is_wanted and stands_alone(match.string, match.start("h7"), match.end())):
            return None
    if place == "6" and not said.isdigit() and part == "h6" and led is None:
        return None  # "trois heures" may last three hours
    minutes = 60 * hour + _past(match, place)
    if is_early or is_late:
        minutes = minutes % _HALF_DAY + _HALF_DAY * is_late
    is_exact = is_early or is_late or is_digital
    return Time(start, match.end(), minutes % _DAY, is_exact, bound(match.string, match.start(), match.end()))


def _is_range(match: re.Match[str], place: str) -> bool:
    """Whether the words are a range, such as ``5 to 7``, and no time."""
    said = match[f"m{place}"] if place in "24" else None
    if said is None or "minut" in match.group().lower():
        return False
    return _number(said, _MINUTES) % 5 > 0 or (said.isdigit() and match[f"to{place}"].lower() == "to")


def _past(match: re.Match[str], place: str) -> int:
    """The minutes after the hour that a match names; negative before the hour."""
    if place == "1":
        return int(match["m1"])
    if place == "3":
        return -30
    if place == "5":
        return int(match["m5"] or match["n5"] or match["u5"] or 0)
    if place == "8":
        return _past_north(match)
    if place in "67":
        if match[f"half{place}"]:
            return 30
        if match[f"quarter{place}"]:
            return 15
        return -15 if match[f"less{place}"] else _number(match[f"m{place}"] or "0", _MINUTES)
    after = 15 if match[f"q{place}"] else _number(match[f"m{place}"] or "30", _MINUTES)
    return -after if match[f"to{place}"].lower() in {"to", "before", "vor"} else after


def _past_north(match: re.Match[str]) -> int:
    """The minutes after the hour in Dutch and Scandinavian: ``vijf voor half drie`` is 35 minutes before three."""
    half = -30 if match["half8"] or match["alone8"] else 0
    if match["to8"] is None:
        return half
    after = 15 if match["q8"] else _number(match["m8"], _MINUTES | _NORTHERN | _TWENTY)
    return half + (after if match["to8"].lower() in _AFTER else -after)


def _number(said: str, names: dict[str, int]) -> int:
    return int(said) if said.isdigit() else names[said.lower()]
