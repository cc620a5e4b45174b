"""Parses events: strictly when they come from outside, quickly when they come from the queue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated

import msgspec
from memtrace.events import Event, EventError, VariableEvent, decode, from_object
from pydantic import Field, TypeAdapter, ValidationError

from ingest.events.attributes import MOST_BYTES
from ingest.events.values import check_base

MAX_EVENT_BYTES = 16 << 20
"""Largest event on the wire, in bytes; a longer value must be sent as an addition to a base."""


def checked(piece: bytes) -> Event:
    """Parse and check one event; a long event is returned without its value.

    Raises:
        EventError: it can't be accepted.
    """
    event = _read(piece) if len(piece) <= MOST_BYTES else _read_long(piece)
    if isinstance(event, VariableEvent) and event.base is not None:
        try:
            check_base(event.base)
        except ValueError as error:
            raise EventError(str(error)) from None
    return event


class _Outline(msgspec.Struct):
    """An event whose long field, the value, is not parsed."""

    value: msgspec.Raw = msgspec.Raw(b"")


def _read_long(piece: bytes) -> Event:
    """Parse a long event without its value; no other field may be long.

    Parsing nested JSON takes several times as long as scanning a text, and blocks the process.

    Raises:
        EventError: it is not an event, or longer than allowed.
    """
    if len(piece) > MAX_EVENT_BYTES:
        raise EventError(f"{len(piece):,} bytes; an event has at most {MAX_EVENT_BYTES:,}")
    try:
        value = bytes(msgspec.json.decode(piece, type=_Outline).value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        # Only the slower parser says where an error is, but it takes too long for a long text.
        what = "value, or a text beside it: no valid Unicode, which can't be stored, or " if b"\\u" in piece else ""
        raise EventError(f"{what}not JSON: {error}") from None
    beside = len(piece) - len(value)
    if beside > MOST_BYTES:
        raise EventError(f"attributes: {beside:,} bytes beside the value; an event has at most {MOST_BYTES:,}")
    event = _read(piece.replace(value, b'""', 1))
    try:
        msgspec.json.decode(value, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise EventError(f"value: no text, or no valid Unicode, which can't be stored: {error}") from None
    return event


def _read(piece: bytes) -> Event:
    """Read one event.

    Raises:
        EventError: it is not an event.
    """
    try:
        found = msgspec.json.decode(piece)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # msgspec refuses some JSON that may be an event, and invalid Unicode. ``decode`` is more tolerant, and explains
        # errors better.
        return decode(piece)
    return from_object(found)


def read(lines: Sequence[bytes]) -> list[Event | EventError]:
    """The event, or the error, of each line; fast for lines that were checked before."""
    return [_read_checked(line) for line in lines]


def _read_checked(line: bytes) -> Event | EventError:
    try:
        # A packet was checked on arrival, so one pass is enough. If that pass fails, the line may still be an event.
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
