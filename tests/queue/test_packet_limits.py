"""Where a packet is full, what a packet says of its size, how much room a batch has, and which lane a trace has."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest
import zstandard
from memtrace.events import Event, decode

from ingest.events.values import rebuilt_bytes
from ingest.queue import packets
from ingest.queue.batching import FairOrder, Room
from ingest.queue.packets import lane_of, pack, unpack, unpacked_bytes
from ingest.queue.protocol import MOST_BYTES, MOST_EVENTS, MOST_REBUILT_BYTES, DeadLetter, Delivery, Packet
from tests.queue.sets import event_line

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _line(trace: str = "t", value: str = "", rebuilt: int = 0) -> tuple[bytes, Event]:
    base = {"base": {"variable": "u", "kept": rebuilt, "size": rebuilt}} if rebuilt else {}
    said = {"variable": "v", "name": "v", "kind": "Buffer", "version": 0, "value": value, "mediaType": "text/plain"}
    line = event_line("variable", trace, **said, **base)
    return line, decode(line)


LINE = len(_line()[0])
COST = 1 << 16
"""What rebuilding a value costs at least, in bytes."""


@pytest.mark.parametrize(
    ("events", "limits", "places"),
    [
        ([], {}, []),
        ([_line()] * 3, {"MAX_EVENTS": 3}, [[0, 1, 2]]),
        ([_line()] * 3, {"MAX_EVENTS": 2}, [[0, 1], [2]]),
        ([_line()] * 3, {"MAX_BYTES": 3 * LINE}, [[0, 1, 2]]),
        ([_line()] * 3, {"MAX_BYTES": 3 * LINE - 1}, [[0, 1], [2]]),
        ([_line()] * 2, {"MAX_BYTES": 1}, [[0], [1]]),
        ([_line(rebuilt=COST)] * 3, {"MAX_REBUILT_BYTES": 3 * COST}, [[0, 1, 2]]),
        ([_line(rebuilt=COST)] * 3, {"MAX_REBUILT_BYTES": 3 * COST - 1}, [[0, 1], [2]]),
        # A value that is sent whole needs no room among the rebuilt values, even after one that took more than all.
        ([_line(rebuilt=2 * COST), _line(), _line(rebuilt=1)], {"MAX_REBUILT_BYTES": COST}, [[0, 1], [2]]),
        ([_line("a"), _line("b"), _line("a"), _line("b")], {}, [[0, 2], [1, 3]]),
        # Only the full trace is closed: the other trace's packet stays open, and comes last.
        ([_line("a"), _line("b"), _line("a"), _line("a"), _line("b")], {"MAX_EVENTS": 2}, [[0, 2], [1, 4], [3]]),
    ],
)
def test_a_packet_ends_where_the_next_event_has_no_room(
    events: list[tuple[bytes, Event]],
    limits: dict[str, int],
    places: list[list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, limit in limits.items():
        monkeypatch.setattr(packets, name, limit)
    made = pack("p", iter(events))
    assert [at for _, at in made] == places
    for packet, at in made:
        some = [events[place] for place in at]
        rebuilt = sum(rebuilt_bytes(event) for _, event in some)
        found = (packet.project_id, packet.trace, packet.count, packet.rebuilt, packet.is_found)
        assert found == ("p", some[0][1].trace, len(some), rebuilt, False)
        assert unpack(packet) == [line for line, _ in some]


def test_a_packet_tells_its_size_without_being_unpacked() -> None:
    long = _line(value="x" * 10_000)
    ((packet, _),) = pack("p", [long])
    assert len(packet.body) < 1_000
    assert unpacked_bytes(packet) == len(long[0])
    noise = Random(1).randbytes(100)
    assert unpacked_bytes(Packet("p", "t", noise, 1)) == 100  # no header
    short = zstandard.ZstdCompressor().compress(b"x")
    assert unpacked_bytes(Packet("p", "t", short, 1)) == len(short) > 1
    of_unknown_size = zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 10_000)
    assert unpacked_bytes(Packet("p", "t", of_unknown_size, 1)) == len(of_unknown_size)


def test_a_damaged_packet_is_not_unpacked() -> None:
    ((packet, _),) = pack("p", [_line(value=Random(1).randbytes(500).hex())])
    body = bytearray(packet.body)
    body[200] ^= 1
    with pytest.raises(zstandard.ZstdError):
        unpack(Packet("p", "t", bytes(body), 1))


@pytest.mark.parametrize(
    ("project", "trace", "lane"),
    [("p", "t", 15), ("p", "u", 4), ("q", "t", 2), ("a", "bc", 12), ("ab", "c", 4), ("", "", 7), ("p", "\ud800", 4)],
)
def test_a_trace_keeps_its_lane_in_every_version(project: str, trace: str, lane: int) -> None:
    """Packets in a file or a stream were put in the lane that an earlier version chose."""
    assert lane_of(project, trace) == lane


@pytest.mark.parametrize(
    ("packets_", "packet", "fit"),
    [
        (3, Packet("p", "t", b"", 1), 3),
        (16, Packet("p", "t", b"", MOST_EVENTS // 2), 2),
        (16, Packet("p", "t", b"", MOST_EVENTS // 2 - 1), 3),
        (16, Packet("p", "t", b"x" * (MOST_BYTES // 2), 1), 2),
        (16, Packet("p", "t", b"x" * (MOST_BYTES // 2 - 1), 1), 3),
        (16, Packet("p", "t", b"", 1, MOST_REBUILT_BYTES // 2), 2),
        (16, Packet("p", "t", b"", 1, MOST_REBUILT_BYTES // 2 - 1), 3),
    ],
)
def test_a_batch_is_full_with_the_packet_that_reaches_a_limit(packets_: int, packet: Packet, fit: int) -> None:
    room, taken = Room(packets_), 0
    while not room.is_full:
        room.take(packet)
        taken += 1
    assert taken == fit


def _work(**fields: int) -> Packet:
    sizes = {"body": 0, "count": 1, "rebuilt": 0} | fields
    return Packet("", "", b"x" * sizes["body"], sizes["count"], sizes["rebuilt"])


@pytest.mark.parametrize(
    ("large", "small"),
    [
        (_work(count=MOST_EVENTS // 4), 25),
        (_work(body=MOST_BYTES // 4), 25),
        (_work(rebuilt=MOST_REBUILT_BYTES // 4), 25),
        (_work(), 1),  # any packet takes a hundredth of a batch
    ],
)
def test_a_large_packet_lets_as_much_work_of_others_pass(large: Packet, small: int) -> None:
    """The project of the large packet waits until the small packets add up to its work."""
    of = {"large": [_delivery(large)] * 2, "small": [_delivery(_work())] * 60}
    order = ["large" if one.packet is large else "small" for one in FairOrder().deliveries(of)]
    first, second = (place for place, project in enumerate(order) if project == "large")
    assert first == 0
    assert second - 1 in {small, small + 1}  # sums of hundredths


def _delivery(packet: Packet) -> Delivery:
    return Delivery(packet, 1, NOW, 1)


def test_a_dead_letter_is_known_by_project_time_and_event() -> None:
    def letter(project: str = "p", sent_at: datetime = NOW, event: bytes = b"e", reason: str = "r") -> DeadLetter:
        return DeadLetter(None, project, "t", event, reason, 1, sent_at, NOW)

    others = [letter(project="q"), letter(sent_at=NOW.replace(microsecond=1)), letter(event=b"f")]
    assert len({one.digest for one in [letter(), *others]}) == 4
    assert letter().digest == letter(reason="another").digest
    assert letter().digest.hex() == "4865f181a560ec269083c41be47814bb"
