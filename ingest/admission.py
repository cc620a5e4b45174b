"""Taking a request's events: each is looked at by itself, and those that are good are made durable together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from memtrace.events import Event, EventError, decode, from_object

from ingest.events import Refusal
from ingest.packets import pack
from ingest.queue import EventQueue, Packet
from schema.errors import InputError


@dataclass(frozen=True, slots=True)
class Sent:
    """Events as they came: each a piece of JSON, without a line end in it."""

    pieces: list[bytes]

    @classmethod
    def lines(cls, body: bytes) -> Sent:
        """Those of NDJSON; empty lines are none."""
        return cls([line for line in body.split(b"\n") if line.strip()])

    @classmethod
    def json(cls, body: bytes) -> Sent:
        """One event, or an array of them.

        Raises:
            InputError: the body is no JSON.
        """
        try:
            found = msgspec.json.decode(body, type=msgspec.Raw)
            whole = bytes(found)
            pieces = (
                [bytes(piece) for piece in msgspec.json.decode(whole, type=list[msgspec.Raw])]
                if whole.lstrip().startswith(b"[")
                else [whole]
            )
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError("body", "", f"is no JSON: {error}") from None
        # Line ends stand between the parts of JSON only: in a text they would be escaped.
        return cls([piece.replace(b"\n", b" ").replace(b"\r", b" ") for piece in pieces])


async def admit(queue: EventQueue, project_id: str, sent: Sent) -> list[Refusal]:
    """Make events durable; those that are refused, in order. The others will be in the graph.

    Raises:
        QueueFullError: there is no room; all may be sent again.
        StoreError: the queue can't be used; all may be sent again.
    """
    # Reading thousands of events takes its time; other requests need not wait for it.
    packets, refused = await asyncio.to_thread(_packets, project_id, sent.pieces, queue.max_packet_bytes)
    if packets:
        await queue.put(packets)
    return sorted(refused, key=lambda refusal: refusal.index)


def _packets(project_id: str, pieces: Sequence[bytes], limit: int) -> tuple[list[Packet], list[Refusal]]:
    good: list[tuple[bytes, Event]] = []
    places: list[int] = []
    refused: list[Refusal] = []
    for index, piece in enumerate(pieces):
        try:
            event = _read(piece)
            event.trace.encode()
        except EventError as error:
            refused.append(Refusal(index, str(error)))
        except UnicodeEncodeError:
            refused.append(Refusal(index, "trace: text that is not valid Unicode can't be stored"))
        else:
            good.append((piece, event))
            places.append(index)
    packets = []
    for packet, of_packet in pack(project_id, good):
        if len(packet.body) <= limit:
            packets.append(packet)
        else:
            refused += _refused_alone(project_id, good, places, of_packet, limit, packets)
    return packets, refused


def _read(piece: bytes) -> Event:
    """An event.

    Raises:
        EventError: it is none.
    """
    try:
        found = msgspec.json.decode(piece)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # JSON that this reader does not take may be an event all the same, and the other says better what is wrong.
        return decode(piece)
    return from_object(found)


def _refused_alone(
    project_id: str,
    good: Sequence[tuple[bytes, Event]],
    places: Sequence[int],
    of_packet: Sequence[int],
    limit: int,
    packets: list[Packet],
) -> list[Refusal]:
    """Pack the events of a packet that is too large one by one, and refuse those that are too large by themselves."""
    refused = []
    for place in of_packet:
        ((packet, _),) = pack(project_id, [good[place]])
        if len(packet.body) <= limit:
            packets.append(packet)
        else:
            problem = f"the event takes {len(packet.body):,} bytes, compressed; the queue takes {limit:,} at most"
            refused.append(Refusal(places[place], problem))
    return refused
