"""Tells dates that say when a text was written from dates that the text is about."""

from __future__ import annotations

import re

_HEAD = re.compile(r"\s*+[\[(【]\s*+$")
_HEAD_END = re.compile(r"\s*+[\])】][\s:,–-]*+[^\W\d_]")
_SAID_BY = re.compile(r"[\s,–-]*+[^\W\d_][\w'’.-]*(?:\s[^\W\d_][\w'’.-]*){0,2}:\s")
"""The name of a speaker after a date that a text begins with, as in ``3 May 2026 Ann Lee: ...``."""
_NAME_BEFORE = re.compile(r"\s*+[^\W\d_][\w'’.-]*+(?:\s[^\W\d_][\w'’.-]*+){0,2}\s*+[\[(]\s*+$")
_COLON_AFTER = re.compile(r"\s*+[\])]\s*+:\s")
"""What stands before and after the date in ``Ann Lee (3 May 2026): ...``."""
_CLOCK = re.compile(r"\s*+(?:\(\w+\)\s*+)?(?:,\s*+)?(?:at\s++)?\d?\d:\d\d", re.IGNORECASE)
_MOST_HEAD = 8
"""The largest number of characters before a date at the beginning of a text."""


def dates_text(text: str, start: int, end: int) -> bool:
    """Whether a time of day follows a date, or a text begins with the date in brackets or with date and speaker.

    The speaker may stand before the date or after it.
    """
    if _CLOCK.match(text, end) or (not text[:start].strip() and _SAID_BY.match(text, end)):
        return True
    if _NAME_BEFORE.match(text[:start]) and _COLON_AFTER.match(text, end):
        return True
    return start < _MOST_HEAD and bool(_HEAD.match(text[:start])) and bool(_HEAD_END.match(text, end))
