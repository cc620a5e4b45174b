"""Taking in events, which applications record while they run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fastapi import APIRouter, Request, Response
from memtrace.events import EVENT_VERSION, json_schema
from pydantic import ConfigDict, Field
from starlette.exceptions import HTTPException

from api.http.bodies import JSON, LINES, EventsBody, Read
from api.http.dependencies import Reader, Writer, platform_of
from api.http.documented import answers
from api.http.inflate import ENCODINGS
from api.http.platform import Platform
from api.http.receipts import Public
from schema.errors import StoreError

router = APIRouter(prefix="/v1", tags=["traces"])

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

    Each event gets its own result: a bad one does not stop the others. When the response comes, the accepted events are
    stored safely; a moment later they are in the graph. `memtrace dlq` shows events that could not be written to the
    graph. Sending an event again changes nothing.
    """
    kind, encoding = kind_of(request, _KINDS), encoding_of(request)
    platform = platform_of(request)
    body = EventsBody(await request.body(), kind, encoding, platform.settings.max_events_bytes)
    read = await platform.reading.read(door.project_id, body, platform.events.max_packet_bytes)
    await keep(platform, door.project_id, read)
    return Response(read.answer, media_type=JSON)


async def keep(platform: Platform, project_id: str, read: Read) -> None:
    """Make the good events of a request durable, and count all events.

    Raises:
        TooLargeError: the rebuilt values of the request are larger than allowed.
        RateLimitedError: the project's lately rebuilt values are larger than allowed.
        StoreError: the queue is full, or can't be used.
    """
    if read.packets:
        platform.rebuilt.take(project_id, read.rebuilt, read.accepted)
        try:
            await platform.events.put(read.packets)
        except StoreError:
            platform.rebuilt.give_back(project_id, read.rebuilt)
            raise
    platform.metrics.received.labels("accepted").inc(read.accepted)
    platform.metrics.received.labels("rejected").inc(read.rejected)


@router.get("/events/schema", responses=answers())
async def schema(door: Reader) -> dict[str, Any]:
    """The JSON Schema of one event."""
    return json_schema()


def kind_of(request: Request, kinds: Collection[str]) -> str:
    """The media type of a body.

    Raises:
        HTTPException: the media type is not supported.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in kinds:
        raise HTTPException(415, f"a body of type {kind!r} is not taken; send one of {', '.join(kinds)}")
    return kind


def encoding_of(request: Request) -> str:
    """The compression of a body.

    Raises:
        HTTPException: the compression is not supported.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ENCODINGS:
        taken = ", ".join(ENCODINGS)
        raise HTTPException(
            415, f"the encoding {encoding!r} is not taken; send one of {taken}", {"Accept-Encoding": taken}
        )
    return encoding
