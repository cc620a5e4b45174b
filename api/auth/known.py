"""A cache of looked-up keys, and the times when keys were last used."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from schema.control import ApiKey
from schema.errors import StoreError
from store.contract.records import Registry

REVOCATION_SECONDS = 5.0
"""A revoked key is refused after this time at the latest, by every process."""

AWAY_SECONDS = 600.0
"""While the store is away, a key is accepted for this time after it was last found valid."""

_MOST = 10_000
_LOOKUP_SECONDS = 5.0
_SPARE_LOOKUP_SECONDS = 1.0
"""Timeout of a look-up while an earlier answer can still be used."""

_FLUSH_SECONDS = 60.0

_log = structlog.get_logger("memtrace.auth")


@dataclass(frozen=True, slots=True)
class _Found:
    """An answer of the registry about a key.

    Attributes:
        key: None if the key does not exist.
        looked_up: time of the look-up.
        fresh_until: time of the next look-up.
    """

    key: ApiKey | None
    looked_up: float
    fresh_until: float


class KnownKeys:
    """Keys by id, from the registry. Its answers are cached for a moment, for unknown keys too.

    While the registry can't be asked, a key that was valid is accepted for longer.
    """

    def __init__(self, registry: Registry, seconds: float = REVOCATION_SECONDS) -> None:
        self._registry = registry
        self._seconds = seconds
        self._found: OrderedDict[str, _Found] = OrderedDict()

    def was_found(self, key_id: str) -> bool:
        """Whether the key existed at its last look-up, however long ago."""
        found = self._found.get(key_id)
        return found is not None and found.key is not None

    async def get(self, key_id: str) -> ApiKey | None:
        """The key with this id; None if it does not exist.

        Raises:
            StoreError: the registry can't be asked, and the key was not found valid lately.
        """
        asked = time.monotonic()
        kept = self._found.get(key_id)
        if kept is not None and kept.fresh_until > asked:
            return kept.key
        is_spare = kept is not None and kept.key is not None and asked - kept.looked_up < AWAY_SECONDS
        try:
            # A store that is away is asked again for up to a minute; the client should get an answer sooner.
            async with asyncio.timeout(_SPARE_LOOKUP_SECONDS if is_spare else _LOOKUP_SECONDS):
                key = await self._registry.key(key_id)
        except (StoreError, TimeoutError) as error:
            if kept is not None and is_spare:
                self._found[key_id] = replace(kept, fresh_until=time.monotonic() + self._seconds)
                return kept.key
            if isinstance(error, StoreError):
                raise
            raise StoreError("keys can't be looked up: the store does not answer") from error
        self._found.pop(key_id, None)
        # The time before the look-up counts, because the answer may be as old.
        self._found[key_id] = _Found(key, asked, asked + self._seconds)
        if len(self._found) > _MOST:
            self._found.popitem(last=False)
        return key


class LastUses:
    """The times when keys were last used, stored about once a minute."""

    def __init__(self, registry: Registry, seconds: float = _FLUSH_SECONDS) -> None:
        self._registry = registry
        self._seconds = seconds
        self._used: dict[str, datetime] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, key_id: str, at: datetime) -> None:
        """Remember that a key was used."""
        self._used[key_id] = at

    def start(self) -> None:
        """Begin to store times."""
        self._task = asyncio.create_task(self._run(), name="last uses of keys")

    async def stop(self) -> None:
        """Store the remaining times, and end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self.flush()

    async def flush(self) -> None:
        """Store the times that are not stored yet. If the registry can't take them, they are stored the next time."""
        used, self._used = self._used, {}
        if not used:
            return
        try:
            await self._registry.touch_keys(used)
        except StoreError as error:
            self._used = used | self._used
            _log.warning("last uses of keys wait for the store", keys=len(used), reason=str(error))

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self.flush()
