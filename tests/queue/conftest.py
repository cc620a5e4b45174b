"""An empty queue of each engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from api.local_servers.nats import LocalNats
from ingest.queue.journal.queue import open_journal
from ingest.queue.nats.connection import NatsPlace
from ingest.queue.nats.queue import open_nats
from ingest.queue.protocol import EventQueue
from tests.nats_server import NatsServer

Opener = Callable[..., Awaitable[EventQueue]]


@pytest_asyncio.fixture(params=["journal", "nats"])
async def opener(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opener]:
    """A function that opens the same queue several times, as several processes would."""
    async with AsyncExitStack() as stack:
        if request.param == "journal":

            async def open_one(max_bytes: int = 1 << 30) -> EventQueue:
                return await stack.enter_async_context(await open_journal(tmp_path / "journal", max_bytes))

        else:
            request.getfixturevalue("nats")  # skips if there is no NATS server
            local = LocalNats(tmp_path / "nats", port=0)
            stack.callback(local.stop, kill=True)
            server = NatsServer(local, local.start(guarded=True))
            place = NatsPlace(server.uri, server.user, server.password)

            async def open_one(max_bytes: int = 1 << 30) -> EventQueue:
                return await stack.enter_async_context(await open_nats(place, max_bytes))

        yield open_one


@pytest_asyncio.fixture
async def queue(opener: Opener) -> EventQueue:
    """An empty queue."""
    return await opener()
