"""The attributes of an element while events add to them: merged key by key, with a limit, and written as JSON once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from ingest.events.names import EventRefusedError
from schema.models import NO_ATTRIBUTES, Derivation, Operation, Session, Trace, Variable

MOST_BYTES = 256 << 10
"""Largest size of the attributes of an event or an element, as JSON in bytes. Reading or writing 256 KiB blocks the
process for a few milliseconds."""

T = TypeVar("T", Trace, Operation)
_Parts = dict[str, msgspec.Raw]


class Attributes:
    """The attributes of one element: the value of each key as JSON. Stored values are not parsed."""

    __slots__ = ("_parts", "_size", "_text", "is_changed")

    def __init__(self, text: str) -> None:
        """``text``: the stored attributes, JSON of any size."""
        self._text: str | None = text
        self._parts: _Parts | None = None
        self._size = 0
        self.is_changed = False

    def merge(self, more: Mapping[str, Any]) -> None:
        """Add or replace keys; an error leaves the attributes unchanged.

        Raises:
            EventRefusedError: the attributes would have more than ``MOST_BYTES``.
        """
        added = {key: msgspec.Raw(msgspec.json.encode(value)) for key, value in more.items()}
        if not added:
            return
        if self._is_huge():
            raise _too_much(len(self.text()))
        parts = self._opened()
        size = self._size
        for key, value in added.items():
            before = parts.get(key)
            size += _taken_by(key, value) - (0 if before is None else _taken_by(key, before))
        if size > MOST_BYTES:
            raise _too_much(size)
        parts.update(added)
        self._size, self._text, self.is_changed = size, None, True

    def text(self) -> str:
        """All attributes as JSON."""
        if self._text is None:
            self._text = msgspec.json.encode(self._parts).decode()
        return self._text

    def differing(self, said: Mapping[str, Any], *, is_all: bool, may_differ: bool = False) -> str | None:
        """The first key in which an event contradicts these attributes; None if it agrees.

        Args:
            said: the attributes of the event, by key.
            is_all: whether the event must name every known key.
            may_differ: whether later events may have changed the values; then only missing keys count.
        """
        if self._is_huge() or (not said and not is_all):
            return None
        parts = self._opened()
        for key, value in said.items():
            if key not in parts or not (may_differ or _is_same(bytes(parts[key]), value)):
                return key
        return next((key for key in parts if key not in said), None) if is_all else None

    def _is_huge(self) -> bool:
        """Whether an older version stored more than the limit; huge attributes are not parsed again for each event."""
        return self._parts is None and len(self.text()) > MOST_BYTES

    def _opened(self) -> _Parts:
        if self._parts is None:
            self._parts = parts_of(self.text())
            self._size = 1 + sum(_taken_by(key, value) for key, value in self._parts.items())
        return self._parts


class ChangedAttributes:
    """The attributes of a trace's elements that events add to or describe again."""

    def __init__(self) -> None:
        self._of: dict[str, Attributes] = {}

    def of(self, element: Trace | Session | Operation | Variable | Derivation) -> Attributes:
        """The attributes of an element, with everything that was added."""
        found = self._of.get(element.id)
        if found is None:
            found = self._of[element.id] = Attributes(element.attributes)
        return found

    def changed(self, id_: str) -> str | None:
        """The attributes of an element as JSON; None if nothing was added."""
        found = self._of.get(id_)
        return found.text() if found is not None and found.is_changed else None

    def finished(self, element: T) -> T:
        """The element with all its attributes."""
        text = self.changed(element.id)
        return element if text is None else replace(element, attributes=text)


def written(attributes: Mapping[str, Any]) -> str:
    """Attributes of a new element as JSON.

    Raises:
        EventRefusedError: they have more than ``MOST_BYTES``.
    """
    if not attributes:
        return NO_ATTRIBUTES
    data = msgspec.json.encode(attributes)
    if len(data) > MOST_BYTES:
        raise _too_much(len(data))
    return data.decode()


def parts_of(text: str) -> _Parts:
    """The keys of a JSON object, each with its value still as JSON."""
    found: _Parts = msgspec.json.decode(text, type=_Parts)
    return found


def _is_same(known: bytes, value: Any) -> bool:
    said = msgspec.json.encode(value)
    # The keys may be in another order.
    return known == said or (len(known) == len(said) and bool(msgspec.json.decode(known) == value))


def _taken_by(key: str, value: msgspec.Raw) -> int:
    """Bytes of a key with its value, a colon and a comma or bracket; approximate if the key has to be escaped."""
    return (len(key) if key.isascii() else len(key.encode("utf-8", "surrogatepass"))) + 4 + len(bytes(value))


def _too_much(size: int) -> EventRefusedError:
    return EventRefusedError(f"attributes: {size:,} bytes with what is there; an element has at most {MOST_BYTES:,}")
