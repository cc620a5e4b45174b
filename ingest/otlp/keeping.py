"""Keeps the attributes and events of a span within the limit of one element, and tells what was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ingest.otlp.spans import Moment

MOST_BYTES = 192 << 10
"""Largest size of a span's attributes and events together, in bytes. An element may have 256 KiB; the rest is for our
own attributes."""

MOST_RESOURCE_BYTES = 16 << 10
"""Largest size of a resource, in bytes."""

MOST_RESOURCES_BYTES = 64 << 20
"""Largest size of the resources that all spans of a request keep, in bytes: each span has its own copy."""

_TOLD = 20
MOST_MOMENTS = 500
"""Largest number of kept events of a span."""

_LONGEST_NAME = 1_000
_SHORTEST_PART = 100
"""In bytes. A value of which less would remain is left out."""

_Place = tuple[int, str]
"""The position of an event, or ``_OWN``; and the name of an attribute."""
_OWN = -1


def bounded(attributes: Mapping[str, Any], most: int = MOST_BYTES, cut: list[str] | None = None) -> dict[str, Any]:
    """The attributes, together at most ``most`` bytes; the longest ones are cut.

    Args:
        attributes: JSON values by name.
        most: bytes.
        cut: gets a line for each attribute that was cut or left out.
    """
    kept = _fitted({(_OWN, name): value for name, value in attributes.items()}, most, [] if cut is None else cut)
    return {name: value for (_, name), value in kept.items()}


class KeptResources:
    """The resources of a request within their limit. A resource that the spans share is cut once."""

    def __init__(self, spans: int) -> None:
        """Nothing is cut yet.

        Args:
            spans: number of spans in the request, each of which keeps its resource.
        """
        self._most = min(MOST_RESOURCE_BYTES, MOST_RESOURCES_BYTES // max(1, spans))
        self._last: tuple[Mapping[str, Any], dict[str, Any], list[str]] | None = None

    def of(self, resource: Mapping[str, Any], cut: list[str]) -> dict[str, Any]:
        """The attributes of a resource that are kept; ``cut`` gets the first lines about what is not."""
        if self._last is None or self._last[0] is not resource:
            lines: list[str] = []
            self._last = resource, bounded(resource, self._most, lines), lines[:_TOLD]
        _, kept, lines = self._last
        cut += lines
        return kept


def kept_of(
    attributes: Mapping[str, Any], moments: Sequence[Moment], most: int, cut: list[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The attributes and events of a span, together at most ``most`` bytes; arguments as in ``bounded``."""
    named = [moment.name[:_LONGEST_NAME] for moment in moments[:MOST_MOMENTS]]
    if len(moments) > MOST_MOMENTS:
        cut.append(f"{len(moments) - MOST_MOMENTS:,} events after the first {MOST_MOMENTS:,} are left out")
    entries: dict[_Place, Any] = {(_OWN, name): value for name, value in attributes.items()}
    for place, moment in enumerate(moments[:MOST_MOMENTS]):
        entries |= {(place, name): value for name, value in moment.attributes.items()}
    kept = _fitted(entries, most - sum(len(name.encode()) + 20 for name in named), cut)
    events: list[dict[str, Any]] = [{"name": name} for name in named]
    own: dict[str, Any] = {}
    for (place, name), value in kept.items():
        (own if place == _OWN else events[place])[name] = value
    return own, events


def _fitted(entries: Mapping[_Place, Any], most: int, cut: list[str]) -> dict[_Place, Any]:
    """The entries within ``most`` bytes. Short values stay whole; long values share the room that is left evenly."""
    found: dict[_Place, Any] = {}
    left, lost = most, 0
    sized = sorted(((_size(value), place) for place, value in entries.items()), key=lambda one: (one[0], one[1]))
    for number, (size, (at, name)) in enumerate(sized):
        kept, key = entries[at, name], name
        if len(name) > _LONGEST_NAME:
            key = f"{name[:_LONGEST_NAME]}…"
            cut.append(f"attribute {key[:_SHORTEST_PART]}…: its name has {len(name):,} characters")
        room = left // (len(sized) - number) - len(key.encode()) - 8
        where = "attribute" if at == _OWN else f"event {at}: attribute"
        if size > room < _SHORTEST_PART:
            cut.append(f"{where} {key}: {size:,} bytes, left out")
            lost += 1
            continue
        if size > room:
            kept = _part(kept, size, room)
            cut.append(f"{where} {key}: {size:,} bytes, the first {_size(kept):,} are kept")
        left -= _size(kept) + len(key.encode()) + 8
        found[at, key] = kept
    if lost:
        found[_OWN, "memtrace.cut"] = f"{lost:,} attributes are left out"
    # In the sender's order, as far as it goes.
    return {place: found[place] for place in entries if place in found} | found


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))


def _part(value: Any, size: int, most: int) -> str:
    """The beginning of a value as text, with the whole value's size; at most ``most`` bytes in JSON."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    end = f"… ({size:,} bytes)"
    return beginning(text, most - _size(end)) + end


def beginning(text: str, most: int) -> str:
    """The beginning of a text, at most ``most`` bytes in JSON."""
    part = text.encode()[:most].decode("utf-8", "ignore")
    while (now := _size(part)) > most:  # escapes in JSON
        part = part[: min(len(part) - 1, len(part) * most // now)]
    return part
