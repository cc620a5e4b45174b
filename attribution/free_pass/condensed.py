"""Replies that were read in place of a text: summaries and notes of a model."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind

_WRITTEN = frozenset({VariableKind.RESPONSE, VariableKind.OTHER})


def condensed(graph: TraceGraph, holder: str, past: AbstractSet[str], given: AbstractSet[str]) -> str | None:
    """The reply that was read in place of a text; None without one.

    The reply answered no turn, or the last prompt was written from the reply.

    Args:
        graph: the trace.
        holder: the text.
        past: the backward closure of the answer.
        given: what the answering operation was given.
    """
    prompts = [one for one in given if graph.variables[one].kind is VariableKind.PROMPT]
    pasted = {one.source for prompt in prompts for one in graph.parents(prompt)}
    for reader in graph.readers(holder):
        if graph.operations[reader].kind is OperationKind.GENERATION:
            way = pasted if answers(graph, reader) else past
            found = [one for one in graph.made(reader) if one in way and graph.variables[one].kind in _WRITTEN]
            if found:
                return found[0]
    return None


def answers(graph: TraceGraph, operation_id: str) -> bool:
    """Whether what an operation made became an answer as it is."""
    made = graph.made(operation_id)
    handed = [
        one.target for variable in made for one in graph.children(variable) if graph.reply(one.target).id == variable
    ]
    return any(graph.variables[one].kind is VariableKind.ANSWER for one in [*made, *handed])
