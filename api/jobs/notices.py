"""Notices of new jobs between the processes of a team, through the broker of events.

A job is a record in the store, and runners claim it there. If a notice is lost, the job only waits until a runner's
next look.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog
from nats.aio.msg import Msg

from ingest.queue.nats.connection import translated
from schema.errors import StoreError

if TYPE_CHECKING:
    from nats.aio.client import Client

_SUBJECT = "memtrace.jobs"

_log = structlog.get_logger("memtrace.jobs")


class Notices:
    """Sends notices to every process that listens."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def send(self) -> None:
        """Announce a new job."""
        try:
            with translated():
                await self._client.publish(_SUBJECT)
        except StoreError as error:
            _log.warning("workers could not be told of a job; they look for it themselves", reason=str(error))

    async def listen(self, arrived: asyncio.Event) -> None:
        """Set the event at each notice.

        Raises:
            StoreError: NATS can't be used.
        """

        async def heard(_: Msg) -> None:
            arrived.set()

        with translated():
            await self._client.subscribe(_SUBJECT, cb=heard)
