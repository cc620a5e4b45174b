"""Sums of money, such as ``1.500 €``, ``EUR 1,500`` and ``1500 euro``: one value for each currency."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from attribution.text.numbers import number

_CURRENCIES = {
    "eur": ("€", "eur", "euros?"),
    "usd": (r"us\$", r"\$", "usd", "dollars?"),
    "gbp": ("£", "gbp", r"pounds\s+sterling"),
    "jpy": ("¥", "jpy", "yen"),
    "chf": ("chf", "fr\\.", r"swiss\s+francs?", r"schweizer\s+franken"),
    "nok": ("nok", r"norwegian\s+kroner?", r"norske\s+kroner"),
    "sek": ("sek", r"swedish\s+kron(?:or|a)", r"svenska\s+kronor"),
    "dkk": ("dkk", r"danish\s+kroner?", r"danske\s+kroner"),
    "try": ("₺", "tl", r"turkish\s+lira", "türk\\s+lirası"),
    "inr": ("₹", "inr", "rupees?"),
    "brl": (r"r\$", "brl", "rea(?:l|is)"),
    "pln": ("zł", "pln", r"z[łl]ot(?:y|ys|ych|e)"),
    "krw": ("₩", "krw", "won", "원"),
}
_NAMED = {code: re.compile("|".join(names), re.IGNORECASE) for code, names in _CURRENCIES.items()}
_NAMES = sorted((name for names in _CURRENCIES.values() for name in names), key=len, reverse=True)
_AFTER = "|".join(_NAMES)
_BEFORE = "|".join(name for name in _NAMES if name != "won")  # "she won 15" is no sum
_SUM = r"\d{1,3}(?:[.,\s'’]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d{1,2})?(?!\d)"
_FIND = re.compile(
    rf"(?<![\w.,])(?P<before>{_BEFORE})\s*(?P<sum1>{_SUM})|(?<![\w.,])(?P<sum2>{_SUM})\s*(?P<after>{_AFTER})(?!\w)",
    re.IGNORECASE,
)
_WORD = r"[^\W\d_]+(?:-[^\W\d_]+)?"
_AFTER_SUM = (
    "an?|at|for|each|per|in|to|and|or|is|was|am|im|beim?|für|pro|das|und|oder|por|en|al|el|la|y|o|il|lo|le|les|chez"
    "|par|pour|et|e|um|uma|no|na"
)
"""Words after a sum. ``20 dollars two years ago`` are no 20.02 dollars: what is counted next follows."""
_SPOKEN = re.compile(
    rf"""\b(?P<whole>{_WORD}|\d{{1,3}})\s+(?:(?P<gbp>pounds?|quid)|(?P<eur>euros?)|(?P<usd>dollars?))\s+
        (?: (?:(?:and|und|y|et|e|en)\s+)?(?P<cents>{_WORD}|\d\d?)\s+(?:pence|cents?|c[eé]ntim[oe]s|cêntimos|centesimi)\b
          | (?:con\s+)?(?P<part>{_WORD}|\d\d)\b(?=\s*(?:\Z|[^\w\s%-])|\s+(?:{_AFTER_SUM})\b) )""",
    re.VERBOSE | re.IGNORECASE,
)
"""A sum as people say it: ``two pounds forty``, ``drei Euro fünfzig``."""


_TEN = 10


class Money(NamedTuple):
    """A sum of money at ``text[start:end]``."""

    start: int
    end: int
    currency: str
    value: float

    def is_comparable(self, other: Money) -> bool:
        """Whether one of two sums may be the other: always."""
        return isinstance(other, Money)

    def same(self, other: Money) -> bool:
        """Whether two sums are equal, in the same currency."""
        return self.currency == other.currency and self.value == other.value


def money(text: str) -> list[Money]:
    """The sums of money of a text, in order."""
    spoken = list(_spoken(text))
    written = [
        Money(match.start(), match.end(), _currency(match["before"] or match["after"]), _value(match))
        for match in _FIND.finditer(text)
    ]
    return sorted([*spoken, *(one for one in written if not any(_overlap(one, other) for other in spoken))])


def _overlap(one: Money, other: Money) -> bool:
    return one.start < other.end and other.start < one.end


def _spoken(text: str) -> Iterator[Money]:
    """The sums with a currency between the whole and the hundredths."""
    for match in _SPOKEN.finditer(text):
        whole, part = _counted(match["whole"]), _counted(match["cents"] or match["part"])
        # Without a word for the hundredths, people say tens: ``two pounds forty``.
        if whole is not None and part is not None and (1 if match["cents"] else _TEN) <= part < 100:
            currency = next(code for code in ("gbp", "eur", "usd") if match[code])
            yield Money(match.start(), match.end(), currency, whole + part / 100)


def _counted(said: str) -> float | None:
    """The value of digits, or of one or two number words."""
    values = [number(word) for word in said.lower().split("-")]
    return None if None in values else sum(one for one in values if one is not None)


def _currency(name: str) -> str:
    return next(code for code, pattern in _NAMED.items() if pattern.fullmatch(name))


def _value(match: re.Match[str]) -> float:
    """The value of a sum. A mark before exactly three digits parts thousands: money has no thousandths."""
    said = match["sum1"] or match["sum2"]
    whole, mark, part = said, "", ""
    if (cents := re.search(r"[.,](\d{1,2})$", said)) is not None:
        whole, mark, part = said[: cents.start()], ".", cents[1]
    return float(re.sub(r"\D", "", whole) + mark + part)
