"""At which rank searches put the units that they should have returned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ingest.events.elements import CONSIDERED, RETURNED
from schema.models import Usage
from store.contract.protocol import GraphStore

MOST_ELEMENTS = 200_000
"""The most elements of a trace whose ranks are read: reading them takes time with the size of the trace."""


class _HeldStep(Protocol):
    """The part of a step that is needed here."""

    @property
    def variable_id(self) -> str: ...

    @property
    def holds(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class MissedRank:
    """How a search rated the unit that it should have returned.

    Attributes:
        returned: the number of returned units.
        rank: of the missed unit, from 1; None if it was not rated.
    """

    returned: int
    rank: int | None


@dataclass(frozen=True, slots=True)
class Missed:
    """A failure whose needed words a search did not return.

    Attributes:
        operation_id: the search.
        holders: the units that had the words.
    """

    failure_id: str
    trace_id: str
    operation_id: str
    holders: frozenset[str]


def holder(path: Sequence[_HeldStep]) -> str | None:
    """The last variable of a path with the needed words, if they are lost after it."""
    lost = (at for at in range(1, len(path)) if path[at - 1].holds and not path[at].holds)
    return next((path[at - 1].variable_id for at in lost), None)


async def missed_ranks(store: GraphStore, missed: Iterable[Missed]) -> dict[str, MissedRank]:
    """The ranks by failure, as far as the searches recorded any."""
    by_trace: dict[str, list[Missed]] = defaultdict(list)
    for one in missed:
        by_trace[one.trace_id].append(one)
    counts = await store.counts(list(by_trace))
    found: dict[str, MissedRank] = {}
    for trace_id, some in by_trace.items():
        if sum(counts[trace_id].values()) > MOST_ELEMENTS:
            continue
        rated: dict[str, list[Usage]] = {one.operation_id: [] for one in some}
        for usage in await store.usages(trace_id):
            if usage.operation_id in rated and usage.role in {CONSIDERED, RETURNED}:
                rated[usage.operation_id].append(usage)
        for one in some:
            ranked = sorted(rated[one.operation_id], key=lambda usage: usage.position)
            if ranked:
                rank = next((at for at, usage in enumerate(ranked, 1) if usage.variable_id in one.holders), None)
                found[one.failure_id] = MissedRank(sum(usage.role == RETURNED for usage in ranked), rank)
    return found
