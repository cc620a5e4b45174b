"""Sends only what is new in a value since its last version, such as what was added to a growing buffer.

The next version of a value is described by how many characters of the previous text stay at its beginning, and by the
rest. For lists and dictionaries of plain data, a copy is kept instead of the text, so that only new elements are
written as JSON.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from memtrace.values import JSON, snapshot

MIN_KEPT = 64
"""In characters; if less is in common, the whole value is sent."""

MOST_READ_FOR_ONE = 8
"""A value that shrank to less than this part is sent whole: the platform would have to read all of the old one."""

MIN_TEXT = 256
MAX_IMAGES = 1_000
MAX_IMAGE_BYTES = 16_000_000
_MAX_DEPTH = 20

NO_BASE: Mapping[str, Any] = {}
_losses = 0
"""How often events were lost."""


def lost() -> None:
    """Events that were recorded are lost: the next version of each value is sent whole."""
    global _losses  # noqa: PLW0603 (one recorder a process)
    _losses += 1


@dataclass(slots=True)
class Told:
    """How a version is described in its event.

    Attributes:
        text: the value, or the end of it.
        kept: number of characters at the beginning of the previous version that come before ``text``; None if ``text``
            is the whole value.
        kept_bytes: the same number in bytes of UTF-8.
        size: size of the whole value in bytes.
    """

    text: str
    media_type: str
    kept: int | None = None
    kept_bytes: int = 0
    size: int = 0

    def base(self, variable: str) -> Mapping[str, Any]:
        """The field ``base`` of the event; the argument is the id of the previous version's variable."""
        if self.kept is None:
            return NO_BASE
        return {"base": {"variable": variable, "kept": self.kept, "size": self.size}, "keptBytes": self.kept_bytes}


class Images:
    """The last version of each value that changes, so that only the difference is sent. Keeps the newest values."""

    def __init__(self) -> None:
        self._images: OrderedDict[str, _Parts | _Text] = OrderedDict()
        self._bytes = 0
        self._losses = _losses

    def tell(self, before: str, now: str, value: object) -> Told:
        """How to describe the version ``now`` of a value after the version ``before``; both are ids of variables."""
        if self._losses != _losses:
            self._losses = _losses
            self._images.clear()
            self._bytes = 0
        image = self._images.pop(before, None)
        if image is None:
            text, media_type = snapshot(value)
            if len(text) >= MIN_TEXT:
                self._keep(now, _image_of(value, text))
            return Told(text, media_type)
        size_before = image.size
        self._bytes -= size_before
        told = image.next(value)
        if told is None:  # the value is of another type now
            text, media_type = snapshot(value)
            image, told = _image_of(value, text), Told(text, media_type)
        elif told.kept is not None:
            # A whole value now and then limits what the loss of an event costs, and at most doubles what is sent.
            image.since_whole += len(told.text)
            is_little = told.kept < MIN_KEPT or told.size * MOST_READ_FOR_ONE < size_before
            if is_little or image.since_whole > told.size:
                image.since_whole = 0
                told = Told(*snapshot(value))
        self._keep(now, image)
        return told

    def take_in(self, other: Images) -> None:
        """Add the images that another trace has kept."""
        for id_, image in list(other._images.items()) if other._losses == _losses else ():
            self._keep(id_, image)

    def _keep(self, id_: str, image: _Parts | _Text) -> None:
        self._images[id_] = image
        self._bytes += image.size
        while self._images and (len(self._images) > MAX_IMAGES or self._bytes > MAX_IMAGE_BYTES):
            _, oldest = self._images.popitem(last=False)
            self._bytes -= oldest.size


def common(first: Any, second: Any) -> int:
    """Number of characters or elements that two texts or lists have in common at the beginning."""
    known, end = 0, min(len(first), len(second))
    if (first if len(first) == end else first[:end]) == (second if len(second) == end else second[:end]):
        return end
    while end - known > 1:
        middle = (known + end) // 2
        if first[known:middle] == second[known:middle]:
            known = middle
        else:
            end = middle
    return known


