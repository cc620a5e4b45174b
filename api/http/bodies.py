"""Bodies of requests of events: reading them, in this process or in a helper process."""

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
"""Bytes of one JSON document, unpacked. Lines may be larger in total, because they can be counted without parsing."""

_SHORT_EVENTS = 2_000


@dataclass(frozen=True, slots=True)
class Read:
    """The content of a request.

    Attributes:
        packets: the good events, for the queue.
        accepted: the number of good events.
        rejected: the number of refused events, and of spans that are not valid.
        rebuilt: bytes of all values that are rebuilt because only their new part was sent.
        answer: the body of the response once the good events are durable.
        refused_spans: the number of spans that were refused, wholly or in part, and of all spans.
        cut_spans: the number of spans that are kept without a part of their attributes or events.
    """

    packets: Sequence[Packet]
    accepted: int
    rejected: int
    rebuilt: int
    answer: bytes
    refused_spans: tuple[int, int] = (0, 0)
    cut_spans: int = 0


class Body(Protocol):
    """The body of a request."""

    short_bytes: ClassVar[int]
    """A request that unpacks to more bytes is long: the helper process reads it."""

    def read(self, project_id: str, packet_bytes: int, most: int | None = None) -> Read | None:
        """Read it.

        Args:
            project_id: the project.
            packet_bytes: largest size of a packet, compressed.
            most: bytes. A request that unpacks to more, or has more events than can be read within a moment, is not
                read.

        Returns:
            The content; None if the request is longer than ``most`` allows.

        Raises:
            TooLargeError: the body unpacks to more bytes than may be sent.
            HTTPException: the body holds too many events.
            InputError: the body is not in the form that its headers name.
        """
        ...


@dataclass(frozen=True, slots=True)
class EventsBody:
    """Wire events.

    Attributes:
        body: the bytes of the body.
        kind: the media type.
        encoding: the compression, as in ``Content-Encoding``.
        limit: the most bytes after unpacking.
    """

    # As much as a recorder sends at a time. Reading it takes some hundredths of a second; the largest request takes a
    # second.
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
        if spans.has_too_many_parts:
            raise _too_many("resources and scopes", MAX_SPANS)
        prepared = prepare(project_id, Sent(spans.pieces), packet_bytes)
        refused, why = admission.refusals(spans, ((one.index, one.reason) for one in prepared.refused))
        return Read(
            prepared.packets,
            prepared.accepted,
            len(prepared.refused) + len(spans.refused),
            prepared.rebuilt,
            answer(self.kind, refused, why),
            (refused, spans.count),
            len(spans.cut),
        )


def _unpacked(body: bytes, encoding: str, limit: int, most: int | None) -> bytes | None:
    """The unpacked body; None if it has more than ``most`` bytes. Unpacking then stops early."""
    if most is None or most >= limit:
        return inflate(body, encoding, limit)
    try:
        found = inflate(body, encoding, most)
    except TooLargeError:
        return None
    return found if len(found) <= most else None


def _too_many(what: str, most: int) -> HTTPException:
    return HTTPException(413, f"a request holds at most {most:,} {what}: send several")
