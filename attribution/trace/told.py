"""Who said a message and when: what the recorder noted beside the text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import NamedTuple

import msgspec

from schema.models import NO_ATTRIBUTES, Variable

_SPEAKERS = ("speaker", "author", "sender")
_TIMES = ("time", "timestamp", "date")


class Told(NamedTuple):
    """The speaker of a message in lower case, and the day on which it was said, as an ordinal; None if unknown.

    ``is_dated`` says whether the day is the message's own. Otherwise it is the day of the recording.
    """

    speaker: str | None
    day: int | None
    is_dated: bool


def told_of(variable: Variable) -> Told:
    """What the attributes of a message tell; the day of the recording if they tell no time."""
    recorded = variable.created_at.toordinal() if variable.created_at else None
    if variable.attributes == NO_ATTRIBUTES:
        return Told(None, recorded, False)
    said = msgspec.json.decode(variable.attributes)
    speaker = next((said[key].casefold() for key in _SPEAKERS if _is_text(said.get(key))), None)
    day = next((found for key in _TIMES if (found := _day(said.get(key))) is not None), None)
    return Told(speaker, recorded if day is None else day, day is not None)


def said_on(attributes: Mapping[str, object]) -> str | None:
    """The day on which a message was said by its attributes, as ISO 8601; None if they tell none."""
    day = next((found for key in _TIMES if (found := _day(attributes.get(key))) is not None), None)
    return None if day is None else date.fromordinal(day).isoformat()


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _day(value: object) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value).toordinal()
    except ValueError:
        return None
