"""Which English words mean nearly the same.

``lexicon.zst`` is made from WordNet 3.0 (Princeton University; see ``lexicon-licence.txt``) by
``python -m attribution.text.make_lexicon``: per stem the synsets of the words that have it, their neighbours (similar,
also, derived, hypernym), and the heads of the clusters of adjectives.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

import zstandard

SAME = 0.95
"""Two words share a sense."""
NEAR = 0.8
"""A sense of one is similar to, derived from, or one step more general than a sense of the other."""


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


@lru_cache(maxsize=200_000)
def likeness(left: str, right: str) -> float:
    """How alike two stems are in meaning: 1 where they are equal, ``SAME``, ``NEAR`` or 0."""
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
