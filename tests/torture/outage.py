"""What senders see while Neo4j is away, and how long it takes until nothing waits once it is back."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence

from tests.torture.load import Sender
from tests.torture.processes import World, waits

_PATIENCE_SECONDS = 180.0


async def taken_while_neo4j_is_away(world: World, senders: Sequence[Sender], seconds: float) -> int:
    """Events are acknowledged all the time, and wait; how many packets do at the end."""
    back_at = time.monotonic() + seconds
    while time.monotonic() < back_at:
        await more_is_acknowledged(senders)
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while (waiting := await asyncio.to_thread(waits, world.url)) < 0:
            await asyncio.sleep(0.2)
    assert waiting > 0
    return waiting


async def more_is_acknowledged(senders: Sequence[Sender]) -> None:
    """Wait until each sender is a step further."""
    goals = [sender.steps + 1 for sender in senders]
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while any(sender.steps < goal for sender, goal in zip(senders, goals, strict=True)):
            await asyncio.sleep(0.05)


async def drained(world: World) -> None:
    """Wait until nothing waits; for how long is up to the machine, as long as it becomes less."""
    least, since = sys.maxsize, time.monotonic()
    while (left := await asyncio.to_thread(waits, world.url)) != 0:
        if 0 < left < least:
            least, since = left, time.monotonic()
        assert time.monotonic() - since < _PATIENCE_SECONDS, world.log_of("")[-3000:]
        await asyncio.sleep(0.2)
