"""Searches that seem to have had units no longer at hand which nothing recorded took out of the memory."""

from __future__ import annotations

import sys

from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import attributes, units_at, untold, unweighed
from schema.kinds import STORED, OperationKind, VariableKind

_CHANGES = (OperationKind.UPDATE, OperationKind.DELETION)
_ASKED = (VariableKind.QUERY, VariableKind.REFINED_QUERY, VariableKind.MESSAGE)


async def passed_over(graph: TraceGraph) -> list[str]:
    """The searches, in order, that left out the unit with most words of the question.

    A verdict on such a search says that code that is not recorded may have taken the unit out of the memory before.
    """
    searches = [one for one in graph.operations.values() if one.kind is OperationKind.RETRIEVAL]
    # The verdicts' reasons (``unweighed``, ``untold``) are of a program's own searches only.
    searches = [one for one in searches if "store" not in attributes(one)]
    decided: dict[str, int] = {}
    found = []
    for search in sorted(searches, key=lambda one: one.sequence):
        asked = [one for one in graph.used(search.id) if graph.variables[one].kind in _ASKED]
        question = " ".join((await graph.texts(asked)).values())
        if not question:
            continue
        returned = {graph.recorded(one) for one in graph.made(search.id) if graph.variables[one].kind in STORED}
        held = [one for one in units_at(graph, search.sequence) if one not in returned]
        decided |= {one: _decided_on(graph, one) for one in held if one not in decided}
        left = [one for one in held if decided[one] >= search.sequence]
        used = {graph.recorded(one) for one in graph.used(search.id)}
        # What is true of one unit that was not weighed is true of all; the unit with most words speaks for the others.
        if unweighed(graph, search.id, [one for one in left if one not in used]) or untold(
            graph, search.id, left, question
        ):
            found.append(search.id)
    return found


def _decided_on(graph: TraceGraph, unit: str) -> int:
    """The place of the first recorded update or deletion that was given a unit: its result may be why the unit is gone.

    A place after all others if there is none.
    """
    users = (graph.operations[one] for one in graph.users(unit))
    return min((one.sequence for one in users if one.kind in _CHANGES), default=sys.maxsize)
