"""Texts by the words that they share with a query, and several such rankings as one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest

_K1, _B = 1.2, 0.75
"""Of BM25 (Robertson and Zaragoza 2009)."""
_RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack et al. 2009)."""


class Bm25:
    """Okapi BM25 over texts that are lists of stems."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        lengths = {key: len(stems) for key, stems in texts.items()}
        self._order = {key: number for number, key in enumerate(texts)}
        mean = sum(lengths.values()) / len(texts) if texts else 1.0
        self._norms = {key: _K1 * (1 - _B + _B * length / (mean or 1.0)) for key, length in lengths.items()}
        self._known: dict[str, Sequence[tuple[str, float]]] = {}
        self._places: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for key, stems in texts.items():
            for stem, count in Counter(stems).items():
                self._places[stem].append((key, count))

    def search(self, stems: Sequence[str], limit: int, is_wanted: Callable[[str], bool]) -> list[str]:
        """Keys of the wanted texts that have one of the stems, best first; ties in the order of the texts."""
        return self._best(self._scores(stems), limit, is_wanted)

    def search_apart(
        self,
        stems: Sequence[str],
        limit: int,
        is_wanted: Callable[[str], bool],
        group_of: Callable[[str], str | None],
    ) -> list[str]:
        """The same, and then the best of each group."""
        scores = self._scores(stems)
        groups: dict[str | None, dict[str, float]] = defaultdict(dict)
        for key in filter(is_wanted, scores):
            groups[group_of(key)][key] = scores[key]
        found = self._best(scores, limit, is_wanted)
        for _, some in sorted(groups.items(), key=lambda item: item[0] or ""):
            found += self._best(some, limit, is_wanted)
        return list(dict.fromkeys(found))

    def _scores(self, stems: Sequence[str]) -> dict[str, float]:
        scores: dict[str, float] = defaultdict(float)
        for stem in dict.fromkeys(stems):
            for key, score in self._scores_of(stem):
                scores[key] += score
        return scores

    def _scores_of(self, stem: str) -> Sequence[tuple[str, float]]:
        """What a stem adds to the texts that have it; kept, for many queries have the same stems."""
        found = self._known.get(stem)
        if found is None:
            places = self._places.get(stem, [])
            rarity = math.log(1 + (len(self._norms) - len(places) + 0.5) / (len(places) + 0.5))
            found = [(key, rarity * count * (_K1 + 1) / (count + self._norms[key])) for key, count in places]
            self._known[stem] = found
        return found

    def _best(self, scores: Mapping[str, float], limit: int, is_wanted: Callable[[str], bool]) -> list[str]:
        return nsmallest(limit, filter(is_wanted, scores), key=lambda key: (-scores[key], self._order[key]))


def fused(rankings: Sequence[Sequence[str]], limit: int) -> list[str]:
    """Several rankings as one, by reciprocal rank; ties in the order of the first that has the key."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] += 1 / (_RANK_CONSTANT + rank)
    return sorted(scores, key=lambda key: -scores[key])[:limit]
