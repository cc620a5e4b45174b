"""The last step before an event leaves the process: masks, limits of size, and the wire format."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from memtrace.changes import Images
from memtrace.faults import report
from memtrace.kinds import MAX_NAME_CHARACTERS, MAX_SAID_CHARACTERS
from memtrace.raw_events import TIME, RawEvent, WireEvent, opened, written
from memtrace.values import JSON, TEXT, clean_text, plain_tree

EVENT_VERSION = 1
MASKED = "[REDACTED]"
MOST_WHOLE_BYTES = 12_000_000
"""Largest value that is sent whole: the platform accepts events up to 16 MiB."""

_TEXTS = ("name", "comment", "category")
_SHORTENED = ("comment", "category", "className", "location")

MOST_SAID_BYTES = 20_000
"""In bytes; shorter lines are not checked more closely."""

MOST_ATTRIBUTE_BYTES = 100_000
"""Of the attributes of one event as JSON, in bytes. An operation has attributes at its beginning and end."""

MOST_TEXT_BYTES = 20_000
"""Of a comment or similar text as JSON, in bytes."""

_LARGE = 4
"""An attribute larger than this fraction (1/4) of the room is replaced by its size."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Settings of the preparation, and the preparation itself.

    Attributes:
        redactions: functions from text to text. If a function fails, ``[REDACTED]`` replaces the whole text.
        max_value_bytes: longer values are cut.
    """

    redactions: tuple[Callable[[str], str], ...] = ()
    max_value_bytes: int = 1_000_000
    _images: Images = field(default_factory=Images, compare=False, repr=False)
    """The last version of each masked value that changes."""

    def __call__(self, raw: RawEvent) -> WireEvent:
        """The event in the wire format, as a dictionary."""
        event = opened(raw)
        event["v"] = EVENT_VERSION
        event["time"] = written_time(event["time"])
        if "attributes" in event:
            event["attributes"] = plain_tree(event["attributes"])
        if self.redactions:
            self._mask(event)
        if "value" in event:
            self._cut(event)
        elif "error" in event:
            error = event["error"]
            event["error"] = {"type": error["type"], "message": error["message"][: self.max_value_bytes]}
        return event

    def line(self, raw: RawEvent) -> bytes:
        """The event in the wire format, as a line."""
        try:
            text = written(raw, EVENT_VERSION, written_time(raw[TIME]))
        except PydanticSerializationError:  # halves of surrogate pairs
            text = None
        if text is not None:
            return f"{text}\n".encode()
        event = self(raw)
        data = encoded(event)
        return data if len(data) <= MOST_SAID_BYTES else encoded(shortened(_clean_tree(event)))

    def masked_value(self, text: str, media_type: str) -> str:
        """The text of a value with masks."""
        if not self.redactions:
            return text
        if media_type == JSON:
            return to_json(self._masked_tree(json.loads(text))).decode()
        return self._masked(text)

    def _mask(self, event: dict[str, Any]) -> None:
        for name in _TEXTS:
            if event.get(name):
                event[name] = self._masked(event[name])[:MAX_NAME_CHARACTERS] or MASKED
        if event.get("attributes"):
            event["attributes"] = self._masked_tree(event["attributes"])
        if event.get("gold"):
            event["gold"] = [self._masked(text)[:MAX_SAID_CHARACTERS] for text in event["gold"]]
        if event.get("error"):
            event["error"] = {**event["error"], "message": self._masked(event["error"]["message"])}
        if event["type"] != "variable":
            return
        event["value"] = self.masked_value(event["value"], event["mediaType"])
        before = event.get("revisionOf")
        if before is not None:
            told = self._images.tell(before, event["variable"], event["value"])
            event["value"] = told.text
            event.update(told.base(before))

    def _masked(self, text: str) -> str:
        try:
            for redaction in self.redactions:
                text = redaction(text)
        except Exception as error:
            report("redaction", error)
            return MASKED
        return clean_text(text) if isinstance(text, str) else MASKED

    def _masked_tree(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._masked(value)
        if isinstance(value, dict):
            return {self._masked(key): self._masked_tree(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._masked_tree(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = str(value)
            masked = self._masked(text)
            return value if masked == text else masked
        return value

    def _cut(self, event: dict[str, Any]) -> None:
        text: str = event["value"]
        base = event.get("base")
        if base is not None:
            kept = event.pop("keptBytes")
            if base["size"] <= self.max_value_bytes:
                return
            # A kept part of the previous version that is too long is cut too.
            end = text.encode("utf-8", "replace")[: max(0, self.max_value_bytes - kept)].decode("utf-8", "ignore")
            size = min(kept, self.max_value_bytes) + len(end.encode())
            event.update(value=end, mediaType=TEXT, truncated=True, size=base["size"], base={**base, "size": size})
            return
        most = min(self.max_value_bytes, MOST_WHOLE_BYTES)
        if len(text) * 4 <= most:
            return
        data = text.encode("utf-8", "replace")
        if len(data) <= most:
            return
        event["value"] = data[:most].decode("utf-8", "ignore")
        event["mediaType"] = TEXT
        event["truncated"] = True
        event["size"] = len(data)


def encoded(event: dict[str, Any]) -> bytes:
    """A prepared event as one line of JSON."""
    try:
        return to_json(event) + b"\n"
    except PydanticSerializationError:  # halves of surrogate pairs, which UTF-8 can't hold
        return to_json(_clean_tree(event)) + b"\n"


@lru_cache(maxsize=64)
def written_time(nanoseconds: int) -> str:
    """ISO 8601 in UTC with microseconds."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_written_second(seconds)}.{rest // 1000:06d}Z"


@lru_cache(maxsize=8)
def _written_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _clean_tree(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _clean_tree(item) for key, item in value.items()}
    return [_clean_tree(item) for item in value] if isinstance(value, list) else value


def shortened(event: dict[str, Any]) -> dict[str, Any]:
    """The event with all fields but its value cut to a permitted length, or replaced by their length.

    Args:
        event: in the wire format; all texts are valid Unicode.
    """
    short = dict(event)
    for name in _SHORTENED:
        if name in short:
            short[name] = _cut_text(short[name])
    if "attributes" in short:
        short["attributes"] = _fitted(short["attributes"])
    if "gold" in short:
        short["gold"] = _first(short["gold"])
    if "error" in short:
        short["error"] = {name: _cut_text(text) for name, text in short["error"].items()}
    return short


def _cut_text(text: str) -> str:
    size = len(to_json(text))
    while size > MOST_TEXT_BYTES:
        text = text[: len(text) * MOST_TEXT_BYTES // size]
        size = len(to_json(text))
    return text


def _first(texts: list[str]) -> list[str]:
    """The first texts that fit into the room."""
    room, kept = MOST_ATTRIBUTE_BYTES, list[str]()
    for text in map(_cut_text, texts):
        room -= len(to_json(text))
        if room < 0:
            break
        kept.append(text)
    return kept


def _fitted(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes that fit into the room. The size replaces a large attribute."""
    fitted: dict[str, Any] = {}
    room, left_out = MOST_ATTRIBUTE_BYTES, 0
    if len(to_json(attributes)) <= room:
        return attributes
    for name, item in attributes.items():
        size = len(to_json(item))
        said = item if size <= MOST_ATTRIBUTE_BYTES // _LARGE else f"<{size} bytes>"
        taken = len(to_json(name)) + len(to_json(said)) + 2
        if taken > room:
            left_out += 1
            continue
        room -= taken
        fitted[name] = said
    if left_out:
        fitted["<left out>"] = left_out
    return fitted
