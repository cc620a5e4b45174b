"""Operations that could have lost what an answer needed, by the graph alone: no verdict has a say in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from attribution.lookup import by_id
from schema.kinds import OperationKind
from schema.models import Derivation, Failure, Operation, Variable
from store.answers import Budget, Closure, Direction
from store.protocol import GraphStore

MOST_SUSPECTS = 20
_NEAR_THE_ANSWER = 6
_BACKWARD = Budget(hops=2, nodes=500)
_FORWARD = Budget(hops=6, nodes=500)


async def suspects(store: GraphStore, failures: Sequence[Failure]) -> dict[str, list[Operation]]:
    """The operations between the evidence and the answer, by the failure's id, in the order of the trace.

    These are the last that led to the answer, and those that handled the evidence and what was made of it, the nearest
    first. Whoever judges a failure chooses from them without having seen what others say. Judges of answers are none.
    """
    backward = [[one.answer_id or one.question_id] for one in failures]
    named = {id_ for one in failures for id_ in one.evidence_ids}
    there = await by_id(store, Variable, {*named, *(id_ for ids in backward for id_ in ids)})
    behind = await store.closures([[id_ for id_ in ids if id_ in there] for ids in backward], budget=_BACKWARD)
    ahead = await store.closures(
        [[id_ for id_ in one.evidence_ids if id_ in there] for one in failures], Direction.FORWARD, _FORWARD
    )
    return {one.id: _chosen(past, future) for one, past, future in zip(failures, behind, ahead, strict=True)}


def _chosen(past: Closure, future: Closure) -> list[Operation]:
    known = {one.id: one for one in (*past.operations, *future.operations) if one.kind is not OperationKind.JUDGE}
    last = [id_ for id_ in _by_distance(past) if id_ in known][:_NEAR_THE_ANSWER]
    ids = dict.fromkeys([*last, *(id_ for id_ in _by_distance(future) if id_ in known)])
    return sorted((known[id_] for id_ in list(ids)[:MOST_SUSPECTS]), key=lambda one: (one.sequence, one.id))


def _by_distance(closure: Closure) -> Iterable[str]:
    """The operations of a closure, those that are fewest derivations from its roots first."""
    is_back = closure.direction is Direction.BACKWARD
    leading: dict[str, list[Derivation]] = defaultdict(list)
    for one in closure.derivations:
        leading[one.target if is_back else one.source].append(one)
    seen, front = set(closure.roots), list(closure.roots)
    found: dict[str, None] = {}
    while front:
        after: list[str] = []
        for one in (derivation for id_ in front for derivation in leading[id_]):
            if one.operation_id is not None:
                found.setdefault(one.operation_id)
            end = one.source if is_back else one.target
            if end not in seen:
                seen.add(end)
                after.append(end)
        front = after
    return found
