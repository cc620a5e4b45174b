"""The queue in NATS JetStream, for the servers and workers of a team."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import starmap
from typing import TypeVar

import msgspec
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js import errors as js
from nats.js.kv import KeyValue

from ingest.queue.batching import FairOrder, Room
from ingest.queue.nats.connection import ANSWER_SECONDS, NatsPlace, connect, translated
from ingest.queue.nats.letters import NatsLetters, bury, count_lost
from ingest.queue.nats.pull import Pull
from ingest.queue.nats.streams import DEAD, EVENTS, SHARES_KEY, consumer_of, ensure_streams, subject_of
from ingest.queue.packets import lane_of
from ingest.queue.protocol import Delivery, Packet, QueueState, Settlement, Share
from ingest.queue.shares import Shares, workers_of
from schema.errors import StoreError
from store.shared.closing import Closing

T = TypeVar("T")

_log = structlog.get_logger("memtrace.nats")
_AT_A_TIME = 64
_CLOSE_SECONDS = 3.0
_ROOM_FOR_HEADERS = 4096
_CHANGES = 20
"""Tries for a change of the shared document, since others may change the document at the same time."""


class _Body(msgspec.Struct, array_like=True):
    version: int
    project_id: str
    trace: str
    count: int
    body: bytes
    rebuilt: int = 0
    is_found: bool = False


@dataclass(slots=True)
class _Taken:
    """A taken message.

    Attributes:
        message: the message.
        is_put_off: whether the server was asked to hand the message out again later.
    """

    message: Msg
    is_put_off: bool = False


@dataclass(slots=True)
class _Lane:
    """State of a lane while this process holds it.

    Attributes:
        consumer: name of the lane's consumer.
        pull: takes the consumer's messages.
        reconnects: number of reconnections when this object was made.
        order: decides which project's packet is next.
        spare: messages that were taken, for the next batch.
        is_settled: whether all packets that were handed out have been settled.
    """

    consumer: str
    pull: Pull
    reconnects: int
    order: FairOrder = field(default_factory=FairOrder)
    spare: list[Delivery] = field(default_factory=list)
    is_settled: bool = True


class NatsQueue(Closing):
    """Packets, dead letters and lanes in JetStream; see ``EventQueue``."""

    def __init__(self, client: Client, stream: JetStreamContext, bucket: KeyValue) -> None:
        """Call ``open_nats`` instead."""
        self.client = client
        self.max_packet_bytes = client.max_payload - _ROOM_FOR_HEADERS
        self._stream = stream
        self._bucket = bucket
        self._shares: dict[str, Shares] = {}
        self._lanes: dict[int, _Lane] = {}
        self._opening = asyncio.Lock()
        self._publishing = asyncio.Semaphore(_AT_A_TIME)

    @property
    def is_away(self) -> bool:
        """See ``EventQueue``."""
        return not self.client.is_connected

    async def put(self, packets: Sequence[Packet]) -> None:
        """See ``EventQueue``."""
        if not self.client.is_connected:
            raise StoreError("NATS: not connected")
        by_lane: dict[int, list[Packet]] = defaultdict(list)
        for packet in packets:
            by_lane[lane_of(packet.project_id, packet.trace)].append(packet)
        results = await asyncio.gather(*starmap(self._put, by_lane.items()), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _put(self, lane: int, packets: Sequence[Packet]) -> None:
        """Publish packets of one lane sequentially, so that their order is kept."""
        async with self._publishing:
            for packet in packets:
                body = msgspec.msgpack.encode(
                    _Body(
                        1,
                        packet.project_id,
                        packet.trace,
                        packet.count,
                        packet.body,
                        packet.rebuilt,
                        packet.is_found,
                    )
                )
                with translated():
                    await self._stream.publish(subject_of(lane), body, timeout=ANSWER_SECONDS, stream=EVENTS)

    async def share(self, worker: str, give_back: Collection[int] = ()) -> Share:
        """See ``EventQueue``."""
        shares = self._shares.setdefault(worker, Shares(worker))
        share = await self._change(lambda document: shares.renewed(document, give_back))
        for lane in self._lanes.keys() - share.held:
            await self._lanes.pop(lane).pull.close()
        return share

    async def leave(self, worker: str) -> None:
        """See ``EventQueue``."""
        shares = self._shares.pop(worker, Shares(worker))
        await self._change(lambda document: (shares.left(document), None))

    async def _change(self, change: Callable[[str | None], tuple[str, T]]) -> T:
        """Change the document of shares; if somebody else changed the document meanwhile, read it and try again."""
        with translated():
            for _ in range(_CHANGES):
                try:
                    entry = await self._bucket.get(SHARES_KEY)
                    document, revision = (entry.value or b"").decode() or None, entry.revision
                except js.KeyNotFoundError:
                    document, revision = None, 0
                changed, result = change(document)
                try:
                    await self._bucket.update(SHARES_KEY, changed.encode(), last=revision)
                except js.KeyWrongLastSequenceError:
                    continue
                return result
        raise StoreError("NATS: the lanes could not be shared out: too many workers change their shares at a time")

    async def take(self, lane: int, packets: int, seconds: float) -> list[Delivery]:
        """See ``EventQueue``."""
        with translated():
            held = await self._lane(lane)
            held.is_settled = False
            if not held.spare:
                messages = await held.pull.take(packets, seconds)
                held.spare = [one for message in messages if (one := await _delivery(message)) is not None]
            found, held.spare = _batch(held.spare, held.order)
            held.is_settled = not found
            return found

    async def _lane(self, lane: int) -> _Lane:
        """The state of a held lane; opens the lane at first use, and again after the connection was lost.

        A caller that gave up its last packets unsettled also gets a newly opened lane, which begins with these packets.
        """
        known = self._lanes.get(lane)
        reconnects: int = self.client.stats["reconnects"]
        if known is None or known.reconnects != reconnects or not known.is_settled:
            async with self._opening:  # a server that creates many consumers at once is slow to answer
                if known is not None:
                    await known.pull.close()
                known = self._lanes[lane] = await self._open(lane, reconnects)
        return known

    async def _open(self, lane: int, reconnects: int) -> _Lane:
        """Create the lane's consumer anew, so that the lane begins with the oldest packet.

        An old consumer would hand out packets that another worker, or a lost connection, had taken or put off only
        after their timeout, behind newer packets. A new consumer hands out all waiting packets in order.
        """
        config = consumer_of(lane)
        assert config.durable_name is not None
        made = await self._stream.add_consumer(EVENTS, config)
        if made.num_ack_pending:
            await self._stream.delete_consumer(EVENTS, config.durable_name)
            await self._stream.add_consumer(EVENTS, config)
        return _Lane(config.durable_name, Pull(self.client, EVENTS, config.durable_name), reconnects)

    async def keep(self, deliveries: Sequence[Delivery]) -> None:
        """See ``EventQueue``."""
        with translated():
            spare = [one for held in self._lanes.values() for one in held.spare]
            for delivery in [*deliveries, *spare]:
                await _taken(delivery).message.in_progress()

    async def settle(self, lane: int, settlement: Settlement) -> None:
        """See ``EventQueue``."""
        if settlement.found:
            await self.put(settlement.found)
            settlement.found = []  # another try must not store them again
        with translated():
            for letter in settlement.dead:
                await bury(self._stream, self._bucket, letter)
            # An earlier try may have acknowledged already without getting the confirmation. A packet whose
            # acknowledgement is lost is handed out again.
            for delivery in settlement.done:
                # Published directly: the client allows one answer per message, but a packet that was put off may be
                # done by now.
                await self.client.publish(_taken(delivery).message.reply, b"+ACK")
            for delivery, wait in settlement.later:
                taken = _taken(delivery)
                if not taken.is_put_off:
                    await taken.message.nak(delay=wait)
                    taken.is_put_off = True
            await self.client.flush(int(ANSWER_SECONDS))
        if lane in self._lanes:
            self._lanes[lane].is_settled = True

    def letters(self, project_id: str) -> NatsLetters:
        """See ``EventQueue``."""
        return NatsLetters(self._stream, self._bucket, project_id)

    async def check(self) -> None:
        """See ``EventQueue``; nothing to check, because the queue is not on this machine's disk."""

    async def state(self) -> QueueState:
        """See ``EventQueue``."""
        with translated():
            waiting = (await self._stream.stream_info(EVENTS)).state
            dead = (await self._stream.stream_info(DEAD)).state
            oldest: datetime | None = None
            if waiting.messages:
                try:
                    oldest = (await self._stream.get_msg(EVENTS, seq=waiting.first_seq, direct=True)).time
                except js.NotFoundError:
                    oldest = None  # the message was written, and so removed, in this moment
            try:
                shares = (await self._bucket.get(SHARES_KEY)).value
            except js.KeyNotFoundError:
                shares = None
            lost = await count_lost(self._bucket)
        workers = workers_of(shares.decode()) if shares else 0
        return QueueState(waiting.messages, waiting.bytes, oldest, dead.messages, lost, workers)

    async def close(self) -> None:
        """See ``EventQueue``."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.client.close()
        except (Error, OSError, TimeoutError) as error:
            # The client tries to send what is left; without NATS this fails, and nothing is lost by it.
            _log.warning("NATS was away when its connection was closed", problem=type(error).__name__)


async def open_nats(place: NatsPlace, max_bytes: int, replicas: int = 1) -> NatsQueue:
    """Connect, and create the streams that do not exist.

    Raises:
        StoreError: NATS can't be reached, or JetStream can't be used.
    """
    client = await connect(place)
    try:
        stream = client.jetstream(timeout=ANSWER_SECONDS)
        with translated():
            bucket = await ensure_streams(stream, max_bytes, replicas)
        return NatsQueue(client, stream, bucket)
    except BaseException:
        await client.close()
        raise


def _batch(taken: Sequence[Delivery], order: FairOrder) -> tuple[list[Delivery], list[Delivery]]:
    """The next batch, in the projects' fair order, and the remaining messages in their old order."""
    by_project: dict[str, list[Delivery]] = defaultdict(list)
    for delivery in taken:
        by_project[delivery.packet.project_id].append(delivery)
    room, chosen = Room(len(taken)), dict[int, Delivery]()
    for delivery in order.deliveries(by_project):
        room.take(delivery.packet)
        chosen[delivery.key] = delivery
        if room.is_full:
            break
    return list(chosen.values()), [delivery for delivery in taken if delivery.key not in chosen]


def _taken(delivery: Delivery) -> _Taken:
    assert isinstance(delivery.handle, _Taken)
    return delivery.handle


async def _delivery(message: Msg) -> Delivery | None:
    try:
        found = msgspec.msgpack.decode(message.data, type=_Body)
    except msgspec.DecodeError:
        _log.error("a message on a lane that is none of ours; it is thrown away", bytes=len(message.data))
        await message.term()
        return None
    packet = Packet(found.project_id, found.trace, found.body, found.count, found.rebuilt, found.is_found)
    about = message.metadata
    message.data = b""  # the packet has a copy; waiting packets should not need twice the memory
    return Delivery(packet, about.num_delivered, about.timestamp, about.sequence.stream, _Taken(message))
