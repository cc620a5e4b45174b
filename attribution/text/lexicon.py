"""Which English words have nearly the same meaning.

``lexicon.zst`` is made from WordNet 3.0 (Princeton University; see ``lexicon-licence.txt``) by
``python -m attribution.text.make_lexicon``. For each stem it has the synsets of the stem's words, their neighbours
(similar, also, derived, hypernym), and the head synsets of adjective clusters.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import zstandard

SAME = 0.95
"""The likeness of two words with a common sense."""
NEAR = 0.8
"""The likeness of two words if a sense of one is similar to, derived from, or one step above a sense of the other."""

_OPPOSITES = frozenset(
    frozenset(pair.split())
    for pair in (
        "mother father", "mom dad", "brother sister", "son daughter", "uncl aunt", "husband wife", "man woman",
        "boy girl", "nephew niec", "hot cold", "warm cool", "love hate", "like dislik",
        "buy sell", "win lose", "arriv leav",
        "start stop", "begin end", "open close", "increas decreas", "happi sad", "good bad", "best worst", "old young",
        "old new", "big small", "larg small", "high low", "left right", "north south", "east west", "morn even",
        "summer winter", "spring autumn", "lend borrow", "teach learn", "accept reject", "agre disagre", "first last",
        "day night", "insid outsid", "earli late", "vegetarian vegan", "male femal", "black white", "up down",
    )
)  # fmt: skip
"""Stems of opposites that share a sense in WordNet, as to mother and to father do (beget)."""
_OPPOSED = frozenset[str]().union(*_OPPOSITES)
_ALIKE = 0.2
"""Two words are used alike if their common senses are at least this share of the mean number of their senses."""
_ROOT = 4
"""Words with this many first letters in common may have one root."""


@cache
def _entries() -> dict[str, str]:
    packed = files("attribution.text").joinpath("lexicon.zst").read_bytes()
    lines = zstandard.ZstdDecompressor().decompress(packed).decode().split("\n")
    return {stem: senses for stem, _, senses in (line.partition("\t") for line in lines) if stem}


@lru_cache(maxsize=50_000)
def _senses(stem: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]] | None:
    entry = _entries().get(stem)
    if entry is None:
        return None
    own, near, heads = (frozenset(part.split()) for part in entry.split("\t"))
    return own, near, heads


@lru_cache(maxsize=50_000)
def likeness(left: str, right: str) -> float:
    """How alike two stems are in meaning: 1 if equal, else ``SAME``, ``NEAR`` or 0."""
    if left == right:
        return 1.0
    one, other = _senses(left), _senses(right)
    if one is None or other is None:
        return 0.0
    if one[0] & other[0]:
        return SAME
    if one[0] & other[1] or one[1] & other[0] or one[2] & other[2]:
        return NEAR
    return 0.0


def is_common_word(stem: str) -> bool:
    """Whether a stem is a word of English, and no name or word of another language."""
    return _senses(stem) is not None


class _Senses:
    """An index of stems by their senses, neighbours, and cluster heads."""

    def __init__(self) -> None:
        self._own: dict[str, list[str]] = defaultdict(list)
        self._near: dict[str, list[str]] = defaultdict(list)
        self._heads: dict[str, list[str]] = defaultdict(list)

    def add(self, stem: str, parts: Sequence[Sequence[str]]) -> None:
        """Add a stem with its ``_parts``."""
        for index, senses in zip((self._own, self._near, self._heads), parts, strict=True):
            for sense in senses:
                index[sense].append(stem)

    def related(self, parts: Sequence[Sequence[str]]) -> dict[str, float]:
        """Known stems with a ``likeness`` above 0 to a stem that has these ``_parts``, with the likeness."""
        own, near, heads = parts
        found: dict[str, float] = {}
        for index, senses in ((self._own, near), (self._near, own), (self._heads, heads)):
            for sense in senses:
                if sense in index:
                    found.update(dict.fromkeys(index[sense], NEAR))
        for sense in own:
            if sense in self._own:
                found.update(dict.fromkeys(self._own[sense], SAME))
        return found


class Alike:
    """Finds all known stems that mean nearly the same as a given stem, much faster than pair by pair."""

    def __init__(self) -> None:
        """Starts without stems."""
        self._stems: set[str] = set()
        self._known = _Senses()
        self._asked = _Senses()
        self._rows: dict[str, dict[str, float]] = {}
        self._texts: set[int] = set()

    @property
    def size(self) -> int:
        """The number of known stems."""
        return len(self._stems)

    def add(self, stems: Iterable[str]) -> None:
        """Add stems; results of ``to`` are kept up to date."""
        for stem in stems:
            if stem not in self._stems:
                self._stems.add(stem)
                parts = _parts(stem)
                self._known.add(stem, parts)
                for asked, how_alike in self._asked.related(parts).items():
                    self._rows[asked][stem] = how_alike
                if stem in self._rows:
                    self._rows[stem][stem] = 1.0

    def learn(self, text: str, stems: Iterable[Iterable[str]]) -> None:
        """Add the stems of a text. A text that was learned before costs nothing.

        Args:
            text: recognised by its hash.
            stems: of each sentence of the text.
        """
        key = hash(text)
        if key not in self._texts:
            self._texts.add(key)
            for some in stems:
                if not self._stems.issuperset(some):
                    self.add(some)

    def to(self, stem: str) -> Mapping[str, float]:
        """Known stems with a ``likeness`` above 0 to this stem, with the likeness; grows with the known stems."""
        row = self._rows.get(stem)
        if row is None:
            parts = _parts(stem)
            row = self._rows[stem] = self._known.related(parts)
            if stem in self._stems:
                row[stem] = 1.0
            self._asked.add(stem, parts)
        return row


def _parts(stem: str) -> list[list[str]]:
    """A stem's senses, neighbours, and cluster heads."""
    return [part.split() for part in _entries().get(stem, "\t\t").split("\t")]


