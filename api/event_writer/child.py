"""The child that writes events, ``python -m api.event_writer.child``, and its messages with the server."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import msgspec
import structlog

from api.logs import set_up_logs
from api.processes.children import Message, Parent
from api.processes.memory import hold_little
from api.settings.child import begin
from schema.errors import DamagedError, StoreError

if TYPE_CHECKING:
    from api.settings import Settings
    from ingest.queue.journal.queue import Journal
    from ingest.queue.worker import EventWorker
    from store.contract.protocol import Database

_TELL_SECONDS = 0.1
_NICE = 5
"""The server has precedence: acknowledged events can wait a moment."""

_log = structlog.get_logger("memtrace.events")


class Arrived(Message, frozen=True):
    """Packets have come to these lanes of the journal."""

    lanes: list[int]


class Stop(Message, frozen=True):
    """Finish the current work within so many seconds, and end."""

    seconds: float


class Told(Message, frozen=True):
    """The counts since the child started, by the names of ``Tally``; and the damage of the store, if any."""

    tally: dict[str, int]
    damage: str | None


ToChild = Arrived | Stop


class _Writer:
    """Writes events until the server says stop."""

    def __init__(self, settings: Settings, parent: Parent) -> None:
        self._settings = settings
        self._parent = parent
        self._stop: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        from api.settings.loading import open_events_journal, open_store
        from ingest.queue.worker import EventWorker

        settings = self._settings
        async with await open_store(settings) as database, await open_events_journal(settings) as journal:
            worker = EventWorker(journal, database, settings.event_tries, settings.event_concurrency)
            loop = asyncio.get_running_loop()
            self._parent.listen(lambda data: self._take(data, loop, journal))
            await worker.start()
            telling = asyncio.create_task(self._tell(worker, database))
            try:
                await worker.stop(await self._stop)
            finally:
                telling.cancel()
                with suppress(asyncio.CancelledError):
                    await telling
            self._parent.say(Told(asdict(worker.tally), None))

    def _take(self, data: bytes, loop: asyncio.AbstractEventLoop, journal: Journal) -> None:
        """Take a message, on the thread that listens."""
        message = msgspec.json.decode(data, type=ToChild)
        if isinstance(message, Arrived):
            loop.call_soon_threadsafe(journal.arrived, message.lanes)
        else:
            loop.call_soon_threadsafe(self._stop.set_result, message.seconds)

    async def _tell(self, worker: EventWorker, database: Database) -> None:
        """Report counts and damage when they change."""
        told = Told({}, None)
        while True:
            now = Told(asdict(worker.tally), await _damage(database) if worker.tally.store_failures else None)
            if now != told:
                self._parent.say(now)
                told = now
            await asyncio.sleep(_TELL_SECONDS)


async def _damage(database: Database) -> str | None:
    try:
        await database.check()
    except DamagedError as error:
        return str(error)
    except StoreError:
        pass  # the server notices this error by itself
    return None


async def _run(settings: Settings, parent: Parent) -> None:
    await _Writer(settings, parent).run()


def main() -> None:
    """Take the settings, and write events until told to stop, or until the server is gone."""
    begun = begin()
    if begun is None:
        return
    from store.runtime.garbage_collector import collect_rarely

    settings, parent = begun
    set_up_logs(settings.log_level, settings.log_format)
    os.nice(_NICE)
    hold_little()
    collect_rarely()
    try:
        asyncio.run(_run(settings, parent))
    except StoreError as error:
        _log.warning("events can't be written", reason=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
