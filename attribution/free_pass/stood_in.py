"""What stands in for the part of a history that is cut: a summary, or the memory that a model wrote from that part."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import Loss, loss_at, written_around, written_by
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from schema.models import Operation

_BUFFER = VariableKind.BUFFER
_MODELS = frozenset({OperationKind.GENERATION, OperationKind.EXTRACTION})


async def lost_by_summary(traced: FailureInTrace, past: AbstractSet[str], cut: str) -> Loss | None:
    """The loss at the model whose summary stood in for the part of a history that an operation cut off; None if none.

    The history itself goes on whole, and each call gets a shortened copy of it beside the summary. Then the copy was
    cut because the summary should tell the rest.

    Args:
        traced: the detail, which the copy does not have.
        past: the backward closure of the answer.
        cut: the operation that cut the copy.
    """
    graph = traced.graph
    whole = [one for one in graph.used(cut) if graph.variables[one].kind is _BUFFER]
    if graph.operations[cut].kind is not OperationKind.DELETION or not any(_was_copied(graph, one) for one in whole):
        return None
    models = (one for one in graph.operations.values() if one.kind is OperationKind.GENERATION)
    return await _first_without(traced, past, models)


async def lost_by_writing(traced: FailureInTrace, past: AbstractSet[str], cut: str) -> Loss | None:
    """The loss at the model that read what an operation cut off a history, and wrote memory units without the detail.

    The answer was made from such a unit, so the units stood in for the part that was cut off. None if none did.

    Args:
        traced: the detail, which the new history does not have.
        past: the backward closure of the answer.
        cut: the operation that cut the history.
    """
    graph = traced.graph
    whole = {one for one in graph.used(cut) if graph.variables[one].kind is _BUFFER}
    if not whole:
        return None
    models = (one for one in graph.operations.values() if one.kind in _MODELS)
    writers = [one for one in models if not past.isdisjoint(_written(graph, one.id))]
    return await _first_without(traced, past, writers)


def _written(graph: TraceGraph, operation_id: str) -> list[str]:
    return [*written_by(graph, operation_id), *written_around(graph, operation_id)]


async def _first_without(
    traced: FailureInTrace, past: AbstractSet[str], operations: Iterable[Operation]
) -> Loss | None:
    """The loss at the first model that read the detail and made something in the answer's past without the detail."""
    graph, found = traced.graph, []
    for operation in operations:
        made = [one for one in graph.made(operation.id) if one in past]
        if not made or is_reply_to_user(graph, made):
            continue
        read = await traced.holders(one for one in graph.used(operation.id) if one in traced.future)
        if read and not await traced.holders(made):
            found.append((operation.sequence, operation.id, max(read, key=lambda one: read[one].score)))
    if not found:
        return None
    _, blamed, carrier = min(found)
    return loss_at(graph, blamed, carrier)


def _was_copied(graph: TraceGraph, buffer: str) -> bool:
    """Whether an earlier version of a history was cut for one call, and the history went on uncut."""
    versions, version = [buffer], graph.variables[buffer].revision_of
    while version is not None:
        versions.append(version)
        version = graph.variables[version].revision_of
    copies = (d for one in versions[1:] for d in graph.children(one) if d.target not in versions)
    return any(
        graph.variables[d.target].kind is _BUFFER
        and graph.operations[d.operation_id].kind is OperationKind.DELETION
        and graph.place(d.target) < graph.place(buffer)
        for d in copies
    )


def is_reply_to_user(graph: TraceGraph, made: list[str]) -> bool:
    """Whether what a model made went into a history, or was handed out as an answer."""
    ends = {_BUFFER, VariableKind.ANSWER}
    return any(graph.variables[one].kind in ends for one in made) or any(
        graph.variables[d.target].kind in ends for one in made for d in graph.children(one)
    )
