"""The server's side of the child that writes its events; see ``api.event_writer.child``.

Reading events, rebuilding values and making elements needs the interpreter for long. In a child this work delays no
request. All state is in the journal and the store: if the child is killed, another child continues.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict

import msgspec
import structlog

from api.event_writer.child import Arrived, Stop, Told
from api.processes.children import GONE, heard, kill, say
from api.settings import Settings
from api.settings.child import start_with_settings
from ingest.queue.journal.queue import Journal
from ingest.queue.tally import Tally

_PAUSE_SECONDS = 1.0
_MARGIN_SECONDS = 5.0
"""Seconds for an orderly end, beyond the time that the work under way has."""

_decoder = msgspec.json.Decoder(Told)
_log = structlog.get_logger("memtrace.events")


class EventWriter:
    """Keeps a child running that writes events.

    Attributes:
        tally: counts over all children.
        damage: the damage of the store, if a write has shown any.
    """

    def __init__(self, settings: Settings, journal: Journal) -> None:
        """Prepare it.

        Args:
            settings: where the journal and the store are.
            journal: the journal of this server.
        """
        journal.on_arrival(self._arrived)
        self.tally = Tally()
        self.damage: str | None = None
        self._settings = settings
        self._process: Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._is_stopping = False

    async def start(self) -> None:
        """Begin to write."""
        self._process = await start_with_settings("api.event_writer.child", self._settings)
        self._keeper = asyncio.create_task(self._keep())

    def _arrived(self, lanes: Iterable[int]) -> None:
        """Wake the child: packets have come to these lanes.

        Otherwise the child would see the packets a second later.
        """
        if self._process is not None:
            with suppress(ConnectionError):
                say(self._process, Arrived(sorted(lanes)))

    async def stop(self, seconds: float) -> None:
        """Finish the current work within so many seconds; unfinished work stays in the journal."""
        self._is_stopping = True
        if self._keeper is None:
            return
        if self._process is not None:
            with suppress(ConnectionError):
                say(self._process, Stop(seconds))
        await asyncio.wait({self._keeper}, timeout=seconds + _MARGIN_SECONDS)
        self._keeper.cancel()
        await asyncio.gather(self._keeper, return_exceptions=True)

    async def _keep(self) -> None:
        """Listen to the child; if it ends by itself, start another child."""
        try:
            while True:
                assert self._process is not None
                await self._listen(self._process)
                code = await self._process.wait()
                if self._is_stopping:
                    return
                _log.warning("the process that writes events has ended; another one goes on", code=code)
                self._process = await self._another()
        finally:
            if self._process is not None and self._process.returncode is None:
                await kill(self._process)

    async def _another(self) -> Process:
        while True:
            await asyncio.sleep(_PAUSE_SECONDS)
            try:
                return await start_with_settings("api.event_writer.child", self._settings)
            except OSError as error:
                _log.warning("no process could be started to write events; it is tried again", reason=str(error))

    async def _listen(self, process: Process) -> None:
        before = asdict(self.tally)
        with suppress(*GONE):
            while True:
                told = _decoder.decode(await heard(process))
                for name, count in told.tally.items():
                    setattr(self.tally, name, before[name] + count)
                self.damage = self.damage or told.damage
