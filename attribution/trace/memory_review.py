"""What stands out in a memory: units that were never read, are there twice, may contradict, or changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from attribution.text.alike import grouped
from attribution.text.numbers import number
from attribution.text.said import said
from attribution.text.tokens import words
from attribution.trace.remembered import Memory, Unit, Version

Held = tuple[Unit, Version]
"""A unit with its valid version."""

MOST_UNITS = 2000
"""Of a larger memory, the newest units are reviewed."""
_LENGTH = 600
_ABOUT_THE_SAME = 0.6
"""Two texts speak of the same if they share this part of their words without values (Jaccard index)."""
_MOST_OF_GROUP = 20
"""The most units of one group of texts that are compared in pairs."""
_LEAST_WORDS = 3
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z]*")
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTHS = "january february march april may june july august september october november december"
_DATES = frozenset(f"{_DAYS} {_MONTHS}".split())
_DENIALS = "not never no isn't wasn't don't doesn't didn't can't won't hasn't haven't aren't weren't"
_NOT = frozenset(_DENIALS.split())


@dataclass(frozen=True, slots=True)
class Review:
    """What stands out in a memory at a moment.

    Attributes:
        has_reads: whether any read of a single unit is recorded; without one, nothing is known of unread units.
        unread: units of which no version was read anywhere in the trace.
        alike: groups of two or more units that say almost the same.
        conflicts: pairs of units with the same words that differ in a number, day or month, or in a denial.
        changed: units of several versions, those with most versions first.
    """

    has_reads: bool
    unread: Sequence[Held]
    alike: Sequence[Sequence[Held]]
    conflicts: Sequence[tuple[Held, Held]]
    changed: Sequence[Held]


def review(memory: Memory, moment: int | None) -> Review:
    """Review a memory at a moment; None is the end of the trace."""
    held = memory.at(moment)[-MOST_UNITS:]
    texts = [_TIME.sub(" ", said(version.variable.preview, _LENGTH)) for _, version in held]
    bags = [frozenset(word.replace("\u2019", "'") for _, word in words(text.casefold())) for text in texts]
    known: dict[str, bool] = {word: _is_value(word) for word in frozenset().union(*bags)}
    values = [frozenset(word for word in bag if known[word]) for bag in bags]
    # Texts with other values are no copies of each other, however alike the rest is.
    alike = [
        same for group in grouped(bags) for same in _parted(group, values) if len(same) > 1 and texts[same[0]].strip()
    ]
    unread = [
        one for one in held if not any(version.variable.external_id in memory.read for version in one[0].versions)
    ]
    changed = [one for one in held if len(one[0].known_at(moment)) > 1]
    changed.sort(key=lambda one: -len(one[0].known_at(moment)))
    return Review(
        has_reads=bool(memory.read),
        unread=unread if memory.read else [],
        alike=[[held[place] for place in group] for group in alike],
        conflicts=[(held[one], held[other]) for one, other in _conflicts(bags, values)],
        changed=changed,
    )


def _parted(group: Sequence[int], values: Sequence[frozenset[str]]) -> list[list[int]]:
    """A group of texts parted by their values."""
    parts: dict[frozenset[str], list[int]] = {}
    for place in group:
        parts.setdefault(values[place], []).append(place)
    return list(parts.values())


def _conflicts(bags: Sequence[frozenset[str]], values: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """The pairs of texts about the same of which each has a value that the other lacks, or one denies the other."""
    rests = [bag - its for bag, its in zip(bags, values, strict=True)]
    found = []
    for group in grouped(rests, _ABOUT_THE_SAME):
        for one, other in combinations(group[:_MOST_OF_GROUP], 2):
            if len(rests[one]) < _LEAST_WORDS:
                continue
            left, right = values[one] - values[other], values[other] - values[one]
            if (left - _NOT and right - _NOT) or (left ^ right) & _NOT:
                found.append((one, other))
    return found


def _is_value(word: str) -> bool:
    """Whether a word is a number, the name of a day or month, or a denial."""
    return word in _DATES or word in _NOT or number(word) is not None
