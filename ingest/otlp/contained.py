"""Finds the texts that occur in other texts, without comparing each pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

SHORTEST = 20
"""Shortest text that is searched, in characters; each text is found by its first characters, this many."""

_FEW = 60
"""Up to this number of different beginnings, each is searched by itself: that is faster than a look at each place."""

Spend = Callable[[int], bool]
"""Pays for so many microseconds of work; returns whether the work may go on."""


def contained(needles: Iterable[str], texts: Iterable[str], spend: Spend) -> Iterator[tuple[str, str]]:
    """Pairs of a needle and a longer text that contains the needle.

    The time grows with the length of the texts, and with the pairs whose first characters fit.

    Args:
        needles: the texts to search; those below ``SHORTEST`` characters are left out.
        texts: the texts to search in.
        spend: ends the search early when it returns False.
    """
    by_beginning: dict[str, list[str]] = defaultdict(list)
    for needle in needles:
        if len(needle) >= SHORTEST:
            by_beginning[needle[:SHORTEST]].append(needle)
    if not by_beginning:
        return
    for text in texts:
        if len(text) <= SHORTEST:
            continue
        is_direct = len(by_beginning) <= _FEW
        if not spend(1 + (len(by_beginning) * (100 + len(text)) // 2_000 if is_direct else len(text) // 10)):
            return
        for needle in _candidates(by_beginning, text, is_direct):
            if not spend(1 + len(text) // 4_000):
                return
            if len(needle) < len(text) and needle in text:
                yield needle, text


def _candidates(by_beginning: Mapping[str, list[str]], text: str, is_direct: bool) -> Iterator[str]:
    """The needles whose first characters are in a text."""
    if is_direct:
        found: Iterable[str] = [one for one in by_beginning if one in text]
    else:
        places = range(len(text) - SHORTEST + 1)
        found = {one for at in places if (one := text[at : at + SHORTEST]) in by_beginning}
    for beginning in found:
        yield from by_beginning[beginning]
