"""Settling with NATS, where an earlier try stored or acknowledged a part: what is done again, and what is not.

The stream and the messages are stand-ins, because a server can't be made to fail between two acts.
"""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from nats.errors import TimeoutError as NatsTimeoutError

from ingest.queue.nats.queue import NatsQueue, _Taken
from ingest.queue.packets import lane_of
from ingest.queue.protocol import DeadLetter, Delivery, Packet, Settlement
from schema.errors import StoreError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PACKET = Packet("p", "t", b"found", 2, 3, True)
LETTER = DeadLetter(None, "p", "t", b"{}", "no reason", 3, NOW, NOW)


class Nats:
    """A connection whose acts are noted; ``broken`` names the acts that fail next."""

    def __init__(self) -> None:
        self.acts: list[str] = []
        self.broken: list[str] = []
        self.is_connected = True
        self.max_payload = 1 << 20

    async def _act(self, name: str) -> None:
        if name in self.broken:
            self.broken.remove(name)
            raise NatsTimeoutError
        self.acts.append(name)

    def jetstream(self) -> Any:
        async def publish(subject: str, body: bytes, **options: Any) -> None:
            await self._act("letter" if "headers" in options else "packet")

        return SimpleNamespace(publish=publish)

    async def publish(self, subject: str, body: bytes) -> None:
        await self._act(f"{body.decode()} {subject}")

    async def flush(self, timeout: int) -> None:  # noqa: ASYNC109 (the name of the package)
        assert timeout > 0
        if "flush" in self.broken:
            await self._act("flush")

    def taken(self, name: str) -> Delivery:
        """A packet that was handed out."""

        async def nak(delay: float) -> None:
            await self._act(f"later {name} {delay:g}")

        async def in_progress() -> None:
            await self._act(f"kept {name}")

        message: Any = SimpleNamespace(reply=name, nak=nak, in_progress=in_progress)
        return Delivery(PACKET, 1, NOW, len(name), _Taken(message))


def queue_of(nats: Nats) -> NatsQueue:
    bucket: Any = None
    client: Any = nats
    return NatsQueue(client, nats.jetstream(), bucket)


async def test_all_is_stored_before_anything_leaves_the_queue() -> None:
    nats = Nats()
    settlement = Settlement([nats.taken("a")], [(nats.taken("b"), 5.0)], [LETTER], [PACKET])
    await queue_of(nats).settle(lane_of("p", "t"), settlement)
    assert nats.acts == ["packet", "letter", "+ACK a", "later b 5"]


@pytest.mark.parametrize(
    ("broken", "before", "again"),
    [
        ("packet", [], ["packet", "letter", "+ACK a", "later b 5"]),
        ("letter", ["packet"], ["letter", "+ACK a", "later b 5"]),
        ("+ACK a", ["packet", "letter"], ["letter", "+ACK a", "later b 5"]),
        ("later b 5", ["packet", "letter", "+ACK a"], ["letter", "+ACK a", "later b 5"]),
        ("flush", ["packet", "letter", "+ACK a", "later b 5"], ["letter", "+ACK a"]),
    ],
)
async def test_another_try_stores_nothing_twice(broken: str, before: list[str], again: list[str]) -> None:
    """A letter may be sent again, because the server knows it by its id; a packet has none."""
    nats = Nats()
    nats.broken = [broken]
    queue, settlement = queue_of(nats), Settlement([nats.taken("a")], [(nats.taken("b"), 5.0)], [LETTER], [PACKET])
    with pytest.raises(StoreError):
        await queue.settle(0, settlement)
    assert nats.acts == before
    nats.acts.clear()
    await queue.settle(0, settlement)
    assert nats.acts == again


async def test_a_packet_that_was_put_off_may_be_done_and_is_put_off_once() -> None:
    nats = Nats()
    queue, one = queue_of(nats), nats.taken("a")
    for _ in range(2):
        await queue.settle(0, Settlement(later=[(one, 5.0)]))
    await queue.settle(0, Settlement(done=[one]))
    assert nats.acts == ["later a 5", "+ACK a"]


async def test_without_a_connection_nothing_is_taken() -> None:
    nats = Nats()
    nats.is_connected = False
    queue = queue_of(nats)
    assert queue.is_away
    with pytest.raises(StoreError, match="not connected"):
        await queue.put([PACKET])
    assert nats.acts == []


async def test_one_packet_that_fails_is_an_error_of_all() -> None:
    nats = Nats()
    packets = [Packet("p", f"t{number}", b"x", 1) for number in range(20)]
    nats.broken = ["packet"]
    with pytest.raises(StoreError):
        await queue_of(nats).put(packets)
    assert nats.acts == ["packet"] * (len(nats.acts))
    assert 0 < len(nats.acts) < len(packets)
