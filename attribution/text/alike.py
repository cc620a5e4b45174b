"""Groups texts that say almost the same in the same words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from attribution.text.tokens import words

ALIKE = 0.8
"""Texts are alike if they share this part of their words (Jaccard index)."""
_MOST_COMPARED = 200
"""The most earlier texts that a text is compared with."""


def groups(texts: Sequence[str], least: float = ALIKE) -> list[list[int]]:
    """The places of the texts, in groups of texts that are alike. Groups and places keep the order of the texts.

    Two texts can only be alike if they share one of their rarest words, so only such pairs are compared (prefix
    filtering: Bayardo, Ma and Srikant 2007). A text joins the first group whose first text is like it.
    """
    bags = [frozenset(word for _, word in words(text.casefold())) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    found: list[list[int]] = []
    firsts: dict[str, list[int]] = defaultdict(list)
    same: dict[str, int] = {}
    for place, bag in enumerate(bags):
        rare = sorted(bag, key=lambda word: (counts[word], word))
        prefix = rare[: len(rare) - math.ceil(least * len(rare)) + 1]
        candidates = dict.fromkeys(number for word in prefix for number in firsts[word][:_MOST_COMPARED])
        joined = same.get(texts[place]) if texts[place] in same else None
        if joined is None:
            joined = next((one for one in candidates if _share(bag, bags[found[one][0]]) >= least), None)
        if joined is None:
            joined = len(found)
            found.append([])
            for word in prefix:
                firsts[word].append(joined)
        found[joined].append(place)
        same.setdefault(texts[place], joined)
    return found


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0
