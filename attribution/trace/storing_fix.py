"""What to record where a search returns what no recorded message led to: what was stored, or what was searched."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.trace.fixes import GIVE_MEMORY, RECORD_IN_PLACE, RECORD_UNITS
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from schema.models import Operation

_KEPT = frozenset({VariableKind.BUFFER, VariableKind.MEMORY_UNIT})


def storing_fix(graph: TraceGraph, searches: Sequence[str], unseen: Sequence[Operation]) -> str:
    """What to record.

    Args:
        graph: the trace.
        searches: the searches that returned what no recorded message led to.
        unseen: updates that record no change of the memory.
    """
    search = graph.operations[searches[0]] if searches else None
    if search is None or not search.location:
        return RECORD_UNITS
    name = search.name or search.external_id
    updates = [one for one in unseen if one.kind is OperationKind.UPDATE and one.location]
    if updates:
        return RECORD_IN_PLACE.format(update=updates[0].name or updates[0].external_id, search=name)
    changed = [
        one
        for one in graph.variables.values()
        if one.kind is VariableKind.BUFFER and graph.place(one.id) < search.sequence and graph.place(one.id) >= 0
    ]
    if changed and all(graph.variables[one].kind not in _KEPT for one in graph.used(search.id)):
        return GIVE_MEMORY.format(search=name)
    return RECORD_UNITS
