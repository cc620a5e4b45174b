"""Replies of a model that a program keeps in a value of its own, beside a history that it cuts."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from schema.models import Operation

_KEPT = (
    "the recording has a hole: the program keeps replies of the model that is called at {place} in a value of its own; "
    "one of them has the needed fact (“{quote}”), and another was given to the model that answered; no recorded step "
    'shows what became of the first: decorate what keeps them with @memtrace.operation(kind="Update"), and say what it '
    "writes, and where, with memtrace.store_unit(text, store=..., id=...); open memtrace.trace(...) around the run"
)
_SHOWN = 60
"""The number of characters shown of a reply."""


async def kept_apart(traced: FailureInTrace, blamed: str) -> str:
    """The hole behind a history that an operation cut, if the program keeps what it needs elsewhere; else empty.

    The history is then not the memory: a reply with the needed fact had no reader but the user, and another reply of
    the same call in the code is in the prompt of the answer.
    """
    graph = traced.graph
    if not any(graph.variables[one].kind is VariableKind.BUFFER for one in graph.used(blamed)):
        return ""
    past = graph.past([traced.failure.answer_id or ""])
    given = [one for one in past if _is_reply(graph, one) and _is_in_prompt(graph, one, past)]
    places = {_maker(graph, one).location for one in given} - {None, ""}
    unread = [
        one
        for one in traced.future - past
        if _is_reply(graph, one) and _maker(graph, one).location in places and not _is_read_by_a_step(graph, one)
    ]
    holders = await traced.holders(unread)
    if not holders:
        return ""
    first = min(holders, key=graph.place)
    quote = holders[first].quote.strip()
    return _KEPT.format(place=_maker(graph, first).location, quote=quote[:_SHOWN])


def _maker(graph: TraceGraph, variable_id: str) -> Operation:
    return graph.operations[graph.variables[variable_id].operation_id or ""]


def _is_reply(graph: TraceGraph, variable_id: str) -> bool:
    variable = graph.variables[variable_id]
    is_made = variable.kind is VariableKind.RESPONSE and variable.operation_id is not None
    return is_made and _maker(graph, variable_id).kind is OperationKind.GENERATION


def _is_in_prompt(graph: TraceGraph, variable_id: str, past: AbstractSet[str]) -> bool:
    made = {made for reader in graph.users(variable_id) for made in graph.made(reader)}
    return any(graph.variables[one].kind is VariableKind.PROMPT for one in made & past)


def _is_read_by_a_step(graph: TraceGraph, variable_id: str) -> bool:
    """Whether anything was made of a reply, except the answer that is the reply itself."""
    made = [made for reader in graph.users(variable_id) for made in graph.made(reader)]
    return any(graph.variables[one].kind is not VariableKind.ANSWER for one in made)
