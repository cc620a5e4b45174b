"""Texts that give the numbers of two things to each other.

``12 pears and 3 plums`` becomes ``3 pears and 12 plums``.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from attribution.text.languages import is_function_word
from attribution.text.numbers import number
from attribution.text.tokens import tokens

_BORDER = re.compile(r"[,;.:!?()、，。；\n]")
_NAMING = 2
"""The words after a number that name what it counts."""


def swaps(source: str, text: str, wanted: AbstractSet[float]) -> bool:
    """Whether a text gives one of some numbers to a thing that another number of the source counts, and the reverse.

    Args:
        source: the sentence with the right numbers.
        text: a sentence about the same things.
        wanted: numbers of the source.
    """
    right, told = counted(source), counted(text)
    return any(
        right.get(value) and told.get(value) and _is_swapped(right, told, value) for value in wanted if value in right
    )


def _is_swapped(right: dict[float, set[str]], told: dict[float, set[str]], value: float) -> bool:
    own, given = right[value], told[value]
    if own & given:
        return False
    from_other = any(things & given for other, things in right.items() if other != value)
    to_other = any(things & own for other, things in told.items() if other != value)
    return from_other and to_other


def counted(text: str) -> dict[float, set[str]]:
    """The numbers of a text, each with the stems of the words after it that name what it counts."""
    found: dict[float, set[str]] = {}
    words = tokens(text)
    values = [number(one.word) for one in words]
    for place, value in enumerate(values):
        if value is None:
            continue
        things = found.setdefault(value, set())
        end = words[place].end
        for one, other in zip(words[place + 1 :], values[place + 1 :], strict=True):
            if other is not None or _BORDER.search(text, end, one.start) or len(things) == _NAMING:
                break
            end = one.end
            if one.carries and not is_function_word(one.word):
                things.add(one.stem)
    return found
