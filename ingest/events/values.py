"""How a value is stored on its variable, and which part of it is stored beside the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memtrace import events as wire

from schema.ids import hash_value
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES

MOST_REBUILT_BYTES = 64 << 20
"""Largest value that is rebuilt in memory, in bytes: a few bytes on the wire may stand for a long value."""

PORTION_BYTES = 8 << 20
"""Total size of values that are rebuilt without a pause (or one longer value); other work is done in between."""

_LEAST_WORK = 64 << 10
"""The least that a rebuilt value counts for, in bytes, because its base has to be read."""

_ALWAYS_READ_BYTES, _MOST_READ_FOR_ONE = 1 << 20, 16
"""Largest base: so many bytes, or so many times the size of the value for which it is read."""

_LONGEST_CHARACTER = 4
_WINDOW = 1 << 20
_NO_STARTS = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 with which no character begins: continuation bytes."""


@dataclass(frozen=True, slots=True)
class ValueParts:
    """The parts of a value.

    Attributes:
        whole: the value, if it is small enough to be on the variable.
        data: its bytes, if they have to be stored beside the graph.
        size: size in bytes of UTF-8.
    """

    preview: str
    whole: str | None
    data: bytes | None
    value_hash: str
    size: int


@dataclass(slots=True)
class Whole:
    """The whole value of an event.

    Attributes:
        data: the value in UTF-8.
        truncated: whether it is cut.
        size: size of the whole value in bytes, if it is cut.
    """

    data: bytes
    media_type: str
    truncated: bool | None
    size: int | None
    text: str | None = None
    """The value as a text, if it came as one."""


def value_parts(data: bytes, text: str | None = None) -> ValueParts:
    """The parts of a value in UTF-8; ``text`` is the same value as a text, if it is available."""
    is_small = len(data) <= WHOLE_VALUE_BYTES
    if text is None:
        beginning = data if is_small else data[: PREVIEW_CHARACTERS * _LONGEST_CHARACTER]
        text = beginning.decode("utf-8", "strict" if is_small else "ignore")
    return ValueParts(
        text[:PREVIEW_CHARACTERS],
        text if is_small else None,
        None if is_small else data,
        hash_value(data),
        len(data),
    )


def rebuilt_bytes(event: wire.Event) -> int:
    """The work of rebuilding an event's value, in bytes; 0 if it comes whole, or will be refused."""
    if not isinstance(event, wire.VariableEvent) or event.base is None or event.base.size > MOST_REBUILT_BYTES:
        return 0
    return max(event.base.size, _LEAST_WORK)


def check_base(base: wire.Base, beginning_size: int | None = None) -> None:
    """Check whether a value may be rebuilt.

    Args:
        base: the base of the event.
        beginning_size: size in bytes of the value of the variable that the base names, if it is known.

    Raises:
        ValueError: it may not be; the message says why.
    """
    if base.size > MOST_REBUILT_BYTES:
        raise ValueError(f"base.size: {base.size} bytes; a value is rebuilt up to {MOST_REBUILT_BYTES}")
    if beginning_size is not None and beginning_size > max(_ALWAYS_READ_BYTES, _MOST_READ_FOR_ONE * base.size):
        raise ValueError(
            f"base.variable: the value of {base.variable!r} has {beginning_size} bytes, more than "
            f"{_MOST_READ_FOR_ONE} times as many as what begins with it; send that whole"
        )


def rebuilt(event: wire.VariableEvent, base: wire.Base, beginning: bytes, is_cut: bool) -> Whole:
    """The whole value of an event that contains only the new part.

    Args:
        event: the event.
        base: its base.
        beginning: the value of the variable that the base names.
        is_cut: whether that value was cut. A part that should be kept may be missing then, and the result is cut too.

    Raises:
        ValueError: the parts do not fit together, or are too large; the message says what and where.
    """
    check_base(base, len(beginning))
    kept = _place_of(beginning, base.kept)
    if kept is None:
        if not is_cut:
            there = sum(map(_characters, _windows(beginning)))
            raise ValueError(f"base.kept: {base.kept} characters, but the value of {base.variable!r} has {there}")
        return Whole(beginning, "text/plain", True, event.size if event.truncated else base.size)
    end = event.value.encode()
    size = kept + len(end)
    if size != base.size:
        raise ValueError(f"base.size: {base.size} bytes, but the whole value comes to {size}")
    data = b"".join((memoryview(beginning)[:kept], end))
    return Whole(data, event.media_type, event.truncated, event.size)


def portions(events: Iterable[tuple[int, wire.Event]]) -> Iterator[list[tuple[int, wire.Event]]]:
    """The events in their order, divided so that no portion rebuilds more than ``PORTION_BYTES``, or one value."""
    portion: list[tuple[int, wire.Event]] = []
    size = 0
    for index, event in events:
        more = rebuilt_bytes(event)
        if portion and more and size + more > PORTION_BYTES:
            yield portion
            portion, size = [], 0
        portion.append((index, event))
        size += more
    if portion:
        yield portion


def _place_of(data: bytes, characters: int) -> int | None:
    """Where so many characters of a text in UTF-8 end, in bytes; None if it has fewer.

    Nothing is decoded, because that would take several times as long and block the process.
    """
    if data.isascii():
        return characters if characters <= len(data) else None
    place = 0
    for window in _windows(data):
        count = _characters(window)
        if count > characters:
            return place + _start_of(window, characters)
        characters -= count
        place += len(window)
    return place if not characters else None


def _start_of(window: bytes, characters: int) -> int:
    """Where the character begins that follows so many others, in a part of the text that contains it."""
    place = 0
    while len(window) > 1:
        half = len(window) // 2
        count = _characters(window[:half])
        if count > characters:
            window = window[:half]
        else:
            characters -= count
            window = window[half:]
            place += half
    return place


def _characters(window: bytes) -> int:
    return len(window.translate(None, _NO_STARTS))


def _windows(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _WINDOW] for start in range(0, len(data), _WINDOW))
