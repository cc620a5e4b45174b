"""Events as they are kept in the queue: packets of one trace each, as compressed lines of JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

import zstandard
from memtrace.events import Event

from ingest.events.values import rebuilt_bytes
from ingest.queue.protocol import LANES, Packet

MAX_EVENTS = 1_000
MAX_BYTES = 1 << 20
"""Largest total size of the lines in a packet with more than one event, before they are compressed."""

MAX_REBUILT_BYTES = 16 << 20
"""Of the values that those of its events come to which say only what is new in a value: a packet is written whole."""

_LEVEL = 1


def pack(project_id: str, events: Iterable[tuple[bytes, Event]]) -> list[tuple[Packet, list[int]]]:
    """Packets of events, each with the places of its events among those that were given.

    Args:
        project_id: the project of the events.
        events: each with the line of JSON from which it was read, without a line end.
    """
    open_: dict[str, _Open] = {}
    made: list[tuple[Packet, list[int]]] = []
    compressor = zstandard.ZstdCompressor(level=_LEVEL)

    def close(trace: str) -> None:
        held = open_.pop(trace)
        body = compressor.compress(b"\n".join(held.lines))
        made.append((Packet(project_id, trace, body, len(held.lines), held.rebuilt), held.places))

    for place, (line, event) in enumerate(events):
        trace, rebuilt = event.trace, rebuilt_bytes(event)
        held = open_.get(trace)
        if held is not None and not held.has_room(len(line), rebuilt):
            close(trace)
            held = None
        if held is None:
            held = open_[trace] = _Open()
        held.lines.append(line)
        held.places.append(place)
        held.size += len(line)
        held.rebuilt += rebuilt
    for trace in list(open_):
        close(trace)
    return made


@dataclass(slots=True)
class _Open:
    """A packet to which more events can be added."""

    lines: list[bytes] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    size: int = 0
    rebuilt: int = 0

    def has_room(self, size: int, rebuilt: int) -> bool:
        return (
            len(self.lines) < MAX_EVENTS
            and self.size + size <= MAX_BYTES
            and (not rebuilt or self.rebuilt + rebuilt <= MAX_REBUILT_BYTES)
        )


def unpack(packet: Packet) -> list[bytes]:
    """The lines of a packet.

    Raises:
        zstandard.ZstdError: the body is damaged.
    """
    return zstandard.ZstdDecompressor().decompress(packet.body).split(b"\n")


def unpacked_bytes(packet: Packet) -> int:
    """The length of a packet's lines, as its header says; for a damaged packet, its own length."""
    try:
        return max(len(packet.body), int(zstandard.frame_content_size(packet.body)))
    except zstandard.ZstdError:
        return len(packet.body)


def lane_of(project_id: str, trace: str) -> int:
    """The lane of a trace, which is always the same."""
    digest = blake2b(f"{len(project_id)}:{project_id}{trace}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LANES
