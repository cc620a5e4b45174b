"""Accepts the events of a request: checks each event by itself, and makes the good events durable together."""

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
from store.runtime.processor_share import ProcessorShare


@dataclass(frozen=True, slots=True)
class Sent:
    """Events as they were sent: each piece is the JSON of one event, without a line end."""

    pieces: list[bytes]

    @classmethod
    def lines(cls, body: bytes) -> Sent:
        """The events of NDJSON; empty lines are skipped."""
        return cls([line for line in body.split(b"\n") if line.strip()])

    @classmethod
    def json(cls, body: bytes, most: int | None = None) -> Sent:
        """One event, or an array of events.

        Args:
            body: JSON.
            most: limit of the caller; reading stops at ``most + 1`` events.

        Raises:
            InputError: the body is not JSON.
        """
        try:
            text = body.decode(json.detect_encoding(body), "surrogatepass")
            found = islice(_elements(text), None if most is None else most + 1)
            pieces = [piece.encode("utf-8", "surrogatepass") for piece in found]
        except (ValueError, RecursionError) as error:
            raise InputError("body", "", f"is no JSON: {error}") from None
        # Line ends can only be white space between tokens: inside JSON texts they are escaped.
        return cls([piece.replace(b"\n", b" ").replace(b"\r", b" ") for piece in pieces])


_SPACE = re.compile(r"[ \t\n\r]*")
_SCANNER = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)
"""Finds where a piece of JSON ends; numbers, however long, are not converted."""


def _elements(text: str) -> Iterator[str]:
    """The elements of an array, still as JSON; another value counts as an array with one element.

    Raises:
        ValueError: ``text`` is not JSON.
        RecursionError: ``text`` is nested too deeply.
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
    """The events of a request, prepared for the queue.

    Attributes:
        packets: the good events.
        refused: the refused events, in order.
        rebuilt: total size in bytes of the values that have to be rebuilt from their new part.
    """

    packets: list[Packet]
    refused: list[Refusal]
    rebuilt: int

    @property
    def accepted(self) -> int:
        """The number of good events."""
        return sum(packet.count for packet in self.packets)


async def admit(queue: EventQueue, project_id: str, sent: Sent) -> list[Refusal]:
    """Make events durable; returns the refused events in order. The other events will be in the graph later.

    Raises:
        QueueFullError: there is no room; all events may be sent again.
        StoreError: the queue can't be used; all events may be sent again.
    """
    # Parsing thousands of events takes long and would block other requests.
    prepared = await asyncio.to_thread(prepare, project_id, sent, queue.max_packet_bytes)
    if prepared.packets:
        await queue.put(prepared.packets)
    return prepared.refused


def prepare(project_id: str, sent: Sent, limit: int) -> Prepared:
    """Check each event, and pack the good events. Runs in a thread, and pauses when others need the processor.

    Args:
        project_id: the project of the events.
        sent: the events.
        limit: largest compressed size of a packet in bytes.
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
    """Pack the events of a packet that is too large one by one; refuse events that are too large alone."""
    refused = []
    for index, piece in pieces:
        ((packet, _),) = pack(project_id, [(piece, checked(piece))])
        if len(packet.body) <= limit:
            packets.append(packet)
        else:
            problem = f"the event takes {len(packet.body):,} bytes, compressed; the queue takes {limit:,} at most"
            refused.append(Refusal(index, problem))
    return refused
