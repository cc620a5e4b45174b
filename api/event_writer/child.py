"""The process that writes events: ``python -m api.event_writer.child``."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, BinaryIO

import msgspec
import structlog

from api.children import begin_child, encode, read_message
from api.event_writer.messages import Arrived, ToChild, Told
from schema.errors import DamagedError, StoreError

if TYPE_CHECKING:
    from api.settings import Settings
    from ingest.queue.journal.queue import Journal
    from ingest.queue.worker import EventWorker
    from store.contract.protocol import Database

_TELL_SECONDS = 0.1
_NICE = 5
"""The server answers first: what it has acknowledged can wait a moment."""

_log = structlog.get_logger("memtrace.events")


class _Writer:
    """Writes until it is told to stop."""

    def __init__(self, settings: Settings, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._settings = settings
        self._incoming = incoming
        self._outgoing = outgoing
        self._stop: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        from api.loading import open_events_journal, open_store
        from ingest.queue.worker import EventWorker

        settings = self._settings
        async with await open_store(settings) as database, await open_events_journal(settings) as journal:
            worker = EventWorker(journal, database, settings.event_tries, settings.event_concurrency)
            listening = threading.Thread(target=self._listen, args=(asyncio.get_running_loop(), journal), daemon=True)
            listening.start()
            await worker.start()
            telling = asyncio.create_task(self._tell(worker, database))
            try:
                await worker.stop(await self._stop)
            finally:
                telling.cancel()
                with suppress(asyncio.CancelledError):
                    await telling
            self._say(Told(asdict(worker.tally), None))

    def _listen(self, loop: asyncio.AbstractEventLoop, journal: Journal) -> None:
        """Take messages on a thread of its own, so that the end of the server is the end of this process at once."""
        while (data := read_message(self._incoming)) is not None:
            message = msgspec.json.decode(data, type=ToChild)
            if isinstance(message, Arrived):
                loop.call_soon_threadsafe(journal.arrived, message.lanes)
            else:
                loop.call_soon_threadsafe(self._stop.set_result, message.seconds)
        os._exit(0)

    async def _tell(self, worker: EventWorker, database: Database) -> None:
        """Report what was done, whenever something was."""
        told = Told({}, None)
        while True:
            now = Told(asdict(worker.tally), await _damage(database) if worker.tally.store_failures else None)
            if now != told:
                self._say(now)
                told = now
            await asyncio.sleep(_TELL_SECONDS)

    def _say(self, message: Told) -> None:
        self._outgoing.write(encode(message))
        self._outgoing.flush()


async def _damage(database: Database) -> str | None:
    try:
        await database.check()
    except DamagedError as error:
        return str(error)
    except StoreError:
        pass  # the server finds that out by itself
    return None


async def _write(settings: Settings, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    await _Writer(settings, incoming, outgoing).run()


def main() -> None:
    """Take the settings, and write events until told to stop, or until the server is gone."""
    begun = begin_child()
    if begun is None:
        return
    from api.malloc import hold_little
    from store.runtime.garbage_collector import collect_rarely

    os.nice(_NICE)
    hold_little()
    collect_rarely()
    try:
        asyncio.run(_write(*begun))
    except StoreError as error:
        _log.warning("events can't be written", reason=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
