"""Finds, for each piece, what the memory had and did not choose. Computed on request, not stored."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from attribution.free_pass.ending import Ending, hole_of, weakness_of
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.flow import FlowPass
from attribution.free_pass.sureness import sureness
from attribution.trace.graph import TraceGraph
from attribution.verdicts.naming import operation_label, variable_label
from attribution.verdicts.stored import word_on
from attribution.verdicts.verdict import Method
from attribution.why_not.change import change, extraction
from attribution.why_not.context import context, left_out
from attribution.why_not.model import Change, Extraction, Stood, WhyNot
from attribution.why_not.retrieval import Ratings, ratings, searched
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import NO_ATTRIBUTES, Attribution, Failure
from store.contract.protocol import GraphStore

_EXTRACTS = frozenset({OperationKind.EXTRACTION, OperationKind.INITIALIZATION, OperationKind.SEGMENTATION})
_FOR_A_MODEL = frozenset({VariableKind.PROMPT, VariableKind.CONTEXT})
_CHANGES = frozenset({OperationKind.UPDATE, OperationKind.DELETION, OperationKind.TOOL, OperationKind.OTHER})


async def why_not(
    store: GraphStore, failures: Sequence[Failure], most_bytes: int | None = None
) -> dict[str, list[WhyNot]]:
    """What the memory had and did not choose, for each piece of several failures, by the failure's id.

    A failure has no pieces if nothing was needed, such as after a refusal as gold answer, or if the pieces can't be
    followed: `memtrace attribute` says why. Each trace is read once.

    Args:
        store: of a project.
        failures: of the project.
        most_bytes: failures of traces with more text to search are left out; None means no limit.
    """
    # The result would reveal the free pass's verdict, so it is empty for failures with hidden verdicts.
    withheld = await store.withheld([one.id for one in failures])
    failures = [one for one in failures if one.id not in withheld]
    verdicts = word_on(await store.attributions([one.id for one in failures]), failures)
    by_trace: dict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        by_trace[failure.trace_id].append(failure)
    found: dict[str, list[WhyNot]] = {id_: [] for id_ in withheld}
    for trace_id, some in by_trace.items():
        reader = await _Reader.load(store, trace_id)
        if most_bytes is not None and reader.bytes_searched > most_bytes:
            continue
        for failure in some:
            found[failure.id] = await reader.pieces(failure, verdicts.get(failure.id))
    return found


class _Reader:
    """The failures of one trace."""

    def __init__(self, graph: TraceGraph, rated: Ratings) -> None:
        self._graph = graph
        self._rated = rated
        self._flow = FlowPass()

    @classmethod
    async def load(cls, store: GraphStore, trace_id: str) -> _Reader:
        graph = await TraceGraph.load(store, trace_id)
        return cls(graph, ratings(graph, await store.usages(trace_id)))

    @property
    def bytes_searched(self) -> int:
        """An upper bound of the text to search sentence by sentence: all messages, and the largest other values."""
        sizes: dict[bool, list[int]] = {True: [], False: [0]}
        for variable in self._graph.variables.values():
            sizes[variable.kind is VariableKind.MESSAGE].append(variable.size)
        return sum(sizes[True]) + max(sizes[False])

    async def pieces(self, failure: Failure, verdict: Attribution | None) -> list[WhyNot]:
        """The result for each piece; ``verdict`` may name further operations to look at."""
        # Data sets keep labels in the attributes of failures.
        seen = replace(failure, attributes=NO_ATTRIBUTES)
        found = []
        for endings in await self._flow.endings(self._graph, seen):
            hole = await hole_of(self._graph, failure, endings[:1]) or endings[0].hole
            found.append(await self._piece(endings, verdict, hole))
            await asyncio.sleep(0)  # lets a cancellation take effect
        return found

    async def _piece(self, endings: Sequence[Ending], verdict: Attribution | None, hole: str) -> WhyNot:
        graph = self._graph
        sources = [one.traced for one in endings if one.traced is not None]
        traced, found = sources[0], endings[0].chosen
        chosen = None if hole else found
        past = graph.past([traced.failure.answer_id or ""])
        searches = traced.searches(past)
        answering = graph.variables[traced.failure.answer_id or ""].operation_id or ""
        place = graph.operations[searches[0] if searches else answering].sequence
        lost = [] if found is None else [(found.error_type, found.operation_id)]
        weak = "" if chosen is None else weakness_of(graph, traced.failure, chosen)
        told = await searched(sources, searches, place, self._rated)
        blamed = graph.operations.get((chosen.operation_id if chosen else None) or "")
        message = graph.variables[traced.detail.message_id]
        extractions, changes = await self._operations(sources, [*lost, *_said(verdict)])
        return WhyNot(
            piece=traced.detail.quote,
            message_id=message.id,
            message_external_id=message.external_id,
            message_label=variable_label(message),
            said_after=all(graph.operations[one].sequence >= place for one in graph.users(message.id)),
            error_type=chosen.error_type if chosen else None,
            operation_id=blamed.id if blamed else None,
            operation_external_id=blamed.external_id if blamed else None,
            operation=operation_label(blamed) if blamed else None,
            reason=(f"{chosen.reason}; but {weak}" if weak else chosen.reason) if chosen else hole or None,
            confidence=0.0 if hole else sureness(endings[0], 1.0, has_gap=bool(weak), is_doubted=False)[1],
            held_count=told.held_count,
            held=told.held,
            considered=told.considered,
            # If no unit held the piece, the returned units did not displace one.
            returned_count=told.returned_count if told.held_count else 0,
            returned=told.returned if told.held_count else [],
            extractions=extractions,
            changes=changes,
            context=await self._context(sources, past, lost),
        )

    async def _context(
        self,
        sources: Sequence[FailureInTrace],
        past: AbstractSet[str],
        lost: Iterable[tuple[ErrorType, str | None]],
    ) -> list[Stood]:
        found = await context(sources, past)
        for error_type, operation_id in lost:
            if not found and error_type is ErrorType.RESPONSE and operation_id is not None:
                found = await left_out(sources, operation_id)
        return found

    async def _operations(
        self, sources: Sequence[FailureInTrace], named: Iterable[tuple[ErrorType | None, str | None]]
    ) -> tuple[list[Extraction], list[Change]]:
        """The results for each operation that may have lost a piece."""
        extractions: list[Extraction] = []
        changes: list[Change] = []
        messages = await self._flow.messages(self._graph)
        for operation_id, error_type in {id_: kind for kind, id_ in named if id_ is not None}.items():
            operation = self._graph.operations.get(operation_id)
            if operation is None or not self._had(sources, operation_id):
                continue
            if error_type is ErrorType.EXTRACTION or operation.kind in _EXTRACTS:
                extractions.append(await extraction(sources, messages, operation_id))
            if operation.kind in _CHANGES and not self._only_asks(operation_id):
                changes.append(await change(sources, operation_id))
        return extractions, changes

    def _only_asks(self, operation_id: str) -> bool:
        """Whether an operation made nothing but prompts and contexts: then it changed no memory."""
        made = [self._graph.variables[one].kind for one in self._graph.made(operation_id)]
        return bool(made) and all(kind in _FOR_A_MODEL for kind in made)

    def _had(self, sources: Sequence[FailureInTrace], operation_id: str) -> bool:
        """Whether an operation used or made anything derived from the piece's messages."""
        graph = self._graph
        at_hand = {*graph.used(operation_id), *graph.made(operation_id)}
        return any(
            not at_hand.isdisjoint(traced.future) or any(graph.invalidated_by(v) == operation_id for v in traced.future)
            for traced in sources
        )


def _said(verdict: Attribution | None) -> list[tuple[ErrorType | None, str | None]]:
    """The operation that a person or a model blames; the free pass's own result is computed anew for each piece."""
    if verdict is None or verdict.method == Method.FLOW:
        return []
    return [(verdict.error_type, verdict.operation_id)]
