"""The queue in a SQLite file of its own: for one server without a broker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from ingest.packets import lane_of
from ingest.queue import LANES, DeadLetter, Delivery, Outcome, Packet, QueueState, Share
from ingest.shares import Shares, workers_of
from schema.errors import NotFoundError, QueueFullError
from schema.texts import sql
from store.closing import Closing
from store.sqlite.connections import Connections
from store.sqlite.migrate import migrate
from store.times import from_microseconds, to_microseconds

_LOOK_SECONDS = 1.0
"""How soon a worker of another process sees a packet."""


class Journal(Closing):
    """Packets, dead letters and lanes in one file; see ``EventQueue``."""

    max_packet_bytes = 512 << 20

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Use ``open_journal``."""
        self._connections = Connections(path)
        self._max_bytes = max_bytes
        self._shares: dict[str, Shares] = {}
        self._arrived = [asyncio.Event() for _ in range(LANES)]

    async def open(self) -> None:
        """Make or update the file's layout."""
        await self._connections.write(lambda connection: migrate(connection, "journal"))

    async def put(self, packets: Sequence[Packet]) -> None:
        """See ``EventQueue``."""
        now = _now()
        lanes = [lane_of(packet.project_id, packet.trace) for packet in packets]
        rows = [
            (lane, packet.project_id, packet.trace, packet.body, packet.count, now, now)
            for lane, packet in zip(lanes, packets, strict=True)
        ]
        size = sum(len(packet.body) for packet in packets)

        def work(connection: apsw.Connection) -> None:
            _, held = connection.execute(_text("amount")).get
            if held + size > self._max_bytes:
                raise QueueFullError
            connection.executemany(_text("add_packet"), rows)
            connection.execute(_text("change_amount"), (len(rows), size))

        await self._connections.write(work)
        for lane in set(lanes):
            self._arrived[lane].set()

    async def share(self, worker: str, give_back: Collection[int] = ()) -> Share:
        """See ``EventQueue``."""
        shares = self._shares.setdefault(worker, Shares(worker))

        def work(connection: apsw.Connection) -> Share:
            changed, share = shares.renewed(connection.execute(_text("shares")).get, give_back)
            connection.execute(_text("change_shares"), (changed,))
            return share

        return await self._connections.write(work)

    async def leave(self, worker: str) -> None:
        """See ``EventQueue``."""
        shares = self._shares.pop(worker, Shares(worker))

        def work(connection: apsw.Connection) -> None:
            left = shares.left(connection.execute(_text("shares")).get)
            connection.execute(_text("change_shares"), (left,))

        await self._connections.write(work)

    async def take(self, lane: int, packets: int, seconds: float) -> list[Delivery]:
        """See ``EventQueue``."""
        deadline = time.monotonic() + seconds
        while True:
            self._arrived[lane].clear()
            found = await self._connections.read(lambda connection: _take(connection, lane, packets))
            if found:
                await self._touch([row[0] for row in found])
                return [_delivery(row) for row in found]
            left = deadline - time.monotonic()
            if left <= 0:
                return []
            try:
                async with asyncio.timeout(min(left, _LOOK_SECONDS)):
                    await self._arrived[lane].wait()
            except TimeoutError:
                continue

    async def _touch(self, keys: list[int]) -> None:
        def work(connection: apsw.Connection) -> None:
            connection.executemany(_text("touch"), [(key,) for key in keys])

        await self._connections.write(work)

    async def keep(self, deliveries: Sequence[Delivery]) -> None:
        """See ``EventQueue``: the lease of the lane is enough here."""

    async def settle(self, lane: int, outcome: Outcome) -> None:
        """See ``EventQueue``."""
        now = _now()

        def work(connection: apsw.Connection) -> None:
            connection.executemany(_text("bury"), [_row(letter) for letter in outcome.dead])
            freed = [
                size
                for delivery in outcome.done
                for (size,) in connection.execute(_text("delete_packet"), (delivery.handle,))
            ]
            connection.execute(_text("change_amount"), (-len(freed), -sum(freed)))
            connection.executemany(
                _text("postpone"), [(now + int(wait * 1_000_000), one.handle) for one, wait in outcome.later]
            )

        await self._connections.write(work)

    def letters(self, project_id: str) -> JournalLetters:
        """See ``EventQueue``."""
        return JournalLetters(self._connections, project_id)

    async def state(self) -> QueueState:
        """See ``EventQueue``."""

        def work(connection: apsw.Connection) -> QueueState:
            packets, size = connection.execute(_text("amount")).get
            oldest = connection.execute(_text("oldest")).get
            dead: int = connection.execute(_text("count_all_letters")).get
            workers = workers_of(connection.execute(_text("shares")).get)
            return QueueState(packets, size, from_microseconds(oldest), dead, workers)

        return await self._connections.read(work)

    async def close(self) -> None:
        """See ``EventQueue``."""
        await self._connections.close()


class JournalLetters:
    """The dead letters of one project; see ``DeadLetters``."""

    def __init__(self, connections: Connections, project_id: str) -> None:
        self._connections = connections
        self._project_id = project_id

    async def page(self, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """See ``DeadLetters``."""
        found = {"project": self._project_id, "after": after, "limit": limit}
        rows = await self._connections.read(lambda connection: connection.execute(_text("letters"), found).fetchall())
        return [_letter(row) for row in rows]

    async def get(self, letter_id: int) -> DeadLetter:
        """See ``DeadLetters``."""
        key = {"project": self._project_id, "k": letter_id}
        rows = await self._connections.read(lambda connection: connection.execute(_text("letter"), key).fetchall())
        if not rows:
            raise NotFoundError(str(letter_id), "dead letter")
        return _letter(rows[0])

    async def drop(self, letter_id: int) -> None:
        """See ``DeadLetters``."""
        key = {"project": self._project_id, "k": letter_id}
        await self._connections.write(lambda connection: connection.execute(_text("drop_letter"), key))

    async def count(self) -> int:
        """See ``DeadLetters``."""
        key = {"project": self._project_id}
        found: int = await self._connections.read(
            lambda connection: connection.execute(_text("count_letters"), key).get
        )
        return found


async def open_journal(path: Path, max_bytes: int) -> Journal:
    """Open the file; one that is not there is made.

    Raises:
        StoreError: it can't be used.
    """
    journal = Journal(path, max_bytes)
    try:
        await journal.open()
    except BaseException:
        await journal.close()
        raise
    return journal


def _text(name: str) -> str:
    return sql(f"journal/{name}")


def _now() -> int:
    return time.time_ns() // 1000


def _take(connection: apsw.Connection, lane: int, packets: int) -> list[Any]:
    return connection.execute(_text("take"), {"lane": lane, "now": _now(), "limit": packets}).fetchall()


def _delivery(row: Sequence[Any]) -> Delivery:
    k, project, trace, body, events, sent_at, tries = row
    return Delivery(Packet(project, trace, body, events), tries + 1, _time(sent_at), k)


def _row(letter: DeadLetter) -> tuple[Any, ...]:
    return (
        letter.digest,
        letter.project_id,
        letter.trace,
        letter.event,
        letter.reason,
        letter.tries,
        to_microseconds(letter.sent_at),
        to_microseconds(letter.died_at),
    )


def _letter(row: Sequence[Any]) -> DeadLetter:
    k, project, trace, event, reason, tries, sent_at, died_at = row
    return DeadLetter(k, project, trace, event, reason, tries, _time(sent_at), _time(died_at))


def _time(microseconds: int) -> datetime:
    found = from_microseconds(microseconds)
    assert found is not None
    return found
