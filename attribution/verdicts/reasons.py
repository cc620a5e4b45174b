"""Reasons that name a day, and that the story of a failure recognises."""

from __future__ import annotations

from datetime import date

_DAY_LOST = "does not tell the day from which the needed fact counts"


def day_lost(day: int | None) -> str:
    """The reason of a loss of the day on which a fact was said.

    Args:
        day: the lost day (an ordinal); None if not known.
    """
    return f"what the operation made {_DAY_LOST}{'' if day is None else f': {written(day)}'}"


def is_day_lost(reason: str) -> bool:
    """Whether a reason says that the day was lost on which a fact was said."""
    return _DAY_LOST in reason


def written(day: int) -> str:
    """A day (an ordinal) for people, such as ``27 January 2023``."""
    told = date.fromordinal(day)
    return f"{told.day} {told:%B %Y}"
