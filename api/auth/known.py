"""Keys that were looked up a moment ago, and when keys were last used."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from datetime import datetime

import structlog

from schema.control import ApiKey
from schema.errors import StoreError
from store.records import Registry

REVOCATION_SECONDS = 5.0
"""A revoked key is refused after this time at the latest, by every process."""

_MOST = 10_000
_LOOKUP_SECONDS = 5.0
_FLUSH_SECONDS = 60.0

_log = structlog.get_logger("memtrace.auth")


class KnownKeys:
    """Keys by id, from the registry; what it said is believed for a moment, that there is no such key too."""

    def __init__(self, registry: Registry, seconds: float = REVOCATION_SECONDS) -> None:
        self._registry = registry
        self._seconds = seconds
        self._found: OrderedDict[str, tuple[float, ApiKey | None]] = OrderedDict()

    def was_found(self, key_id: str) -> bool:
        """Whether there was such a key when it was last looked up, however long ago."""
        return self._found.get(key_id, (0.0, None))[1] is not None

    async def get(self, key_id: str) -> ApiKey | None:
        """The key with this id; None where there is none.

        Raises:
            StoreError: the registry can't be asked.
        """
        asked = time.monotonic()
        kept = self._found.get(key_id)
        if kept is not None and kept[0] > asked:
            return kept[1]
        try:
            # A store that is away is asked again and again for a minute; who waits for an answer should know sooner.
            async with asyncio.timeout(_LOOKUP_SECONDS):
                key = await self._registry.key(key_id)
        except TimeoutError as error:
            raise StoreError("keys can't be looked up: the store does not answer") from error
        self._found.pop(key_id, None)
        # Counted from before the question: the answer may be as old as that.
        self._found[key_id] = (asked + self._seconds, key)
        if len(self._found) > _MOST:
            self._found.popitem(last=False)
        return key


class LastUses:
    """When keys were last used, told to the registry about once a minute."""

    def __init__(self, registry: Registry, seconds: float = _FLUSH_SECONDS) -> None:
        self._registry = registry
        self._seconds = seconds
        self._used: dict[str, datetime] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, key_id: str, at: datetime) -> None:
        """Remember that a key was used."""
        self._used[key_id] = at

    def start(self) -> None:
        """Begin to tell."""
        self._task = asyncio.create_task(self._run(), name="last uses of keys")

    async def stop(self) -> None:
        """Tell the rest, and end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self.flush()

    async def flush(self) -> None:
        """Tell the registry what it does not know yet; what it can't take now, it is told the next time."""
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
