"""Reads events: checks what comes from outside, and reads again what was checked before."""

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
"""Limit of one event as it is sent, in bytes; a longer value must be rebuilt from a base."""


def checked(piece: bytes) -> Event:
    """An event that can be accepted; a long one is returned without its value.

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
    """The fields of an event that may be long."""

    value: msgspec.Raw = msgspec.Raw(b"")


def _read_long(piece: bytes) -> Event:
    """A long event without its value; only the value may be long.

    Reading nested JSON takes several times as long as reading a text, and the process does nothing else meanwhile.

    Raises:
        EventError: it is not an event, or longer than allowed.
    """
    if len(piece) > MAX_EVENT_BYTES:
        raise EventError(f"{len(piece):,} bytes; an event has at most {MAX_EVENT_BYTES:,}")
    try:
        value = bytes(msgspec.json.decode(piece, type=_Outline).value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        # Only the slower reader finds the place of an error, and a long text would take it too long.
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
        # JSON that this reader refuses may still be an event, and the other reader explains better what is wrong.
        # The other one also finds texts that are not valid Unicode, which this reader always refuses.
        return decode(piece)
    return from_object(found)


def read(lines: Sequence[bytes]) -> list[Event | EventError]:
    """The event or error in each line; fast for lines that were checked before."""
    return [_read_checked(line) for line in lines]


def _read_checked(line: bytes) -> Event | EventError:
    try:
        # One pass is enough, because a packet was checked when it came. What one pass can't read may still be an event.
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
