"""Searches that seem to have had units no longer at hand which nothing recorded took out of the memory."""

from __future__ import annotations

from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import units_at, untold, unweighed
from schema.kinds import STORED, OperationKind, VariableKind

_CHANGES = (OperationKind.UPDATE, OperationKind.DELETION)
_ASKED = (VariableKind.QUERY, VariableKind.REFINED_QUERY, VariableKind.MESSAGE)


async def passed_over(graph: TraceGraph) -> list[str]:
    """The searches, in order, that left out the unit with most words of the question.

    A verdict on such a search says that code that is not recorded may have taken the unit out of the memory before.
    """
    searches = [one for one in graph.operations.values() if one.kind is OperationKind.RETRIEVAL]
    found = []
    for search in sorted(searches, key=lambda one: one.sequence):
        asked = [one for one in graph.used(search.id) if graph.variables[one].kind in _ASKED]
        question = " ".join((await graph.texts(asked)).values())
        returned = {graph.recorded(one) for one in graph.made(search.id) if graph.variables[one].kind in STORED}
        held = [one for one in units_at(graph, search.sequence) if one not in returned]
        left = [one for one in held if not _was_decided_on(graph, one, search.sequence)]
        if question and any(
            unweighed(graph, search.id, [one]) or untold(graph, search.id, [one], question) for one in left
        ):
            found.append(search.id)
    return found


def _was_decided_on(graph: TraceGraph, unit: str, place: int) -> bool:
    """Whether a recorded update or deletion was given a unit before a place: its result may be why the unit is gone."""
    before = (graph.operations[one] for one in graph.users(unit))
    return any(one.kind in _CHANGES and one.sequence < place for one in before)
