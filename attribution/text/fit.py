"""Texts made fit to be shown: printable, and no longer than there is room for."""

from __future__ import annotations

import re
import unicodedata

_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NARROW = frozenset("iljtfrI.,:;'|!()[]“”‘’` ")
_BROAD = frozenset("mwMW@%×…—→")


def printable(text: str) -> str:
    """The text without control characters, lone surrogates and marks that change the direction of writing."""
    return _UNFIT.sub("\ufffd", text)


def middle(text: str, length: int) -> str:
    """The text cut in its middle to at most this many characters, because names differ at their ends."""
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def _breadth(character: str) -> float:
    """The width of a character in a usual proportional font, rather too much, in units of the font's size."""
    if character in _NARROW:
        return 0.36
    if character in _BROAD or unicodedata.east_asian_width(character) in "WF":
        return 1.02
    if character.isupper():
        return 0.76
    return 0.0 if unicodedata.combining(character) else 0.6


def wrapped(text: str, width: float, most: int) -> list[str]:
    """The text in lines no wider than ``width``; if lines are left out, the last one ends with ``…``.

    Args:
        text: runs of white space become single blanks.
        width: of a line, in units of the font's size.
        most: the maximal number of lines.
    """
    lines: list[str] = []
    rest = " ".join(text.split())
    while rest:
        end = _fitting(rest, width)
        if end < len(rest) and len(lines) == most - 1:
            lines.append(rest[: _fitting(rest, width - 1.02)].rstrip() + "…")
            break
        if end < len(rest) and rest[end] != " ":
            # Breaks between words, else after a mark inside of a name, else anywhere.
            place = max(rest.rfind(mark, 0, end) + 1 for mark in " _-:/.")
            end = place if place > end // 3 else end
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return lines


def _fitting(text: str, width: float) -> int:
    """The number of characters that fit into the width, at least 1."""
    taken = 0.0
    for number, character in enumerate(text):
        taken += _breadth(character)
        if taken > width:
            return max(1, number)
    return len(text)
