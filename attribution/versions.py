"""What each version of a long-lived thing kept of the one before it.

A buffer that has a version for each message is a thousand large values that hardly differ. They are read once, one
after the other, and only what the next version left out is kept of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attribution.text.common import common_end, common_start
from schema.models import Variable
from store.protocol import GraphStore

_READ_BYTES = 2 << 20
"""Values that are in memory at a time, about."""
_AROUND = 1_000
"""Characters around what was left out that are kept with it."""
_MOST_LEFT_OUT = 50_000
"""Characters that are kept of what one version left out, at most; where it is more, the version is read again."""
_BEGINNING = 200


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a version has and the next one hasn't, with what is around it; None where that is too much to be kept."""

    text: str | None


async def left_out(store: GraphStore, versions: Sequence[Variable]) -> dict[str, LeftOut]:
    """What the next version left out of each, by the id of the former; those of which all was kept are not among them.

    Args:
        store: has the values.
        versions: of one thing, oldest first.
    """
    found: dict[str, LeftOut] = {}
    last: tuple[Variable, bytes] | None = None
    for some in _parts(versions):
        values = await store.values([one for one in some if one.value is None])
        for one in some:
            data = values[one.value_hash] if one.value is None else one.value.encode()
            if last is not None and not data.startswith(last[1]) and last[1] not in data:
                found[last[0].id] = LeftOut(_missing(_text(last[1]), _text(data)))
            last = one, data
    return found


def _parts(versions: Sequence[Variable]) -> Iterator[list[Variable]]:
    part: list[Variable] = []
    size = 0
    for one in versions:
        if part and size + one.size > _READ_BYTES:
            yield part
            part, size = [], 0
        part.append(one)
        size += one.size
    if part:
        yield part


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _missing(before: str, after: str) -> str | None:
    """What one text has and the other hasn't: a part of it, or its beginning where the other begins later in it."""
    start = common_start(before, after)
    end = len(before) - common_end(before[start:], after[start:])
    dropped = before.find(after[:_BEGINNING]) if after else -1
    if dropped > 0 and after.startswith(before[dropped:]):
        start, end = 0, dropped
    if end - start > _MOST_LEFT_OUT:
        return None
    return before[max(0, start - _AROUND) : end + _AROUND]
