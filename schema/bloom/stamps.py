"""Ids and times of the perspective: the same each time it is made."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

MADE_AT = 1767225600000
"""The time at which everything in the perspective counts as made: 2026-01-01, in milliseconds. Bloom needs a time, and
the real one would change with each run."""

_YEAR = 365 * 24 * 3600 * 1000


def identity() -> str:
    """The id of the perspective: importing a newer one replaces it."""
    return str(uuid5(NAMESPACE_URL, "memtrace/bloom"))


def stamp(*parts: str) -> int:
    """A time in milliseconds that stands for a thing: Bloom makes ids of rules and phrases out of times."""
    return MADE_AT + uuid5(NAMESPACE_URL, "/".join(("memtrace/bloom", *parts))).int % _YEAR
