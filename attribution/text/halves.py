"""Numbers with a half in words: ``38 e mezzo``, ``quatro quilos e meio``, ``three and a half``, ``38½``."""

from __future__ import annotations

import re

from attribution.text.numbers import number

_HALF = re.compile(
    r"""(?<![\d.,])\b(?P<count>\d{1,6}|[^\W\d_]{2,20})(?:\s*½|(?:\s+[^\W\d_]{1,15})?\s+(?:
        and\s+a\s+half|und\s+ein(?:e|en)?\s+halbe?[ns]?|en\s+een\s+halve?|y\s+medi[oa]
      | et\s+demie?|e\s+mei[oa]|e\s+mezz[oa]
      | i\s+mig|i\s+mitja|och\s+en\s+halv|og\s+en\s+halv
      | i\s+pół|с\s+половиной|з\s+половиною|ja\s+puoli|și\s+jumătate)\b)""",
    re.VERBOSE | re.IGNORECASE,
)


def halved(text: str) -> frozenset[float]:
    """The numbers in a text to which it adds a half, without the half."""
    found = (number(match["count"].lower()) for match in _HALF.finditer(text))
    return frozenset(one for one in found if one is not None and one == int(one))


def half_words(text: str) -> list[str]:
    """The parts of a text that tell a number with a half."""
    return [match.group() for match in _HALF.finditer(text) if number(match["count"].lower()) is not None]


def with_halves(numbers: frozenset[float], text: str) -> frozenset[float]:
    """The numbers of a text, each with its half."""
    some = halved(text) & numbers
    return numbers if not some else (numbers - some) | {one + 0.5 for one in some}
