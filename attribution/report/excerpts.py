"""Quotes marked in their texts, for people."""

from __future__ import annotations

from collections.abc import Iterable

from attribution.report.words import cut


def marked(text: str, quotes: Iterable[str | None]) -> list[tuple[str, bool]]:
    """Parts of a text, each with whether it is one of the quotes. Quotes that the text does not contain are ignored."""
    folded = text.lower()
    spans = []
    for quote in filter(None, quotes):
        at = text.find(quote)
        if at < 0 and len(folded) == len(text):
            at = folded.find(quote.lower())
        if at >= 0:
            spans.append((at, at + len(quote)))
    parts: list[tuple[str, bool]] = []
    end = 0
    for start, stop in sorted(spans):
        if start > end:
            parts.append((text[end:start], False))
        if stop > end:
            parts.append((text[max(start, end) : stop], True))
            end = stop
    if end < len(text):
        parts.append((text[end:], False))
    return parts


def quoted(preview: str, quote: str | None, width: int = 280) -> list[tuple[str, bool]]:
    """A quote within the preview of a value; the quote alone if it stands after the preview."""
    if not quote:
        return [(cut(preview, width), False)] if preview else []
    parts = marked(preview, [quote])
    if not any(is_quote for _, is_quote in parts):
        return [("… ", False), (cut(quote, 2 * width), True), (" …", False)]
    shown: list[tuple[str, bool]] = []
    for place, (text, is_quote) in enumerate(parts):
        if is_quote:
            shown.append((text, True))
        elif place == 0:
            shown.append((text if len(text) <= width else f"… {text[-width:]}", False))
        else:
            shown.append((cut(text, width), False))
    return shown
