"""The queue in a SQLite file of its own, for one server without NATS."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from ingest.queue.batching import FairOrder, Room
from ingest.queue.journal import blocks
from ingest.queue.journal.blocks import time_of
from ingest.queue.journal.damage import Damage
from ingest.queue.journal.letters import JournalLetters
from ingest.queue.journal.queries import sql
from ingest.queue.packets import lane_of
from ingest.queue.protocol import LANES, Delivery, Packet, QueueState, Settlement, Share
from ingest.queue.shares import Shares, workers_of
from schema.errors import DamagedError, QueueFullError
from schema.times import from_microseconds
from store.runtime.private_files import opened_to_others
from store.shared.closing import Closing
from store.sqlite.connections import Connections, files_of
from store.sqlite.migrate import migrate


class PutOff:
    """Keys, each with a due time."""

    def __init__(self) -> None:
        self._moments: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []

    def add(self, key: int, seconds: float) -> None:
        """Add a key that is due in ``seconds``; replaces the key's earlier due time."""
        moment = time.monotonic() + seconds
        self._moments[key] = moment
        heapq.heappush(self._heap, (moment, key))

    def drop(self, key: int) -> None:
        """Forget a key."""
        self._moments.pop(key, None)

    def due(self) -> list[int]:
        """Remove and return the keys that are due, the earliest first."""
        found = []
        while self.seconds_left() == 0:
            _, key = heapq.heappop(self._heap)
            del self._moments[key]
            found.append(key)
        return found

    def seconds_left(self) -> float | None:
        """Seconds until the next key is due; None if there is none."""
        while self._heap and self._moments.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # dropped, or added again with another due time
        return max(0.0, self._heap[0][0] - time.monotonic()) if self._heap else None


_FEW_LETTERS = 20
"""Up to this number, dead letters are packed without a thread."""

_LOOK_SECONDS = 1.0
"""Longest time until a worker in another process sees a new packet."""


@dataclass(slots=True)
class _Lane:
    """State of a lane while this process holds it.

    Attributes:
        put_off: packets to hand out again later. The times exist only in memory: another holder of the lane, or this
            process after a restart, hands these packets out at once.
        order: decides which project's packet is next.
        served: the project of the last packet; the search for the next packet begins after this project.
        is_open: whether the packets that earlier holders of the lane put off have been recalled.
    """

    put_off: PutOff = field(default_factory=PutOff)
    order: FairOrder = field(default_factory=FairOrder)
    served: str = ""
    is_open: bool = False


