"""Ranks texts by the words that they share with a query (BM25), and joins several rankings."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

_K1, _B = 1.2, 0.75
"""Parameters of BM25 (Robertson and Zaragoza 2009)."""
_RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion (Cormack et al. 2009)."""


class Bm25:
    """Okapi BM25 over texts that are lists of stems."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        lengths = [len(stems) for stems in texts.values()]
        self._keys = list(texts)
        mean = sum(lengths) / len(texts) if texts else 1.0
        self._norms = [_K1 * (1 - _B + _B * length / (mean or 1.0)) for length in lengths]
        self._known: dict[str, tuple[Sequence[int], Sequence[float]]] = {}
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, stems in enumerate(texts.values()):
            for stem, count in Counter(stems).items():
                self._places[stem].append((number, count))

    def search(self, stems: Sequence[str], limit: int, is_wanted: Callable[[str], bool]) -> list[str]:
        """Keys of the wanted texts that share a stem with the query, best first; ties keep the order of the texts."""
        scores = self._scores(stems)
        return self._named(_best(scores, self._wanted(scores, is_wanted), limit))

    def search_apart(
        self,
        stems: Sequence[str],
        limit: int,
        is_wanted: Callable[[str], bool],
        group_of: Callable[[str], str | None],
    ) -> list[str]:
        """Like ``search``, and after the results the best texts of each group, up to ``limit`` each."""
        scores = self._scores(stems)
        wanted = self._wanted(scores, is_wanted)
        groups: dict[str | None, list[int]] = defaultdict(list)
        for number in wanted:
            groups[group_of(self._keys[number])].append(number)
        found = _best(scores, wanted, limit)
        for _, some in sorted(groups.items(), key=lambda item: item[0] or ""):
            found += _best(scores, some, limit)
        return self._named(dict.fromkeys(found))

    def _wanted(self, scores: Mapping[int, float], is_wanted: Callable[[str], bool]) -> list[int]:
        keys = self._keys
        return [number for number in sorted(scores) if is_wanted(keys[number])]

    def _named(self, numbers: Iterable[int]) -> list[str]:
        return [self._keys[number] for number in numbers]

    def _scores(self, stems: Sequence[str]) -> dict[int, float]:
        """Scores by the number of the text."""
        scores: dict[int, float] = defaultdict(float)
        for stem in dict.fromkeys(stems):
            for number, score in zip(*self._scores_of(stem), strict=True):
                scores[number] += score
        return scores

    def _scores_of(self, stem: str) -> tuple[Sequence[int], Sequence[float]]:
        """Numbers of the texts that have a stem, and the score that the stem adds to each. Cached."""
        found = self._known.get(stem)
        if found is None:
            places = self._places.get(stem, [])
            rarity = math.log(1 + (len(self._norms) - len(places) + 0.5) / (len(places) + 0.5))
            scores = [rarity * count * (_K1 + 1) / (count + self._norms[number]) for number, count in places]
            found = self._known[stem] = [number for number, _ in places], scores
        return found


def _best(scores: Mapping[int, float], numbers: Sequence[int], limit: int) -> list[int]:
    """The numbers with the highest scores, best first; equal scores keep their order."""
    return sorted(numbers, key=scores.__getitem__, reverse=True)[:limit]


def fused(rankings: Sequence[Sequence[str]], limit: int) -> list[str]:
    """Joins rankings by reciprocal rank fusion; equal scores keep the order of first appearance."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] += 1 / (_RANK_CONSTANT + rank)
    return sorted(scores, key=lambda key: -scores[key])[:limit]
