"""Cursors of sorted failures: the order, and the sorting key and id of the last failure of a page."""

from __future__ import annotations

import msgspec

from schema.errors import InputError
from schema.ids import ID_LENGTH
from store.contract.answers import FailureKey, FailureOrder

Key = int | float | str | None

_TYPES: dict[FailureKey, tuple[type, ...]] = {
    FailureKey.TIME: (int,),
    FailureKey.CONFIDENCE: (int, float),
    FailureKey.ERROR_TYPE: (str,),
    FailureKey.OPERATION: (str,),
}
_Said = tuple[str, bool, Key, str]
_MOST_MICROSECONDS = 10**18


def cursor_at(order: FailureOrder, key: Key, id_: str) -> str:
    """The cursor of the page after a failure."""
    return msgspec.json.encode((order.by.value, order.descending, key, id_)).decode()


def place_after(cursor: str | None, order: FailureOrder) -> tuple[Key, str | None]:
    """The key and the id after which a page begins; the id is None for the first page.

    Raises:
        InputError: the cursor is not from a list in this order.
    """
    if cursor is None:
        return None, None
    try:
        by, descending, key, id_ = msgspec.json.decode(cursor, type=_Said)
    except (msgspec.MsgspecError, UnicodeError):
        raise _bad(cursor) from None
    is_key = key is None or (type(key) in _TYPES[order.by] and not _is_beyond(key))
    is_id = len(id_) == ID_LENGTH and not set(id_) - set("0123456789abcdef")
    if (by, descending) != (order.by.value, order.descending) or not is_key or not is_id:
        raise _bad(cursor)
    return key, id_


def _is_beyond(key: Key) -> bool:
    """Whether a number is larger than every stored number, and possibly too large for an engine."""
    return not isinstance(key, str) and key is not None and abs(key) > _MOST_MICROSECONDS


def _bad(cursor: str) -> InputError:
    return InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list in this order")
