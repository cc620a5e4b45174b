"""Parts of reasons: the day that was lost, which the story of a failure recognises, and an operation's error."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

_DAY_LOST = "what the operation made does not tell the day of the needed fact"
_SAID_ON = ", which was said on "
_LONGEST_ERROR = 120


def day_lost(day: int | None) -> str:
    """The reason of a loss of the day on which a fact was said.

    Args:
        day: the lost day (an ordinal); None if not known.
    """
    return _DAY_LOST if day is None else f"{_DAY_LOST}{_SAID_ON}{written(day)}"


def lost_day(reason: str | None) -> str:
    """The day that a reason calls lost, as written there; empty if it calls no day lost."""
    is_named = reason is not None and _DAY_LOST[1:] in reason
    return reason.partition(_SAID_ON)[2].rstrip(".") if is_named and reason else ""


def written(day: int) -> str:
    """A day (an ordinal) for people, such as ``27 January 2023``."""
    told = date.fromordinal(day)
    return f"{told.day} {told:%B %Y}"


def error_said(error: object) -> str:
    """An operation's recorded error in brackets, on one line; empty if none is recorded."""
    if not isinstance(error, Mapping):
        return ""
    said = ": ".join(str(error[name]) for name in ("type", "message") if error.get(name))
    said = " ".join(said.split())
    if not said:
        return ""
    return f" ({said if len(said) <= _LONGEST_ERROR else f'{said[: _LONGEST_ERROR - 1]}…'})"
