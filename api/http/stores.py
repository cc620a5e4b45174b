"""The state of the stores that hold some projects' traces beside the main one."""

from __future__ import annotations

import asyncio

import structlog

from schema.errors import StoreError
from store.contract.protocol import Database
from store.project_map import parts_of

LOOK_SECONDS = 2.0

_log = structlog.get_logger("memtrace.health")


async def mapped_stores(database: Database) -> dict[str, str]:
    """``ok``, ``outdated`` or ``unavailable`` by the store's name, after at most 2 seconds."""
    _, mapped = parts_of(database)
    states = await asyncio.gather(*(_look(name, one) for name, one in mapped.items()))
    return dict(zip(mapped, states, strict=True))


async def _look(name: str, database: Database) -> str:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            return "ok" if await database.has_current_layout() else "outdated"
    except (StoreError, TimeoutError) as error:
        _log.warning("a store is away", store=name, problem=type(error).__name__, reason=str(error))
        return "unavailable"
