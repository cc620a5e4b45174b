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
