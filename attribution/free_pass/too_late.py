"""Memories that were written only after the search for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attribution.free_pass import proof_path as proof
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.rules import Finding
from attribution.needed.presence import HOLDS
from attribution.verdicts.probabilities import likely
from schema.kinds import ErrorType, VariableKind

_SPOKEN = frozenset({VariableKind.MESSAGE, VariableKind.QUERY})


async def written_late(traced: FailureInTrace, searches: Sequence[str]) -> Finding | None:
    """A finding if the message was said before the search, and its unit was first written after the search."""
    if not searches:
        return None
    graph, search = traced.graph, traced.graph.operations[searches[-1]]
    if not any(graph.operations[one].sequence < search.sequence for one in _heard(traced)):
        return None
    first = [versions[0] for versions in traced.lineages() if versions[0] in traced.future]
    late = [one for one in first if graph.place(one) > search.sequence]
    holders = await traced.holders(late)
    if not holders:
        return None
    unit = min(holders, key=graph.place)
    writer = graph.operations[graph.variables[unit].operation_id or ""]
    times = f" at {_moment(search.started_at)}" if search.started_at else ""
    if search.started_at and writer.started_at:
        seconds = (writer.started_at - search.started_at).total_seconds()
        times += f", {seconds:.1f} s before the unit with the needed fact was written at {_moment(writer.started_at)}"
    else:
        times += ", before the unit with the needed fact was written"
    return Finding(
        ErrorType.RETRIEVAL,
        search.id,
        likely(holders[unit].score, HOLDS),
        f"the search ran too early{times}",
        lambda: proof.Proof(traced.detail.message_id, unit),
    )


def _heard(traced: FailureInTrace) -> list[str]:
    """The operations that used the message, or a question or message with the same words.

    A program may search for what its user says, and hand it to the memory only afterwards, in the background.
    """
    graph = traced.graph
    message = graph.variables[traced.detail.message_id]
    same = [one.id for one in graph.variables.values() if one.value_hash == message.value_hash and one.kind in _SPOKEN]
    return [operation_id for one in same for operation_id in graph.users(one)]


def _moment(time: datetime) -> str:
    return time.strftime("%H:%M:%S.%f")[:-5]
