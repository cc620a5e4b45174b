"""Taking events in: what applications record of themselves, as it happens."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from operator import attrgetter
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from memtrace.events import EVENT_VERSION, Event, EventError, decode_lines, from_object, json_schema
from pydantic import ConfigDict, Field
from starlette.exceptions import HTTPException

from api.http.dependencies import Reader, Writer, platform_of
from api.http.documented import answers
from api.http.inflate import ENCODINGS, inflate
from api.http.receipts import Public
from ingest.events import Refusal, take_events
from schema.errors import InputError

router = APIRouter(prefix="/v1", tags=["traces"])

LINES = ("application/x-ndjson", "application/ndjson")
JSON = "application/json"
MAX_EVENTS = 20_000
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
    """An event that was not taken."""

    model_config = ConfigDict(validate_by_name=True)

    index: int = Field(description="Its place among the events of the request, from 0.")
    reason: str = Field(description="What is wrong with it.")
    is_early: bool = Field(description="Whether it refers to something that has not come yet: send it again later.")


class Taken(Public):
    """What became of a request's events."""

    accepted: int = Field(description="Events that are in the graph now, also those that were there before.")
    rejected: list[Refused] = Field(description="The others, in order.")


@router.post("/events", openapi_extra=_BODY, responses=answers(413, 415))
async def take(door: Writer, request: Request) -> Taken:
    """Take events into the graph.

    Each event gets its own result: a bad one never keeps its neighbours out. When the answer comes, what is accepted is
    durable. An event may be sent again: that changes nothing.
    """
    kind, encoding = _kind(request), _encoding(request)
    limit = platform_of(request).settings.max_events_bytes
    sent = await request.body()
    # Reading thousands of events takes its time; other requests need not wait for it.
    found = await asyncio.to_thread(_read, sent, kind, encoding, limit)
    events: list[Event] = []
    places: list[int] = []
    refused: list[Refusal] = []
    for index, event in enumerate(found):
        if isinstance(event, EventError):
            refused.append(Refusal(index, str(event)))
        else:
            events.append(event)
            places.append(index)
    refused += [replace(one, index=places[one.index]) for one in await take_events(door.store, events)]
    refused.sort(key=attrgetter("index"))
    return Taken(
        accepted=len(found) - len(refused),
        rejected=[Refused(index=one.index, reason=one.reason, is_early=one.is_early) for one in refused],
    )


@router.get("/events/schema", responses=answers())
async def schema(door: Reader) -> dict[str, Any]:
    """The JSON Schema of one event."""
    return json_schema()


def _kind(request: Request) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _KINDS:
        raise HTTPException(415, f"a body of type {kind!r} is not taken; send one of {', '.join(_KINDS)}")
    return kind


def _encoding(request: Request) -> str:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ENCODINGS:
        taken = ", ".join(ENCODINGS)
        raise HTTPException(
            415, f"the encoding {encoding!r} is not taken; send one of {taken}", {"Accept-Encoding": taken}
        )
    return encoding


def _read(sent: bytes, kind: str, encoding: str, limit: int) -> list[Event | EventError]:
    """The events of a request.

    Raises:
        TooLargeError: it unpacks to more bytes than ``limit``.
        HTTPException: it holds too many events.
        InputError: it is not what it says.
    """
    body = inflate(sent, encoding, limit)
    if kind in LINES and body.count(b"\n") > 2 * MAX_EVENTS:
        raise _too_many()
    found = decode_lines(body) if kind in LINES else _from_json(body)
    if len(found) > MAX_EVENTS:
        raise _too_many()
    return found


def _too_many() -> HTTPException:
    return HTTPException(413, f"a request holds at most {MAX_EVENTS:,} events: send several")


def _from_json(body: bytes) -> list[Event | EventError]:
    """One event, or an array of them.

    Raises:
        InputError: the body is no JSON.
    """
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("body", "", f"is no JSON: {error}") from None
    return [_event(one) for one in found] if isinstance(found, list) else [_event(found)]


def _event(found: object) -> Event | EventError:
    try:
        return from_object(found)
    except EventError as error:
        return error
