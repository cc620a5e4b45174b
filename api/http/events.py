"""Taking events in: what applications record of themselves, as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from memtrace.events import EVENT_VERSION, json_schema
from pydantic import ConfigDict, Field
from starlette.exceptions import HTTPException

from api.http.dependencies import Reader, Writer, platform_of
from api.http.documented import answers
from api.http.inflate import ENCODINGS, inflate
from api.http.platform import Platform
from api.http.receipts import Public
from ingest.queue.admission import Prepared, Sent
from schema.errors import StoreError

router = APIRouter(prefix="/v1", tags=["traces"])

LINES = ("application/x-ndjson", "application/ndjson")
JSON = "application/json"
MAX_EVENTS = 20_000
MAX_JSON_BYTES = 4 << 20
"""Of one document, unpacked. Lines may be more: they need not be parsed to be counted."""

_KINDS = (*LINES, JSON)

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"Wire events, version {EVENT_VERSION}: a line each, or as JSON one event or an array of them. "
        "`GET /v1/events/schema` describes them.",
        "content": {kind: {"schema": {"type": "string"}} for kind in LINES} | {JSON: {"schema": {}}},
    }
}


class Refused(Public):
    """An event that was not accepted."""

    model_config = ConfigDict(validate_by_name=True)

    index: int = Field(description="The place of the event in the request, from 0.")
    reason: str = Field(description="What is wrong with the event.")


class Taken(Public):
    """How many of a request's events were accepted, and why the others were not."""

    accepted: int = Field(
        description="How many events were accepted: they are stored safely and will be in the graph. Events that "
        "are already there count too."
    )
    rejected: list[Refused] = Field(description="The events that were not accepted, in order.")


@router.post("/events", response_model=Taken, openapi_extra=_BODY, responses=answers(413, 415))
async def take(door: Writer, request: Request) -> Response:
    """Take events for the graph.

    Each event gets its own result: a bad one does not stop the others. When the response comes, the accepted events
    are stored safely; a moment later they are in the graph. `memtrace dlq` shows events that could not be written to
    it after all. Sending an event again changes nothing.
    """
    kind, encoding = kind_of(request, _KINDS), encoding_of(request)
    platform = platform_of(request)
    body, limit = await request.body(), platform.settings.max_events_bytes
    prepared = await platform.reading.prepare(
        door.project_id, partial(_read, body, kind, encoding, limit), platform.events.max_packet_bytes
    )
    if prepared.packets:
        await keep(platform, door.project_id, prepared)
    platform.metrics.received.labels("accepted").inc(prepared.accepted)
    platform.metrics.received.labels("rejected").inc(len(prepared.refused))
    return Response(await asyncio.to_thread(_answer, prepared), media_type=JSON)


async def keep(platform: Platform, project_id: str, prepared: Prepared) -> None:
    """Make events durable.

    Raises:
        TooLargeError: their values come to more than a request may ask for.
        RateLimitedError: those of the project's lately have come to more than it may ask for.
        StoreError: the queue is full, or can't be used.
    """
    platform.rebuilt.take(project_id, prepared.rebuilt, prepared.accepted)
    try:
        await platform.events.put(prepared.packets)
    except StoreError:
        platform.rebuilt.give_back(project_id, prepared.rebuilt)
        raise


def _answer(prepared: Prepared) -> bytes:
    """``Taken`` as JSON; a model for each of thousands of refusals would hold up all other requests."""
    rejected = [{"index": one.index, "reason": one.reason} for one in prepared.refused]
    return msgspec.json.encode({"accepted": prepared.accepted, "rejected": rejected})


@router.get("/events/schema", responses=answers())
async def schema(door: Reader) -> dict[str, Any]:
    """The JSON Schema of one event."""
    return json_schema()


def kind_of(request: Request, kinds: Collection[str]) -> str:
    """The media type of a body.

    Raises:
        HTTPException: it is none of these.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in kinds:
        raise HTTPException(415, f"a body of type {kind!r} is not taken; send one of {', '.join(kinds)}")
    return kind


def encoding_of(request: Request) -> str:
    """How a body is compressed.

    Raises:
        HTTPException: in a way that is not taken.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ENCODINGS:
        taken = ", ".join(ENCODINGS)
        raise HTTPException(
            415, f"the encoding {encoding!r} is not taken; send one of {taken}", {"Accept-Encoding": taken}
        )
    return encoding


def _read(body: bytes, kind: str, encoding: str, limit: int) -> Sent:
    """The events of a request.

    Raises:
        TooLargeError: it unpacks to more bytes than ``limit``.
        HTTPException: it holds too many events.
        InputError: it is not what it says.
    """
    body = inflate(body, encoding, limit)
    if kind == JSON and len(body) > MAX_JSON_BYTES:
        raise HTTPException(413, f"JSON is taken up to {MAX_JSON_BYTES:,} bytes: send lines, or several requests")
    if kind in LINES and body.count(b"\n") > 2 * MAX_EVENTS:
        raise _too_many()
    sent = Sent.lines(body) if kind in LINES else Sent.json(body, MAX_EVENTS)
    if len(sent.pieces) > MAX_EVENTS:
        raise _too_many()
    return sent


def _too_many() -> HTTPException:
    return HTTPException(413, f"a request holds at most {MAX_EVENTS:,} events: send several")
