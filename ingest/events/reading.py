"""Reading events: looking at what comes from outside, and reading again what was looked at."""

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
"""Of one event as it is sent: a longer value is rebuilt from parts."""


def checked(piece: bytes) -> Event:
    """An event that can be taken; of a long one, without its value.

    Raises:
        EventError: it can't.
    """
    event = _read(piece) if len(piece) <= MOST_BYTES else _read_long(piece)
    if isinstance(event, VariableEvent) and event.base is not None:
        try:
            check_base(event.base)
        except ValueError as error:
            raise EventError(str(error)) from None
    return event


class _Outline(msgspec.Struct):
    """What of an event may be long."""

    value: msgspec.Raw = msgspec.Raw(b"")


def _read_long(piece: bytes) -> Event:
    """A long event without its value, which is all that may be long of it.

    To read what is nested takes several times as long as to read a text, and nothing else of the process goes on
    meanwhile.

    Raises:
        EventError: it is none, or it is longer than is taken.
    """
    if len(piece) > MAX_EVENT_BYTES:
        raise EventError(f"{len(piece):,} bytes; an event has at most {MAX_EVENT_BYTES:,}")
    try:
        value = bytes(msgspec.json.decode(piece, type=_Outline).value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        # To find the place takes the slower reader, which a long text would keep for too long.
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
    """An event.

    Raises:
        EventError: it is none.
    """
    try:
        found = msgspec.json.decode(piece)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # JSON that this reader does not take may be an event all the same, and the other says better what is wrong.
        # It also finds texts that are no valid Unicode, which this reader never takes.
        return decode(piece)
    return from_object(found)


def read(lines: Sequence[bytes]) -> list[Event | EventError]:
    """What each line is; quick with lines that were looked at before."""
    return [_read_checked(line) for line in lines]


def _read_checked(line: bytes) -> Event | EventError:
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
