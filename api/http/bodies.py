"""Requests of events as they were sent, and how they are read: in this process, or in one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import msgspec
from starlette.exceptions import HTTPException

from api.errors import TooLargeError
from api.http.inflate import inflate
from ingest.queue.admission import Sent, prepare
from ingest.queue.protocol import Packet

LINES = ("application/x-ndjson", "application/ndjson")
JSON = "application/json"
MAX_EVENTS = MAX_SPANS = 20_000
MAX_JSON_BYTES = 4 << 20
"""Of one document, unpacked. Lines may be more: they need not be parsed to be counted."""

_SHORT_EVENTS = 2_000


@dataclass(frozen=True, slots=True)
class Read:
    """What a request holds.

    Attributes:
        packets: the good events, for the queue.
        accepted: how many they are.
        rejected: how many events, and spans that are none, were refused.
        rebuilt: total size in bytes of the values of which only the new part was sent.
        answer: the body of the response once the good events are durable.
        refused_spans: how many spans were not accepted, wholly or in part, of how many.
    """

    packets: Sequence[Packet]
    accepted: int
    rejected: int
    rebuilt: int
    answer: bytes
    refused_spans: tuple[int, int] = (0, 0)


class Body(Protocol):
    """A request as it was sent."""

    short_bytes: ClassVar[int]
    """A request that unpacks to more is long."""

    def read(self, project_id: str, packet_bytes: int, most: int | None = None) -> Read | None:
        """Read it.

        Args:
            project_id: whose it is.
            packet_bytes: largest size of a packet, compressed.
            most: bytes; a request that unpacks to more, or has more events than are read within a moment, is not read.

        Returns:
            What it holds; None if it is longer than ``most`` allows.

        Raises:
            TooLargeError: it unpacks to more bytes than may be sent.
            HTTPException: it holds too many events.
            InputError: it is not what it says.
        """
        ...


@dataclass(frozen=True, slots=True)
class EventsBody:
    """Wire events.

    Attributes:
        body: as it was sent.
        kind: its media type.
        encoding: how it is compressed.
        limit: bytes that it may unpack to.
    """

    # As much as a recorder sends at a time; it takes some hundredths of a second, where the most that may be sent
    # takes a second.
    short_bytes: ClassVar[int] = 2 << 20

    body: bytes
    kind: str
    encoding: str
    limit: int

    def read(self, project_id: str, packet_bytes: int, most: int | None = None) -> Read | None:
        """See ``Body``."""
        body = _unpacked(self.body, self.encoding, self.limit, most)
        if body is None:
            return None
        if self.kind == JSON and len(body) > MAX_JSON_BYTES:
            raise HTTPException(413, f"JSON is taken up to {MAX_JSON_BYTES:,} bytes: send lines, or several requests")
        if self.kind in LINES and body.count(b"\n") > 2 * MAX_EVENTS:
            raise _too_many("events", MAX_EVENTS)
        sent = Sent.lines(body) if self.kind in LINES else Sent.json(body, MAX_EVENTS)
        if len(sent.pieces) > MAX_EVENTS:
            raise _too_many("events", MAX_EVENTS)
        if most is not None and len(sent.pieces) > _SHORT_EVENTS:
            return None
        prepared = prepare(project_id, sent, packet_bytes)
        rejected = [{"index": one.index, "reason": one.reason} for one in prepared.refused]
        answer = msgspec.json.encode({"accepted": prepared.accepted, "rejected": rejected})
        return Read(prepared.packets, prepared.accepted, len(rejected), prepared.rebuilt, answer)


@dataclass(frozen=True, slots=True)
class SpansBody:
    """Spans of OpenTelemetry; the attributes are those of ``EventsBody``."""

    # Spans take longer to read than events of the same size.
    short_bytes: ClassVar[int] = 256 << 10

    body: bytes
    kind: str
    encoding: str
    limit: int

    def read(self, project_id: str, packet_bytes: int, most: int | None = None) -> Read | None:
        """See ``Body``."""
        from ingest.otlp import admission
        from ingest.otlp.decoding import answer

        body = _unpacked(self.body, self.encoding, self.limit, most)
        if body is None:
            return None
        spans = admission.read(project_id, body, self.kind, MAX_SPANS)
        if spans.count > MAX_SPANS:
            raise _too_many("spans", MAX_SPANS)
        prepared = prepare(project_id, Sent(spans.pieces), packet_bytes)
        refused, why = admission.refusals(spans, ((one.index, one.reason) for one in prepared.refused))
        return Read(
            prepared.packets,
            prepared.accepted,
            len(prepared.refused) + len(spans.refused),
            prepared.rebuilt,
            answer(self.kind, refused, why),
            (refused, spans.count),
        )


def _unpacked(body: bytes, encoding: str, limit: int, most: int | None) -> bytes | None:
    """The unpacked body; None if it has more than ``most`` bytes, which are then not unpacked."""
    if most is None or most >= limit:
        return inflate(body, encoding, limit)
    try:
        found = inflate(body, encoding, most)
    except TooLargeError:
        return None
    return found if len(found) <= most else None


def _too_many(what: str, most: int) -> HTTPException:
    return HTTPException(413, f"a request holds at most {most:,} {what}: send several")