class Journal(Closing):
    """Packets, dead letters and lanes in one file; see ``EventQueue``."""

    max_packet_bytes = 512 << 20
    is_away = False

    def __init__(self, path: Path, max_bytes: int, dead_bytes: int) -> None:
        """Call ``open_journal`` instead."""
        self._connections = Connections(path, shrinks=True)
        self._max_bytes = max_bytes
        self._dead_bytes = dead_bytes
        self._damage = Damage()
        self._shares: dict[str, Shares] = {}
        self._lanes: dict[int, _Lane] = defaultdict(_Lane)
        self._arrived = [asyncio.Event() for _ in range(LANES)]
        self._tell: Callable[[Iterable[int]], None] = self.arrived

    async def open(self) -> None:
        """Create or update the tables of the file, and check that the file can be read."""
        await self._connections.write(lambda connection: migrate(connection, "journal"))
        await self.state()
        while await self._connections.write(lambda connection: blocks.move_old(connection, self._dead_bytes)):
            continue

    def arrived(self, lanes: Iterable[int]) -> None:
        """Wake this process's tasks that wait for packets of the lanes."""
        for lane in lanes:
            self._arrived[lane].set()

    def on_arrival(self, tell: Callable[[Iterable[int]], None]) -> None:
        """Call ``tell`` with the lanes of new packets, instead of waking tasks of this process."""
        self._tell = tell

    async def put(self, packets: Sequence[Packet]) -> None:
        """See ``EventQueue``."""
        rows = [_row(packet) for packet in packets]
        size = sum(len(packet.body) for packet in packets)

        def work(connection: apsw.Connection) -> None:
            _, held = connection.execute(sql("packets.amount")).get
            if held + size > self._max_bytes:
                raise QueueFullError
            connection.executemany(sql("packets.add"), rows)
            connection.execute(sql("packets.change_amount"), (len(rows), size))

        await self._connections.write(work)
        self._tell({row[0] for row in rows})

    async def share(self, worker: str, give_back: Collection[int] = ()) -> Share:
        """See ``EventQueue``."""
        shares = self._shares.setdefault(worker, Shares(worker))

        def work(connection: apsw.Connection) -> Share:
            changed, share = shares.renewed(connection.execute(sql("shares.get")).get, give_back)
            connection.execute(sql("shares.change"), (changed,))
            return share

        share = await self._connections.write(work)
        for lane in self._lanes.keys() - share.held:
            del self._lanes[lane]
        return share

    async def leave(self, worker: str) -> None:
        """See ``EventQueue``."""
        shares = self._shares.pop(worker, Shares(worker))

        def work(connection: apsw.Connection) -> None:
            left = shares.left(connection.execute(sql("shares.get")).get)
            connection.execute(sql("shares.change"), (left,))

        await self._connections.write(work)

    async def take(self, lane: int, packets: int, seconds: float) -> list[Delivery]:
        """See ``EventQueue``."""
        deadline = time.monotonic() + seconds
        while True:
            held = self._lanes[lane]
            self._arrived[lane].clear()
            await self._recall(lane, held)
            found = await self._read(lane, packets, held)
            if found:
                held.served = found[-1].packet.project_id
                await self._each("packets.touch", [one.key for one in found])
                return found
            now = time.monotonic()
            if now >= deadline:
                return []
            until_due = held.put_off.seconds_left()
            wait = min(deadline - now, _LOOK_SECONDS, _LOOK_SECONDS if until_due is None else until_due)
            try:
                async with asyncio.timeout(wait):
                    await self._arrived[lane].wait()
            except TimeoutError:
                continue

    async def _read(self, lane: int, packets: int, held: _Lane) -> list[Delivery]:
        """The next packets of a lane. In a damaged file, the packets that can't be read are left out."""
        if not self._damage.is_known:
            try:
                return await self._connections.read(partial(_take, lane, packets, held, _packets))
            except DamagedError:
                self._damage.is_known = True
        read = partial(self._damage.packets, read_row=_checked_delivery)
        while True:
            before = self._damage.count
            try:
                return await self._connections.read(partial(_take, lane, packets, held, read))
            except DamagedError:
                if self._damage.count == before:
                    raise

    async def _recall(self, lane: int, held: _Lane) -> None:
        """Make packets ready that are due, or that another holder of the lane had put off."""
        if not held.is_open:
            await self._connections.write(lambda connection: connection.execute(sql("packets.recall_lane"), (lane,)))
            held.is_open = True
        if due := held.put_off.due():
            await self._each("packets.recall", due)

    async def _each(self, text: str, keys: Sequence[int]) -> None:
        """Run a statement for each key; in a damaged file, a packet that can't be changed is left out."""

        def work(some: Sequence[int], connection: apsw.Connection) -> None:
            connection.executemany(sql(text), [(key,) for key in some])

        try:
            await self._connections.write(partial(work, keys))
        except DamagedError as error:
            if len(keys) == 1:
                self._damage.leave_out(keys[0], str(error))
            else:
                for key in keys:
                    await self._each(text, [key])

    async def keep(self, deliveries: Sequence[Delivery]) -> None:
        """See ``EventQueue``; nothing to do, because the lane's lease also covers its packets."""

    async def settle(self, lane: int, settlement: Settlement) -> None:
        """See ``EventQueue``; there is always room for found packets."""
        found = [_row(packet) for packet in settlement.found]
        more = sum(len(packet.body) for packet in settlement.found)
        many = len(settlement.dead) > _FEW_LETTERS
        dead = await asyncio.to_thread(blocks.blocks_of, settlement.dead) if many else blocks.blocks_of(settlement.dead)

        def store(connection: apsw.Connection) -> None:
            blocks.bury(connection, dead, self._dead_bytes)
            connection.executemany(sql("packets.add"), found)
            connection.execute(sql("packets.change_amount"), (len(found), more))

        def work(connection: apsw.Connection) -> None:
            store(connection)
            _remove(settlement.done, connection)
            connection.executemany(sql("packets.postpone"), [(one.key,) for one, _ in settlement.later])

        try:
            await self._connections.write(work)
        except DamagedError:
            await self._connections.write(store)
            await self._settle_one_by_one(settlement)
        put_off = self._lanes[lane].put_off
        for delivery, wait in settlement.later:
            put_off.add(delivery.key, wait)
        for delivery in settlement.done:
            put_off.drop(delivery.key)

    async def _settle_one_by_one(self, settlement: Settlement) -> None:
        """Remove or postpone the packets of a damaged file; a packet that can't be changed is left out."""
        for delivery in settlement.done:
            try:
                await self._connections.write(partial(_remove, [delivery]))
            except DamagedError as error:
                self._damage.leave_out(delivery.key, str(error))
        await self._each("packets.postpone", [one.key for one, _ in settlement.later])

    def letters(self, project_id: str) -> JournalLetters:
        """See ``EventQueue``."""
        return JournalLetters(self._connections, project_id)

    async def state(self) -> QueueState:
        """See ``EventQueue``."""

        def work(connection: apsw.Connection) -> QueueState:
            packets, size = connection.execute(sql("packets.amount")).get
            oldest = connection.execute(sql("packets.oldest")).get
            dead, lost = connection.execute(sql("letters.amounts")).get
            workers = workers_of(connection.execute(sql("shares.get")).get)
            return QueueState(packets, size, from_microseconds(oldest), dead, lost, workers)

        return await self._connections.read(work)

    async def check(self) -> None:
        """See ``EventQueue``; writes a few bytes, at most every five seconds."""
        await self._connections.check()

    async def inspect(self) -> tuple[dict[str, Any], list[str], list[str]]:
        """A description of the file: details, problems and warnings."""
        problems = await self._connections.inspect(
            lambda connection: [
                f"{self._connections.path}: damaged: {row[0]}"
                for row in connection.execute("PRAGMA quick_check(5)")
                if row[0] != "ok"
            ]
        )
        found = await self.state()
        details = {"path": str(self._connections.path), "packets": found.packets, "deadLetters": found.dead}
        return details, problems, opened_to_others(files_of(self._connections.path))

    async def close(self) -> None:
        """See ``EventQueue``."""
        await self._connections.close()


