"""Shortens all fields of an event but its value: the platform accepts 256 KiB of them together."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

MOST_SAID_BYTES = 20_000
"""In bytes; shorter lines are not checked more closely."""

MOST_ATTRIBUTE_BYTES = 100_000
"""Of the attributes of one event as JSON, in bytes. An operation has attributes at its beginning and end."""

MOST_TEXT_BYTES = 20_000
"""Of a comment or similar text as JSON, in bytes."""

_LARGE = 4
"""An attribute larger than this fraction (1/4) of the room is replaced by its size."""

_TEXTS = ("comment", "category", "className", "location")


def shortened(event: dict[str, Any]) -> dict[str, Any]:
    """The event with all fields but its value cut to a permitted length, or replaced by their length.

    Args:
        event: in the wire format; all texts are valid Unicode.
    """
    short = dict(event)
    for name in _TEXTS:
        if name in short:
            short[name] = _cut(short[name])
    if "attributes" in short:
        short["attributes"] = _fitted(short["attributes"])
    if "gold" in short:
        short["gold"] = _first(short["gold"])
    if "error" in short:
        short["error"] = {name: _cut(text) for name, text in short["error"].items()}
    return short


def _cut(text: str) -> str:
    size = len(_json(text))
    while size > MOST_TEXT_BYTES:
        text = text[: len(text) * MOST_TEXT_BYTES // size]
        size = len(_json(text))
    return text


def _first(texts: list[str]) -> list[str]:
    """The first texts that fit into the room."""
    room, kept = MOST_ATTRIBUTE_BYTES, list[str]()
    for text in map(_cut, texts):
        room -= len(_json(text))
        if room < 0:
            break
        kept.append(text)
    return kept


def _fitted(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes that fit into the room. The size replaces a large attribute."""
    fitted: dict[str, Any] = {}
    room, left_out = MOST_ATTRIBUTE_BYTES, 0
    if len(_json(attributes)) <= room:
        return attributes
    for name, item in attributes.items():
        size = len(_json(item))
        said = item if size <= MOST_ATTRIBUTE_BYTES // _LARGE else f"<{size} bytes>"
        taken = len(_json(name)) + len(_json(said)) + 2
        if taken > room:
            left_out += 1
            continue
        room -= taken
        fitted[name] = said
    if left_out:
        fitted["<left out>"] = left_out
    return fitted


def _json(value: Any) -> bytes:
    return to_json(value)
