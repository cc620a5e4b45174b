"""Amounts with a unit, such as ``two weeks``, ``2000 g`` and ``an hour and a half``, in one unit for each sort."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from attribution.text.number_words import joined, spelled
from attribution.text.numbers import number
from attribution.text.tokens import words

_SORTS: dict[str, dict[float, str]] = {
    "duration": {
        1: "second seconds sekunde sekunden segundo segundos seconde secondes secondo secondi "
        "sekund sekunder sekundy секунда секунды секунд",
        60: "minute minutes min mins minuten minuto minutos minuti "
        "minuut minuter minuta minuty минута минуты минут dakika",
        3600: "hour hours h hr hrs stunde stunden hora horas heure heures ora ore "
        "uur uren timme timmar godzina godziny godzin час часа часов",
        86_400: "day days tag tage tagen día días dia dias jour jours giorno giorni "
        "dag dagen dagar dzień dni день дня дней gün",
        604_800: "week weeks woche wochen semana semanas semaine semaines settimana settimane "
        "weken vecka veckor tydzień tygodnie tygodni неделя недели недель неделю hafta",
        1_209_600: "fortnight fortnights",
    },
    "months": {
        1: "month months monat monate monaten mes meses mês mois mese mesi "
        "maand maanden månad månader miesiąc miesiące miesięcy месяц месяца месяцев ay",
        12: "year years jahr jahre jahren año años ano anos an ans année années anno anni "
        "jaar år rok lata lat год года лет yıl",
        120: "decade decades jahrzehnt jahrzehnte década décadas décennie décennies decennio decenni",
        1200: "century centuries jahrhundert jahrhunderte siglo siglos século séculos siècle siècles secolo secoli",
    },
    "mass": {
        0.001: "mg milligram milligrams milligramm",
        1: "g gram grams gramme grammes gramm gramo gramos grama gramas grammo grammi",
        1000: "kg kilo kilos kilogram kilograms kilogramm kilogramo kilogramos quilo quilos kilogramme chilo",
        1_000_000: "tonne tonnes tonelada toneladas",
        453.59237: "lb lbs pound pounds",
        28.349523125: "oz ounce ounces",
    },
    "length": {
        0.001: "mm millimetre millimetres millimeter millimeters",
        0.01: "cm centimetre centimetres centimeter centimeters zentimeter centímetro centímetros centimètre "
        "centimètres centimetro centimetri",
        1: "m metre metres meter meters metro metros mètre mètres metri",
        1000: "km kilometre kilometres kilometer kilometers kilómetro kilómetros quilómetro quilómetros quilômetro "
        "quilômetros kilomètre kilomètres chilometro chilometri",
        1609.344: "mile miles",
        0.3048: "foot feet ft",
        0.0254: "inch inches",
    },
    "volume": {
        0.001: "ml millilitre millilitres milliliter milliliters",
        0.01: "cl centilitre centilitres",
        0.1: "dl decilitre decilitres",
        1: "l litre litres liter liters litro litros litri",
    },
    "share": {
        0.01: "% percent prozent procent porcento percento procenta procentów procentti процент процента процентов",
    },
}
_PER_CENT = r"%|p(?:er|or|our)\s+cien?t[oi]?\b|p(?:er|or|our)\s+cento?\b"
_UNITS = {
    word: (sort, size) for sort, sizes in _SORTS.items() for size, words in sizes.items() for word in words.split()
}
_SHORT = frozenset({"h", "g", "m", "l", "min", "mg", "kg", "lb", "oz", "mm", "cm", "km", "ft", "ml", "cl", "dl", "an"})
"""Units that count only after digits, because they may be other words."""
_ONE = frozenset(["a", "an", "one", "ein", "eine", "einen", "einem", "einer", "un", "una", "uno", "une", "um", "uma"])
_NUMBERS_ONLY_HERE = {
    "dois": 2, "duas": 2, "três": 3, "quatro": 4, "sete": 7, "oito": 8, "nove": 9, "dez": 10, "due": 2, "tre": 3,
    "quattro": 4, "cinque": 5, "sette": 7, "otto": 8, "dieci": 10, "undici": 11, "dodici": 12, "doze": 12, "treze": 13,
    "tredici": 13, "quince": 15, "quindici": 15, "vinte": 20, "venti": 20, "trinta": 30, "trenta": 30,
}  # fmt: skip
"""Number words of languages that mean something else beside other words, so that only a unit makes them numbers."""

_WORD = r"[^\W\d_]+"
_COUNT = rf"(?:\d+(?:[.,]\d+)?|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[-\s]{_WORD}\b|{_WORD})"
_FIND = re.compile(
    rf"""
      (?<![\d.,])\b(?P<part>half|(?:(?P<quarters>a|one|three)\s+)?quarters?)\s+(?:of\s+)?(?:(?:an?|one)\s+)?(?P<unit1>{_WORD})\b
    | (?<![\d.,])\b(?P<half3>halbe[nrs]?|media|medio|meia|meio|demi|mezz[ao]?|half)(?:\s+|-|['’])(?P<unit3>{_WORD})\b
    | (?<![\d.,])(?<![\d.,]\s)\b(?P<count>{_COUNT})(?P<plus>\s+and\s+a\s+half)?(?P<gap>\s*+)(?:-\s*+)?
        (?P<unit2>{_PER_CENT}|{_WORD}\b)
        (?P<half>\s+(?:and\s+a\s+half|y\s+medi[ao]|e\s+mei[ao]|et\s+demie?|e\s+mezz[ao]|i\s+mi(?:g|tja)|o(?:ch|g)\s+en\s+halv
          |i\s+pół|с\s+половиной)\b)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SHARE = re.compile(_PER_CENT)
_HALVED = re.compile(
    r"(?P<one>anderthalb|ein(?:und)?einhalb|anderhal(?:f|ve))e?n?|(?P<whole>[^\W\d_]+?)(?:und)?einhalb"
)
"""Numbers and a half in one word of German or Dutch: ``anderthalb``, ``zweieinhalb``."""
_CLOCK = re.compile(r"(?<![\d:.,])(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\d:])")
_JOINED = re.compile(r"\s*+(?:(?:,|and|und|y|e|et)\s*+)?", re.IGNORECASE)
_TIMES = frozenset({"duration", "months"})
_MONTH = 30.44 * 86_400
"""The seconds of a month, on average."""
_FORTNIGHT = frozenset({14 * 86_400.0, 15 * 86_400.0})
_DAYS_OF_MONTH, _LARGEST_MONTHS = 30, 6
"""Up to half a year, a term of as many times 30 days is one of so many months: ``30 días`` are ``un mes``."""
_FIFTEEN = frozenset({"quince", "quinze", "quindici"})
_FAR = 0.2
_NEARLY = 0.005
"""Amounts that differ by at most this share are the same: a mile is about 1.61 kilometres."""


class Amount(NamedTuple):
    """An amount at ``text[start:end]``: ``value`` in one unit for each ``sort``.

    ``is_fortnight``: whether the words are an idiom for two weeks that counts both ends, as ``quinze jours``.
    """

    start: int
    end: int
    sort: str
    value: float
    is_fortnight: bool = False

    def is_comparable(self, other: Amount) -> bool:
        """Whether one of two amounts may be the other: not, for example, a weight and a length.

        Four weeks are about a month, so that weeks and months are compared only if they are far from each other.
        """
        if self.sort == other.sort or self._is_month_of(other):
            return True
        spans = [
            _MONTH * one.value if one.sort == "months" else one.value for one in (self, other) if one.sort in _TIMES
        ]
        return len(spans) == 2 and abs(spans[0] - spans[1]) > _FAR * max(spans)

    def _is_month_of(self, other: Amount) -> bool:
        """Whether one of two amounts is a number of months, and the other has 30 days for each."""
        months = [one.value for one in (self, other) if one.sort == "months"]
        spans = [one.value for one in (self, other) if one.sort == "duration"]
        is_short = len(months) == len(spans) == 1 and months[0] <= _LARGEST_MONTHS
        return is_short and spans[0] == months[0] * _DAYS_OF_MONTH * 86_400

    def same(self, other: Amount) -> bool:
        """Whether two amounts are equal. Units of time are no approximations, except 30 days of a month."""
        if self._is_month_of(other):
            return True
        if self.sort == other.sort == "duration" and (self.is_fortnight or other.is_fortnight):
            return {self.value, other.value} <= _FORTNIGHT
        if self.sort in _TIMES:
            return self.sort == other.sort and self.value == other.value
        largest = max(abs(self.value), abs(other.value))
        return self.sort == other.sort and abs(self.value - other.value) <= _NEARLY * largest


def is_unit(word: str) -> bool:
    """Whether a word, or its stem, is a unit: ``week``, ``kg``."""
    return word in _UNITS


def amounts(text: str) -> list[Amount]:
    """The amounts of a text, in order; ``one hour and 30 minutes`` is one amount."""
    found: list[tuple[Amount, float]] = []
    place, counts = 0, _counts(text)
    while (match := _FIND.search(text, place)) is not None:
        one = _amount(match, counts)
        # A word that is no number may stand before a number: "lasts two weeks".
        place = match.end() if one is not None else _after_first_word(match)
        if one is None:
            continue
        amount, size = one
        before, before_size = found[-1] if found else (None, 0.0)
        if (
            before is not None
            and before.sort == amount.sort
            and size < before_size
            and _JOINED.fullmatch(text, before.end, amount.start)
        ):
            found[-1] = before._replace(end=amount.end, value=before.value + amount.value), size
        else:
            found.append((amount, size))
    return [amount for amount, _ in found]


def clock_durations(text: str) -> list[tuple[Amount, ...]]:
    """What digits such as ``2:05`` mean as durations: hours and minutes, or minutes and seconds."""
    found = []
    for match in _CLOCK.finditer(text):
        first, second, third = (int(part or 0) for part in match.groups())
        values = [3600 * first + 60 * second + third, *([] if match[3] else [60 * first + second])]
        found.append(tuple(Amount(match.start(), match.end(), "duration", value) for value in values))
    return found


def _after_first_word(match: re.Match[str]) -> int:
    first = re.compile(r"\w+").match(match.string, match.start())
    return max(match.start() + 1, first.end() if first else 0)


def _counts(text: str) -> dict[int, tuple[int, float]]:
    """The numbers of a text that have several words, as ``quatre-vingt-dix``: the start and the value by the end."""
    found = words(text)
    plain = [word for _, word in found]
    return {
        found[last - 1][0] + len(found[last - 1][1]): (found[first][0], value)
        for first, last, value in (*spelled(plain), *joined(plain))
    }


def _amount(match: re.Match[str], counts: Mapping[int, tuple[int, float]]) -> tuple[Amount, float] | None:
    """The amount of a match with the size of its unit; None if the words are no amount.

    Args:
        match: of ``_FIND``.
        counts: of ``_counts``.
    """
    if match["part"]:
        unit = _UNITS.get(match["unit1"].lower())
        if unit is None:
            return None
        share = (
            0.5 if match["part"].lower() == "half" else 0.75 if (match["quarters"] or "").lower() == "three" else 0.25
        )
        return Amount(match.start(), match.end(), unit[0], share * unit[1]), unit[1]
    if match["half3"]:
        unit = _UNITS.get(match["unit3"].lower())
        return None if unit is None else (Amount(match.start(), match.end(), unit[0], 0.5 * unit[1]), unit[1])
    name = match["unit2"].lower()
    unit = _UNITS["%"] if _SHARE.fullmatch(name) else _UNITS.get(name)
    said = match["count"].lower()
    is_digits = said[0].isdigit()
    count = counts[match.end("count")][1] if match.end("count") in counts else _value(said)
    if unit is None or count is None or (name in _SHORT and not is_digits) or not (is_digits or match["gap"]):
        return None
    start, count = counts.get(match.end("count"), (match.start(), count))
    count += 0.5 * bool(match["plus"] or match["half"])
    is_fortnight = said in _FIFTEEN and unit == _UNITS["day"]
    return Amount(start, match.end(), unit[0], count * unit[1], is_fortnight), unit[1]


def _value(said: str) -> float | None:
    if said in _ONE:
        return 1.0
    if said[0].isdigit():
        whole = re.fullmatch(r"\d{1,3}(?:,\d{3})+", said)
        return float(said.replace(",", "") if whole else said.replace(",", "."))
    if said in _NUMBERS_ONLY_HERE:
        return float(_NUMBERS_ONLY_HERE[said])
    if (halved := _HALVED.fullmatch(said)) is not None:
        counted = 1.0 if halved["one"] else number(halved["whole"])
        return None if counted is None else counted + 0.5
    values = [number(word) for word in re.split(r"[-\s]", said)]
    return None if None in values else sum(one for one in values if one is not None)