DEAD_BYTES = 64 << 20


async def open_journal(path: Path, max_bytes: int, dead_bytes: int = DEAD_BYTES) -> Journal:
    """Open or create the file.

    Args:
        path: the file.
        max_bytes: largest compressed size of the packets.
        dead_bytes: largest compressed size of a project's dead letters; the oldest letters go first.

    Raises:
        StoreError: the file can't be used.
    """
    journal = Journal(path, max_bytes, dead_bytes)
    try:
        await journal.open()
    except BaseException:
        await journal.close()
        raise
    return journal


_Read = Callable[[apsw.Connection, int, str, int], Iterator[Delivery]]
"""The packets of a lane and a project, the oldest first, up to a number."""


def _take(lane: int, packets: int, held: _Lane, read: _Read, connection: apsw.Connection) -> list[Delivery]:
    """Packets of a lane in the projects' fair order; ties go to the projects after the last served one, by name."""
    room = Room(packets)
    of_projects = {
        project: read(connection, lane, project, packets)
        for project in _projects(connection, lane, packets, held.served)
    }
    taken: list[Delivery] = []
    for delivery in held.order.deliveries(of_projects):
        taken.append(delivery)
        room.take(delivery.packet)
        if room.is_full:
            break
    return taken


def _packets(connection: apsw.Connection, lane: int, project: str, limit: int) -> Iterator[Delivery]:
    wanted = {"lane": lane, "project": project, "limit": limit}
    for row in connection.execute(sql("packets.take"), wanted):
        yield _checked_delivery(lane, row)


def _remove(deliveries: Iterable[Delivery], connection: apsw.Connection) -> None:
    freed = [size for delivery in deliveries for (size,) in connection.execute(sql("packets.delete"), (delivery.key,))]
    connection.execute(sql("packets.change_amount"), (-len(freed), -sum(freed)))


def _projects(connection: apsw.Connection, lane: int, most: int, served: str) -> list[str]:
    """Projects with ready packets, by name: first the projects after ``served``, then the others."""
    found: dict[str, None] = {}
    for start in (served, ""):
        project = start
        while len(found) < most:
            project = connection.execute(sql("packets.next_project"), {"lane": lane, "after": project}).get
            if project is None or project in found:
                break
            found[project] = None
    return list(found)


def _row(packet: Packet) -> tuple[Any, ...]:
    lane, now = lane_of(packet.project_id, packet.trace), time.time_ns() // 1000
    return (
        lane,
        packet.project_id,
        packet.trace,
        packet.body,
        packet.count,
        packet.rebuilt,
        packet.is_found,
        now,
    )


def _checked_delivery(lane: int, row: Sequence[Any]) -> Delivery:
    """The delivery of a row.

    Raises:
        apsw.CorruptError: the packet's project and trace belong to another lane, so the row is damaged.
    """
    k, project, trace, body, events, rebuilt, found, sent_at, tries = row
    if lane_of(project, trace) != lane:
        raise apsw.CorruptError(f"packet {k} is not of its lane")
    return Delivery(Packet(project, trace, body, events, rebuilt, bool(found)), tries + 1, time_of(sent_at), k)
