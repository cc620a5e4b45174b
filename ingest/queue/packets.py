"""Packs events for the queue: a packet has events of one trace, as compressed lines of JSON."""

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
"""Largest uncompressed size of a packet with several events."""

MAX_REBUILT_BYTES = 16 << 20
"""Largest total size of the values that a packet's events rebuild: a packet is written as a whole."""

_LEVEL = 1


def pack(project_id: str, events: Iterable[tuple[bytes, Event]]) -> list[tuple[Packet, list[int]]]:
    """Pack events; returns each packet with the positions of its events in ``events``.

    Args:
        project_id: the project of the events.
        events: the events, each with its line of JSON without a line end.
    """
    open_: dict[str, _Open] = {}
    made: list[tuple[Packet, list[int]]] = []
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)

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
    """The uncompressed size from a packet's header; the compressed size for a damaged packet."""
    try:
        return max(len(packet.body), int(zstandard.frame_content_size(packet.body)))
    except zstandard.ZstdError:
        return len(packet.body)


def lane_of(project_id: str, trace: str) -> int:
    """The lane of a trace; a trace never changes its lane."""
    digest = blake2b(f"{len(project_id)}:{project_id}{trace}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LANES