@lru_cache(maxsize=1_000)
def _all_senses(stems: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    known = [senses for stem in stems if (senses := _senses(stem)) is not None]
    own, near, heads = (frozenset().union(*(senses[part] for senses in known)) for part in range(3))
    return own, near, heads


def best_likeness(stem: str, stems: tuple[str, ...]) -> float:
    """The highest likeness of a stem to any of the others; 0 without others."""
    if stem in stems:
        return 1.0
    one = _senses(stem)
    if one is None:
        return 0.0
    own, near, heads = _all_senses(stems)
    if not one[0].isdisjoint(own):
        return SAME
    if one[0].isdisjoint(near) and one[1].isdisjoint(own) and one[2].isdisjoint(heads):
        return 0.0
    return NEAR


def is_same(left: str, right: str) -> bool:
    """Whether one stem counts as the other: equal, mostly used in the same senses, or a form of the same root."""
    if frozenset((left, right)) in _OPPOSITES:
        return False
    found = likeness(left, right)
    has_root = left[:_ROOT] == right[:_ROOT] and min(len(left), len(right)) >= _ROOT
    return _are_used_alike(left, right) if found >= SAME else found == NEAR and has_root


def _are_used_alike(left: str, right: str) -> bool:
    """Whether many of the senses of both stems are common: a frank is a dog only as a sausage."""
    one, other = _senses(left), _senses(right)
    if left == right or one is None or other is None:
        return left == right
    return len(one[0] & other[0]) >= _ALIKE * math.sqrt(len(one[0]) * len(other[0]))


def are_rivals(left: str, right: str) -> bool:
    """Whether two stems exclude each other as different members of one class, such as two colours."""
    if frozenset((left, right)) in _OPPOSITES:
        return True
    one, other = _senses(left), _senses(right)
    if one is None or other is None or is_same(left, right):
        return False
    is_near = one[0] & other[1] or one[1] & other[0]
    return bool(one[2] & other[2]) and not is_near


def is_same_as_any(stem: str, stems: tuple[str, ...]) -> bool:
    """Whether the stem ``is_same`` as any of the others."""
    return bool(best_likeness(stem, stems)) and any(is_same(stem, other) for other in stems)


def is_rival_of_any(stem: str, stems: tuple[str, ...]) -> bool:
    """Whether the stem and any of the others ``are_rivals``."""
    may_be = stem in _OPPOSED or best_likeness(stem, stems)
    return bool(may_be) and any(are_rivals(stem, other) for other in stems)
