"""What each version of a long-lived thing has that the next one left out.

A buffer that has a version for each message is a thousand large values that hardly differ. They are read once, one
after the other, and only what was left out is kept of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from attribution.text.common import common_end, common_start
from attribution.text.segments import cut
from schema.models import Variable
from store.contract.protocol import GraphStore
from store.shared.paging import by_size

_READ_BYTES = 2 << 20
"""Values that are in memory at a time, about."""
_AROUND = 2_000
"""Characters around what was left out, in which the sentences beside it are looked for: one of any length."""
_MOST_KEPT = 2_000_000
"""Characters that are kept of all versions of a thing, at most; what is more must be read again."""
_EDGE = 200
"""Characters by which the beginning of one text, or its end, is found in another one."""


async def compared(store: GraphStore, versions: Sequence[Variable]) -> list[str | None]:
    """What the next version left out of each but the last, with what is around it; empty where it has all of the text.

    Args:
        store: has the values.
        versions: of one thing, oldest first.

    Returns:
        A text for each version but the last; None where it is too much to be kept.

    Raises:
        CorruptValueError: a value is damaged or gone.
    """
    found: list[str | None] = []
    last: bytes | None = None
    kept = 0
    for some in by_size(versions, _READ_BYTES):
        values = await store.values([one for one in some if one.value is None])
        for one in some:
            data = values[one.value_hash] if one.value is None else one.value.encode()
            if last is not None:
                has_all = data.startswith(last) or last in data
                missing = "" if has_all else _missing(_text(last), _text(data))
                kept += len(missing)
                found.append(missing if kept <= _MOST_KEPT or not missing else None)
            last = data
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _missing(before: str, after: str) -> str:
    """What one text has and the other hasn't: a part of it, or its beginning where the other begins later in it.

    The other may have more at its end: what it has in common with this one ends where it has the end of this one.
    """
    start = common_start(before, after)
    edge = before[-_EDGE:]
    place = after.rfind(edge)
    end = len(before) - common_end(before[start:], after[start:] if place < 0 else after[start : place + len(edge)])
    dropped = before.find(after[:_EDGE]) if after else -1
    if dropped > 0 and after.startswith(before[dropped:]):
        start, end = 0, dropped
    return _with_neighbours(before[max(0, start - _AROUND) : end + _AROUND], min(start, _AROUND), end - start)


def _with_neighbours(text: str, start: int, length: int) -> str:
    """A part of a text with the sentences that it is in, and two on each side."""
    pieces = cut(text)
    places = [place for place, _ in pieces]
    first = max(0, bisect_right(places, start) - 3)
    last = min(len(pieces), bisect_left(places, start + length) + 2)
    if first >= last:
        return text
    place, piece = pieces[last - 1]
    return text[places[first] : place + len(piece)]
