"""Chooses the failures of a queue, and their order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import msgspec

from attribution.verdicts.stored import by_id, every_failure
from ingest.files.smartcomment.leftover import KEY
from schema.annotation import MAX_CASES, CaseOrder
from schema.errors import InputError
from schema.models import Attribution, Failure, Trace
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import is_human

_BANDS = 10
_NOBODY = "-"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cases of a queue.

    Attributes:
        failure_ids: in order.
        ranks: of each case; cases of equal rank have no order.
    """

    failure_ids: tuple[str, ...]
    ranks: tuple[int, ...]


async def choose(
    store: GraphStore,
    ordering: CaseOrder,
    seed: str,
    count: int,
    trace_ids: Sequence[str] = (),
    failure_ids: Sequence[str] = (),
) -> Chosen:
    """Choose failures.

    Args:
        store: holds the failures.
        ordering: see ``CaseOrder``.
        seed: of the random order.
        count: the maximal number of failures.
        trace_ids: only failures of these traces; all traces if empty.
        failure_ids: only these failures; all if empty.

    Raises:
        InputError: there are no failures, or ``count`` is too high.
    """
    if not 1 <= count <= MAX_CASES:
        raise InputError("queue", "count", f"{count:,} is not from 1 to {MAX_CASES:,}")
    found = [one for trace_id in trace_ids or (None,) for one in await every_failure(store, trace_id)]
    failures = [one for one in {one.id: one for one in found}.values() if not failure_ids or one.id in failure_ids]
    if not failures:
        raise InputError("queue", "cases", "no answer was judged wrong, so there is nothing to annotate")
    failures.sort(key=lambda one: one.id)
    # The seed only has to reproduce the order.
    Random(seed).shuffle(failures)  # noqa: S311
    rank = await _RANKS[ordering](store, failures)
    ranked = sorted(failures, key=lambda one: rank[one.id])[:count]
    return Chosen(tuple(one.id for one in ranked), tuple(rank[one.id] for one in ranked))


async def _random(store: GraphStore, failures: Sequence[Failure]) -> dict[str, int]:
    return dict.fromkeys((one.id for one in failures), 0)


async def _unsure(store: GraphStore, failures: Sequence[Failure]) -> dict[str, int]:
    """By confidence in bands of a tenth; abstentions and failures without a verdict come first."""
    said = await _of_methods(store, failures)

    def band(verdicts: Mapping[str, Attribution]) -> int:
        sure = [one.confidence or 0.0 for one in verdicts.values() if one.error_type is not None]
        return int(max(sure, default=0.0) * _BANDS)

    return {one.id: band(said[one.id]) for one in failures}


async def _disagreement(store: GraphStore, failures: Sequence[Failure]) -> dict[str, int]:
    """Failures on which methods disagree come first."""
    said = await _of_methods(store, failures)
    different = {id_: {(one.error_type, one.operation_id) for one in some.values()} for id_, some in said.items()}
    return {one.id: int(len(different[one.id]) < 2) for one in failures}


async def _error_type(store: GraphStore, failures: Sequence[Failure]) -> dict[str, int]:
    """One failure of each error type, then another of each, and so on."""
    said = await _of_methods(store, failures)

    def stratum(failure: Failure) -> str:
        newest = list(said[failure.id].values())[-1:]
        return str(newest[0].error_type or _NOBODY) if newest else _NOBODY

    return _in_turns(failures, stratum)


async def _system(store: GraphStore, failures: Sequence[Failure]) -> dict[str, int]:
    """One failure of each memory system, then another of each, and so on."""
    traces = await by_id(store, Trace, (one.trace_id for one in failures))
    systems = {id_: system_of(trace) for id_, trace in traces.items()}
    return _in_turns(failures, lambda failure: systems[failure.trace_id])


def system_of(trace: Trace) -> str:
    """The recorded memory system according to the source; else the source itself."""
    kept = msgspec.json.decode(trace.attributes)
    recorded = kept.get(KEY)
    named = kept.get("system") or (recorded.get("project_id") if isinstance(recorded, dict) else None)
    return str(named or trace.source)


def _in_turns(failures: Sequence[Failure], stratum: Callable[[Failure], str]) -> dict[str, int]:
    taken: dict[str, int] = defaultdict(int)
    found = {}
    for one in failures:
        found[one.id] = taken[stratum(one)]
        taken[stratum(one)] += 1
    return found


async def _of_methods(store: GraphStore, failures: Sequence[Failure]) -> dict[str, dict[str, Attribution]]:
    """The newest verdict of each method on each failure, the oldest method first."""
    found: dict[str, dict[str, Attribution]] = {one.id: {} for one in failures}
    for verdict in await store.attributions(list(found)):
        if not is_human(verdict):
            found[verdict.failure_id].pop(verdict.method, None)
            found[verdict.failure_id][verdict.method] = verdict
    return found


_RANKS = {
    CaseOrder.RANDOM: _random,
    CaseOrder.UNSURE: _unsure,
    CaseOrder.DISAGREEMENT: _disagreement,
    CaseOrder.ERROR_TYPE: _error_type,
    CaseOrder.SYSTEM: _system,
}
