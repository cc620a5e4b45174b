"""Groups texts that say almost the same in the same words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice

from attribution.text.tokens import words

ALIKE = 0.8
"""Texts are alike if they share this part of their words (Jaccard index)."""
MOST_COMPARED = 8_000
"""The most pairs of texts that are compared; of later texts only those with the same words are found."""


def groups(texts: Sequence[str], least: float = ALIKE) -> list[list[int]]:
    """The places of the texts, in groups of texts that are alike; see ``grouped``."""
    return grouped([frozenset(word for _, word in words(text.casefold())) for text in texts], least)


def grouped(bags: Sequence[frozenset[str]], least: float = ALIKE) -> list[list[int]]:
    """The places of texts, given by their words, in groups that keep the order of the texts.

    Two texts can only be alike if they share one of their rarest words, so only such pairs are compared (prefix
    filtering: Bayardo, Ma and Srikant 2007). A text joins the first group whose first text is like it.
    """
    counts = Counter(word for bag in bags for word in bag)
    found: list[list[int]] = []
    firsts: dict[str, list[int]] = defaultdict(list)
    same: dict[frozenset[str], int] = {}
    left = MOST_COMPARED
    for place, bag in enumerate(bags):
        joined = same.get(bag)
        if joined is None:
            rare = sorted(bag, key=lambda word: (counts[word], word))
            prefix = rare[: len(rare) - math.ceil(least * len(rare)) + 1]
            some = islice((number for word in prefix for number in firsts[word]), max(0, left))
            for one in dict.fromkeys(some):
                left -= 1
                if _are_alike(bag, bags[found[one][0]], least):
                    joined = one
                    break
            if joined is None:
                joined = len(found)
                found.append([])
                for word in prefix:
                    firsts[word].append(joined)
            same[bag] = joined
        found[joined].append(place)
    return found


def _are_alike(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    if min(len(one), len(other)) < least * max(len(one), len(other)):
        return False
    shared = len(one & other)
    return shared >= least * (len(one) + len(other) - shared)
