"""Operations that could have lost what an answer needed, by the graph alone, without any verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from attribution.verdicts.stored import by_id
from schema.kinds import OperationKind, VariableKind
from schema.models import Derivation, Failure, Operation, Variable
from store.contract.answers import Budget, Closure, Direction
from store.contract.protocol import GraphStore

MOST_SUSPECTS = 20
_NEAR_THE_ANSWER = 6
_CHANGES = 6
_READERS = 6
_READ_FURTHER = 50
_BACKWARD = Budget(nodes=200)
_FORWARD = Budget(nodes=500)


async def suspects(store: GraphStore, failures: Sequence[Failure]) -> dict[str, list[Operation]]:
    """The operations between the evidence and the answer, by the failure's id, in the order of the trace.

    These are the last operations before the answer, the operations that read the evidence, the operations nearest to
    the evidence that used its derivatives, and the operations that changed or ended memory units derived from it. A
    person can choose from them without seeing other verdicts. Judges are left out, and what came after the answer.
    """
    found = {}
    for one in failures:
        there = await by_id(store, Variable, [one.answer_id or one.question_id, *one.evidence_ids])
        evidence = [id_ for id_ in one.evidence_ids if id_ in there]
        (past,) = await store.closures([[id_ for id_ in there if id_ not in evidence]], budget=_BACKWARD)
        (future,) = await store.closures([evidence], Direction.FORWARD, _FORWARD)
        ids = [*_by_distance(past)][:_NEAR_THE_ANSWER]
        ids += await _readers(store, evidence)
        ids += [*await _changes(store, one.trace_id, future.variables), *_by_distance(future)]
        ids += await _readers(store, [made.id for made in future.variables[:_READ_FURTHER]])
        answer = there.get(one.answer_id or "")
        answering = None if answer is None else answer.operation_id
        known = await by_id(store, Operation, [*ids, answering])
        last = known[answering].sequence if answering in known else None
        chosen = [known[id_] for id_ in dict.fromkeys(ids) if id_ in known and _may_be_at_fault(known[id_], last)]
        found[one.id] = sorted(chosen[:MOST_SUSPECTS], key=lambda operation: (operation.sequence, operation.id))
    return found


async def _readers(store: GraphStore, variable_ids: Sequence[str]) -> list[str]:
    """The first operations that read some variables, even if they made nothing, and so lost the content for good."""
    found = await store.users_of(variable_ids, _READERS)
    return [operation.id for operations in found.values() for operation in operations]


async def _changes(store: GraphStore, trace_id: str, variables: Sequence[Variable]) -> list[str]:
    """The operations that made later versions of memory units, and those that ended the units."""
    units = {one.id: one for one in variables if one.kind is VariableKind.MEMORY_UNIT}
    if not units:
        return []
    versions = await store.versions_of(list(units))
    later = (after for id_, some in versions.items() for after in some if after.version > units[id_].version)
    ended = (one.operation_id for one in await store.invalidations(trace_id) if one.variable_id in units)
    return [*(after.operation_id for after in later if after.operation_id is not None), *ended][:_CHANGES]


def _may_be_at_fault(operation: Operation, last: int | None) -> bool:
    """Whether an operation is no judge, and no later than the operation that answered."""
    return operation.kind is not OperationKind.JUDGE and (last is None or operation.sequence <= last)


def _by_distance(closure: Closure) -> Iterable[str]:
    """The operations of a closure, sorted by their distance from the roots."""
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
