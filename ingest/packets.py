"""Events as they lie in the queue: packets of one trace each, lines of JSON, compressed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from typing import Annotated

import zstandard
from memtrace.events import Event, EventError, decode
from pydantic import Field, TypeAdapter, ValidationError

from ingest.queue import LANES, Packet

MAX_EVENTS = 1_000
MAX_BYTES = 1 << 20
"""Of the lines of a packet with more than one event, before they are compressed."""

_LEVEL = 1


def pack(project_id: str, events: Iterable[tuple[bytes, Event]]) -> list[tuple[Packet, list[int]]]:
    """Packets of events, each with the places of its events among those that were given.

    Args:
        project_id: whose they are.
        events: each with the line of JSON that it was read from, without a line end in it.
    """
    open_: dict[str, tuple[list[bytes], list[int]]] = {}
    sizes: dict[str, int] = {}
    made: list[tuple[Packet, list[int]]] = []
    compressor = zstandard.ZstdCompressor(level=_LEVEL)

    def close(trace: str) -> None:
        lines, places = open_.pop(trace)
        made.append((Packet(project_id, trace, compressor.compress(b"\n".join(lines)), len(lines)), places))

    for place, (line, event) in enumerate(events):
        trace = event.trace
        held = open_.get(trace)
        if held is not None and (len(held[0]) >= MAX_EVENTS or sizes[trace] + len(line) > MAX_BYTES):
            close(trace)
            held = None
        if held is None:
            held = open_[trace] = [], []
            sizes[trace] = 0
        held[0].append(line)
        held[1].append(place)
        sizes[trace] += len(line)
    for trace in list(open_):
        close(trace)
    return made


def unpack(packet: Packet) -> list[bytes]:
    """The lines of a packet.

    Raises:
        zstandard.ZstdError: the body is damaged.
    """
    return zstandard.ZstdDecompressor().decompress(packet.body).split(b"\n")


def read(lines: Sequence[bytes]) -> list[Event | EventError]:
    """What each line is."""
    return [_read(line) for line in lines]


def lane_of(project_id: str, trace: str) -> int:
    """The lane of a trace: always the same one."""
    digest = blake2b(f"{len(project_id)}:{project_id}{trace}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LANES


def _read(line: bytes) -> Event | EventError:
    try:
        # In one pass: what is in a packet was looked at when it came. What one pass can't read may still be an event.
        return _adapter().validate_json(line)
    except ValidationError:
        pass
    try:
        return decode(line)
    except EventError as error:
        return error


@cache
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Annotated[Event, Field(discriminator="type")])
