"""What an operation that was given units of memory returned as it was."""

from __future__ import annotations

from attribution.trace.graph import TraceGraph
from schema.kinds import STORED, OperationKind
from schema.models import Operation


def given_back(graph: TraceGraph, operation_id: str) -> set[str]:
    """The stored inputs that an operation returned unchanged; empty if the operation stored anything new."""
    made = [one for one in graph.made(operation_id) if graph.variables[one].kind in STORED]
    return set() if any(map(graph.is_recorded, made)) else {graph.recorded(one) for one in made}


def chose(graph: TraceGraph, operation_id: str) -> bool:
    """Whether an operation returned some of the units that it was given, and not the others."""
    kept = given_back(graph, operation_id)
    given = {one for one in graph.used(operation_id) if graph.variables[one].kind in STORED}
    return bool(kept) and bool({graph.recorded(one) for one in given} - kept)


def never_ending(graph: TraceGraph) -> list[Operation]:
    """Deletions with a name that never ended a unit, although they returned some of their units and left out others."""
    ending = {graph.invalidated_by(id_) for id_ in graph.variables}
    seen = {one.name for one in graph.operations.values() if one.id in ending}
    return [
        one
        for one in graph.operations.values()
        if one.kind is OperationKind.DELETION and one.name not in seen and chose(graph, one.id)
    ]


def left_out_by(graph: TraceGraph, unit: str, before: int) -> Operation | None:
    """The last update that was given a unit, stored something new, and gave back others of its units and not this one.

    A step that rewrites a whole list of units has so taken the unit out, though no end of the unit is recorded.

    Args:
        graph: the trace.
        unit: a memory unit.
        before: the operation's place is lower.
    """
    found = None
    for user in graph.users(unit):
        operation = graph.operations[user]
        if operation.kind is not OperationKind.UPDATE or operation.sequence >= before:
            continue
        made = [one for one in graph.made(user) if graph.variables[one].kind in STORED]
        kept = {graph.recorded(one) for one in made if not graph.is_recorded(one)}
        is_rewritten = bool(kept) and any(map(graph.is_recorded, made)) and graph.recorded(unit) not in kept
        if is_rewritten and (found is None or operation.sequence > found.sequence):
            found = operation
    return found