class _Text:
    """The last version of a value, remembered as text."""

    __slots__ = ("_text", "since_whole", "size")

    def __init__(self, text: str) -> None:
        self._text = text
        self.size = _size(text)
        self.since_whole = 0

    def next(self, value: object) -> Told | None:
        text, media_type = snapshot(value)
        before, self._text = self._text, text
        kept = common(before, text)
        rest = text[kept:]
        self.size = _size(text)
        return Told(rest, media_type, kept, self.size - _size(rest), self.size)


class _Parts:
    """A list or dictionary of plain data, remembered as a copy, with the end of each element in the text."""

    __slots__ = ("_copy", "_ends", "_keys", "_kind", "since_whole", "size")

    def __init__(self, value: list[Any] | dict[Any, Any]) -> None:
        self._kind = type(value)
        self._keys: list[Any] = []
        self._copy: list[Any] = []
        self._ends: list[tuple[int, int]] = []
        self.size = 0
        self.since_whole = 0
        if self.next(value) is None:
            raise TypeError("no plain data")

    def next(self, value: object) -> Told | None:
        """How the new version is described; None if it is not plain data of the same type."""
        if type(value) is not self._kind:
            return None
        try:
            keys: list[Any] = list(value) if isinstance(value, dict) else []
            items: list[Any] = list(value.values() if isinstance(value, dict) else value)
            same = common(self._copy, items)
            if keys:
                same = min(same, common(self._keys, keys))
            copies = [_exact(item) for item in items[same:]]
            pieces = [to_json(item, inf_nan_mode="strings") for item in items[same:]]
            if keys:
                pieces = [b"%b:%b" % (_key(key), piece) for key, piece in zip(keys[same:], pieces, strict=True)]
        except Exception:
            return None
        del self._copy[same:], self._ends[same:]
        self._copy += copies
        self._keys = keys
        return self._told(pieces)

    def _told(self, pieces: list[bytes]) -> Told:
        """The description of the elements that stay and the new ones."""
        kept, kept_bytes = characters, size = self._ends[-1] if self._ends else (1, 1)
        comma = "," if self._ends and pieces else ""
        texts = [piece.decode() for piece in pieces]
        for text, piece in zip(texts, pieces, strict=True):
            between = 1 if self._ends else 0
            characters += len(text) + between
            size += len(piece) + between
            self._ends.append((characters, size))
        self.size = size + 1
        end = "]" if self._kind is list else "}"
        return Told(f"{comma}{','.join(texts)}{end}", JSON, kept, kept_bytes, self.size)


def _image_of(value: object, text: str) -> _Parts | _Text:
    if type(value) in {list, dict}:
        try:
            return _Parts(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    return _Text(text)


class _Exact:
    """A truth value or number as an element of a copy: 1 and True are equal, but must not count as the same."""

    __slots__ = ("_value",)

    def __init__(self, value: float) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self._value) and other == self._value

    __hash__ = None  # type: ignore[assignment]


def _exact(value: Any, depth: int = 0) -> Any:
    """A copy of plain data which equals the value as long as the value stays the same.

    What JSON can't distinguish (5 and 5.0, the order of keys) counts as the same.

    Raises:
        TypeError: it is not plain data.
    """
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int or kind is float or kind is bool:
        return _Exact(value) if value in {0, 1} else value
    if depth < _MAX_DEPTH:
        if kind is list:
            return [_exact(item, depth + 1) for item in value]
        if kind is tuple:
            return tuple(_exact(item, depth + 1) for item in value)
        if kind is dict and all(type(key) is str for key in value):
            return {key: _exact(item, depth + 1) for key, item in value.items()}
    raise TypeError(kind)


def _key(key: Any) -> bytes:
    """A key as JSON.

    Raises:
        TypeError: it is not a text.
    """
    if type(key) is not str:
        raise TypeError(type(key))
    return to_json(key)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
