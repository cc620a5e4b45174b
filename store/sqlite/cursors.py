"""Cursors of pages in a SQLite file."""

from __future__ import annotations

import re

from schema.errors import InputError
from schema.ids import ID_LENGTH

_FIRST_ID = "0" * ID_LENGTH


def number_cursor(cursor: str) -> tuple[int, int]:
    """A cursor of two numbers: sequence and key."""
    found = re.fullmatch(r"(\d{1,18}):(\d{1,18})", cursor)
    if not found:
        raise _bad_cursor(cursor)
    return int(found[1]), int(found[2])


def id_cursor(cursor: str | None, start: str) -> tuple[str, str]:
    """A cursor of a place, written like ``start``, and an id."""
    if cursor is None:
        return start, _FIRST_ID
    place = "[0-9a-f]{32}" if start == _FIRST_ID else r"-?\d{1,18}"
    found = re.fullmatch(f"({place}):([0-9a-f]{{32}})", cursor)
    if not found:
        raise _bad_cursor(cursor)
    return found[1], found[2]


def _bad_cursor(cursor: str) -> InputError:
    return InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")
