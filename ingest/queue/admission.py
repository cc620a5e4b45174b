"""Taking a request's events: each is looked at by itself, and those that are good are made durable together."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memtrace.events import Event, EventError

from ingest.events.reading import checked
from ingest.events.taking import Refusal
from ingest.events.values import rebuilt_bytes
from ingest.queue.packets import pack
from ingest.queue.protocol import EventQueue, Packet
from schema.errors import InputError
from schema.processor_share import ProcessorShare


@dataclass(frozen=True, slots=True)
class Sent:
    """Events as they came: each a piece of JSON, without a line end in it."""

    pieces: list[bytes]

    @classmethod
    def lines(cls, body: bytes) -> Sent:
        """Those of NDJSON; empty lines are none."""
        return cls([line for line in body.split(b"\n") if line.strip()])

    @classmethod
    def json(cls, body: bytes, most: int | None = None) -> Sent:
        """One event, or an array of them.

        Args:
            body: JSON.
            most: of an array of more, only so many and one more are read.

        Raises:
            InputError: the body is no JSON.
        """
        try:
            text = body.decode(json.detect_encoding(body), "surrogatepass")
            pieces = [piece.encode("utf-8", "surrogatepass") for piece in islice(_elements(text), most and most + 1)]
        except (ValueError, RecursionError) as error:
            raise InputError("body", "", f"is no JSON: {error}") from None
        # Line ends stand between the parts of JSON only: in a text they would be escaped.
        return cls([piece.replace(b"\n", b" ").replace(b"\r", b" ") for piece in pieces])


_SPACE = re.compile(r"[ \t\n\r]*")
_SCANNER = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)
"""Finds where a piece of JSON ends. What its numbers are, however long, is the event's own matter."""


def _elements(text: str) -> Iterator[str]:
    """The elements of an array as they stand there, one after the other; anything else is one.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    place = _after_space(text, 0)
    is_array = text.startswith("[", place)
    if is_array:
        place = _after_space(text, place + 1)
    while not (is_array and text.startswith("]", place)):
        _, end = _SCANNER.raw_decode(text, place)
        yield text[place:end]
        place = _after_space(text, end)
        if not is_array or text.startswith("]", place):
            break
        if not text.startswith(",", place):
            raise json.JSONDecodeError("expected , or ]", text, place)
        place = _after_space(text, place + 1)
        if text.startswith("]", place):
            raise json.JSONDecodeError("expected an element", text, place)
    if _after_space(text, place + is_array) != len(text):
        raise json.JSONDecodeError("expected nothing more", text, place)


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request's events, ready for the queue.

    Attributes:
        packets: those that are good.
        refused: those that are not, in order.
        rebuilt: bytes that the values come to of which only what is new was sent.
    """

    packets: list[Packet]
    refused: list[Refusal]
    rebuilt: int

    @property
    def accepted(self) -> int:
        """How many are good."""
        return sum(packet.count for packet in self.packets)


async def admit(queue: EventQueue, project_id: str, sent: Sent) -> list[Refusal]:
    """Make events durable; those that are refused, in order. The others will be in the graph.

    Raises:
        QueueFullError: there is no room; all may be sent again.
        StoreError: the queue can't be used; all may be sent again.
    """
    # Reading thousands of events takes its time; other requests need not wait for it.
    prepared = await asyncio.to_thread(prepare, project_id, sent, queue.max_packet_bytes)
    if prepared.packets:
        await queue.put(prepared.packets)
    return prepared.refused


def prepare(project_id: str, sent: Sent, limit: int) -> Prepared:
    """Look at each event, and pack those that are good. For a thread: it pauses where others want the processor.

    Args:
        project_id: whose they are.
        sent: the events.
        limit: bytes of a packet, compressed.
    """
    refused: list[Refusal] = []
    places: list[int] = []
    rebuilt = 0

    def good() -> Iterator[tuple[bytes, Event]]:
        nonlocal rebuilt
        share = ProcessorShare()
        for index, piece in enumerate(sent.pieces):
            share.step()
            try:
                event = checked(piece)
            except EventError as error:
                refused.append(Refusal(index, str(error)))
                continue
            places.append(index)
            rebuilt += rebuilt_bytes(event)
            yield piece, event

    packets: list[Packet] = []
    for packet, of_packet in pack(project_id, good()):
        if len(packet.body) <= limit:
            packets.append(packet)
        else:
            pieces = [(places[place], sent.pieces[places[place]]) for place in of_packet]
            refused += _refused_alone(project_id, pieces, limit, packets)
    return Prepared(packets, sorted(refused, key=lambda refusal: refusal.index), rebuilt)


def _refused_alone(
    project_id: str, pieces: Sequence[tuple[int, bytes]], limit: int, packets: list[Packet]
) -> list[Refusal]:
    """Pack the events of a packet that is too large one by one, and refuse those that are too large by themselves."""
    refused = []
    for index, piece in pieces:
        ((packet, _),) = pack(project_id, [(piece, checked(piece))])
        if len(packet.body) <= limit:
            packets.append(packet)
        else:
            problem = f"the event takes {len(packet.body):,} bytes, compressed; the queue takes {limit:,} at most"
            refused.append(Refusal(index, problem))
    return refused
