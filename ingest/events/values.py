"""Splits values into the part on the variable and the part beside the graph, and joins values with their beginnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memtrace import events as wire

from ingest.events.attributes import parts_of
from ingest.events.names import EventRefusedError, Known, Names
from schema.errors import CorruptValueError
from schema.ids import hash_value
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES, Variable
from store.contract.answers import Label, Stored
from store.contract.protocol import GraphStore

MOST_REBUILT_BYTES = 64 << 20
"""Largest rebuilt value, in bytes: a few bytes on the wire may stand for a long value."""

PORTION_BYTES = 8 << 20
"""Total bytes of values that are rebuilt without a pause, or one longer value; then other work gets its turn."""

_LEAST_WORK = 64 << 10
"""Smallest cost of a rebuilt value, in bytes: its base must be read."""

_ALWAYS_READ_BYTES, _MOST_READ_FOR_ONE = 1 << 20, 16
"""Largest base: this number of bytes, or this multiple of the rebuilt value's size, whichever is larger."""

_LONGEST_CHARACTER = 4
_WINDOW = 1 << 20
_NO_STARTS = bytes(range(0x80, 0xC0))
"""UTF-8 continuation bytes: no character begins with one."""


@dataclass(frozen=True, slots=True)
class ValueParts:
    """The parts of a value.

    Attributes:
        whole: the value, if it is small enough for the variable.
        data: the bytes to store beside the graph, if the value is too large for the variable.
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
        truncated: whether the value was cut.
        size: size in bytes before the cut; None if the value was not cut.
    """

    data: bytes
    media_type: str
    truncated: bool | None
    size: int | None
    text: str | None = None
    """The value as text, if the event had the whole text."""


def value_parts(data: bytes, text: str | None = None) -> ValueParts:
    """The parts of a value in UTF-8; ``text`` is the same value decoded, if the caller has it."""
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
    """The cost of rebuilding an event's value, in bytes; 0 if the event has the whole value or will be refused."""
    if not isinstance(event, wire.VariableEvent) or event.base is None or event.base.size > MOST_REBUILT_BYTES:
        return 0
    return max(event.base.size, _LEAST_WORK)


def check_base(base: wire.Base, beginning_size: int | None = None) -> None:
    """Check whether a value may be rebuilt.

    Args:
        base: the base of the event.
        beginning_size: size in bytes of the base variable's value, if known.

    Raises:
        ValueError: rebuilding would take too much; the message says why.
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
        beginning: the base variable's value.
        is_cut: whether ``beginning`` was cut. Then a part that the base keeps may be missing, and the result is cut.

    Raises:
        ValueError: the parts do not fit together, or are too large; the message names the field.
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
    """The events in order, in portions that rebuild at most ``PORTION_BYTES`` each, or one longer value."""
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
    """The offset in bytes at which the first ``characters`` characters of UTF-8 text end; None if it has fewer.

    Works on the bytes: decoding would take several times as long, and block the process.
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
    """The offset in ``window`` of the character after the first ``characters`` characters."""
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


Beginnings = Mapping[str, bytes | CorruptValueError]
"""Bytes of the stored values that new values begin with, by hash; the error for a damaged value."""


class Rebuilder:
    """Computes the whole values of events of one trace."""

    def __init__(self, known: Known, values: Mapping[str, bytes], beginnings: Beginnings) -> None:
        """Take the sources of beginnings.

        Args:
            known: the elements of the trace.
            values: values of new variables that are too long for the variable itself, by hash.
            beginnings: the same for stored variables, as far as events refer to them.
        """
        self._known = known
        self._values = values
        self._beginnings = beginnings
        self._cut: dict[str, bool] = {}

    def whole(self, event: wire.VariableEvent) -> Whole:
        """The whole value of an event.

        Raises:
            EventRefusedError: the event's base does not exist, or does not fit.
            UnicodeEncodeError: the value is not valid Unicode.
        """
        base = event.base
        if base is None:
            return Whole(event.value.encode(), event.media_type, event.truncated, event.size, event.value)
        before: Variable = self._known.get(Label.VARIABLE, base.variable, "base")
        try:
            check_base(base, before.size)
            return rebuilt(event, base, self._value_of(before), self._is_cut(before))
        except UnicodeEncodeError:
            raise
        except ValueError as error:
            raise EventRefusedError(str(error)) from None

    def _value_of(self, variable: Variable) -> bytes:
        if variable.value is not None:
            return variable.value.encode()
        value = self._values.get(variable.value_hash) or self._beginnings[variable.value_hash]
        if isinstance(value, CorruptValueError):
            raise EventRefusedError(f"base: {value}")
        return value

    def _is_cut(self, variable: Variable) -> bool:
        found = self._cut.get(variable.id)
        if found is None:
            found = self._cut[variable.id] = "truncatedFrom" in parts_of(variable.attributes)
        return found


async def read_beginnings(
    store: GraphStore, names: Names, stored: Stored, events: Iterable[wire.Event]
) -> dict[str, bytes | CorruptValueError]:
    """Read the stored values that some events' values begin with, each once."""
    known: Mapping[str, Variable] = stored.elements.get(Label.VARIABLE, {})
    found: dict[str, bytes | CorruptValueError] = {}
    for event in events:
        if not isinstance(event, wire.VariableEvent) or event.base is None:
            continue
        before = known.get(names.id(Label.VARIABLE, event.base.variable))
        if before is None or before.value is not None or before.value_hash in found:
            continue
        try:
            check_base(event.base, before.size)
        except ValueError:
            continue  # the event is refused when it is processed
        try:
            found[before.value_hash] = await store.value(before)
        except CorruptValueError as error:
            found[before.value_hash] = error
    return found
