"""How a value stands on its variable, and what of it is kept beside the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memtrace import events as wire

from schema.ids import hash_value
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES

MOST_REBUILT_BYTES = 64 << 20
"""Of one value that is rebuilt in memory: a few bytes on the wire may stand for a long one."""

PORTION_BYTES = 8 << 20
"""Of values that are rebuilt in one go, where one alone is not longer: others have their turn in between."""

_LEAST_WORK = 64 << 10
"""What a rebuilt value counts for at least: the one that it begins with has to be read."""

_ALWAYS_READ_BYTES, _MOST_READ_FOR_ONE = 1 << 20, 16
"""A value that another begins with may be so long, or so many times as long as what it is read for."""

_LONGEST_CHARACTER = 4
_WINDOW = 1 << 20
_NO_STARTS = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 with which no character begins."""


@dataclass(frozen=True, slots=True)
class ValueParts:
    """The parts of a value.

    Attributes:
        whole: the value, where it is small enough to stand on the variable.
        data: its bytes, where they have to be kept beside the graph.
        size: bytes in UTF-8.
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
        size: bytes of the whole value, where it is cut.
    """

    data: bytes
    media_type: str
    truncated: bool | None
    size: int | None
    text: str | None = None
    """The value, where it came as a text."""


def value_parts(data: bytes, text: str | None = None) -> ValueParts:
    """The parts of a value in UTF-8; ``text`` is the same, where it is at hand."""
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
    """How much work it is to rebuild an event's value, in bytes; 0 where it comes whole, or will be refused."""
    if not isinstance(event, wire.VariableEvent) or event.base is None or event.base.size > MOST_REBUILT_BYTES:
        return 0
    return max(event.base.size, _LEAST_WORK)


def check_base(base: wire.Base, beginning_size: int | None = None) -> None:
    """Whether a value is rebuilt at all.

    Args:
        base: what it begins with.
        beginning_size: bytes of the value of the variable that the base names, where that is known.

    Raises:
        ValueError: it is not; says why.
    """
    if base.size > MOST_REBUILT_BYTES:
        raise ValueError(f"base.size: {base.size} bytes; a value is rebuilt up to {MOST_REBUILT_BYTES}")
    if beginning_size is not None and beginning_size > max(_ALWAYS_READ_BYTES, _MOST_READ_FOR_ONE * base.size):
        raise ValueError(
            f"base.variable: the value of {base.variable!r} has {beginning_size} bytes, more than "
            f"{_MOST_READ_FOR_ONE} times as many as what begins with it; send that whole"
        )


def rebuilt(event: wire.VariableEvent, base: wire.Base, beginning: bytes, is_cut: bool) -> Whole:
    """The whole value of an event that says only what is new in it.

    Args:
        event: what came.
        base: its base.
        beginning: the value of the variable that the base names.
        is_cut: whether that value was cut; what is to be kept of it may be gone then, and the result is cut too.

    Raises:
        ValueError: it does not fit together, or is too much; says what and where.
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
    """The events in their order, cut so that no portion rebuilds more than ``PORTION_BYTES``, or one value."""
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
    """Where so many characters of a text in UTF-8 end, in bytes; None where it has fewer.

    Nothing is decoded: that would take several times as long, and stop all else of the process meanwhile.
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
    """Where the character begins that so many others come before, in a window that has it."""
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
