"""A cache of replies that lives as long as its test."""

from __future__ import annotations

from collections.abc import Sequence


class MemoryCache:
    """Keeps replies as long as the process lives."""

    def __init__(self) -> None:
        self._bodies: dict[str, bytes] = {}

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The replies that are there, by key."""
        return {key: self._bodies[key] for key in keys if key in self._bodies}

    async def put(self, key: str, body: bytes) -> None:
        """Keep a reply."""
        self._bodies[key] = body
