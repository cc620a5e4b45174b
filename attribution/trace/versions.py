"""What each version of a unit dropped from the version before.

A buffer with a version for each message is a thousand large values that hardly differ. The values are read once, one
after the other, and only the dropped texts are kept.
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
"""About the number of bytes of values in memory at a time."""
_AROUND = 2_000
"""The number of characters around a dropped text in which its neighbouring sentences are searched."""
_MOST_KEPT = 2_000_000
"""The maximal number of characters kept for all versions of a unit; larger results are None."""
_EDGE = 200
"""The number of characters by which the beginning or end of a text is found in another text."""


async def compared(store: GraphStore, versions: Sequence[Variable]) -> list[str | None]:
    """The text that the next version dropped from each version, with the text around; empty if nothing was dropped.

    Args:
        store: has the values.
        versions: of one unit, oldest first.

    Returns:
        A text for each version but the last; None for a text that is too long to keep.

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
    """The part of ``before`` that ``after`` lacks: between common ends, or ``before`` up to the beginning of ``after``.

    If ``after`` continues, the common part ends where the end of ``before`` occurs in ``after``.
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
    """A part of a text, extended to whole sentences and two more sentences on each side."""
    pieces = cut(text)
    places = [place for place, _ in pieces]
    first = max(0, bisect_right(places, start) - 3)
    last = min(len(pieces), bisect_left(places, start + length) + 2)
    if first >= last:
        return text
    place, piece = pieces[last - 1]
    return text[places[first] : place + len(piece)]
