"""Shortens what an event contains beside its value: the platform accepts 256 KiB of it."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

MOST_SAID_BYTES = 20_000
"""In bytes; shorter lines are not checked more closely."""

MOST_ATTRIBUTE_BYTES = 100_000
"""Of the attributes of one event as JSON, in bytes. An operation has those of its beginning, end and error."""

MOST_TEXT_BYTES = 20_000
"""Of a comment or similar text as JSON, in bytes."""

_LARGE = 4
"""An attribute that needs more than one part in so many of the room is replaced by its size."""

_TEXTS = ("comment", "category", "className", "location")


def shortened(event: dict[str, Any]) -> dict[str, Any]:
    """The event with everything beside its value cut to a permitted length, or replaced by its length.

    Args:
        event: as it would be sent; its texts are valid Unicode.
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
    """As many of the first texts as there is room for."""
    room, kept = MOST_ATTRIBUTE_BYTES, list[str]()
    for text in map(_cut, texts):
        room -= len(_json(text))
        if room < 0:
            break
        kept.append(text)
    return kept


def _fitted(attributes: dict[str, Any]) -> dict[str, Any]:
    """As many attributes as there is room for; a large one is replaced by its size."""
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
