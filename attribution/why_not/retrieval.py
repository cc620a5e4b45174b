"""The candidates and the results of a question's searches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.needed.presence import HOLDS, Presence
from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import says
from attribution.verdicts.naming import variable_label
from attribution.why_not.model import MOST, Held, Returned, shortened
from ingest.events.elements import CONSIDERED, RETURNED
from schema.kinds import VariableKind
from schema.models import Usage

_NOTHING_FOUND = frozenset(
    {VariableKind.QUERY, VariableKind.REFINED_QUERY, VariableKind.PROMPT, VariableKind.RESPONSE, VariableKind.ANSWER}
)
"""Kinds of variables that a search makes besides its results."""


@dataclass(frozen=True, slots=True)
class _Rating:
    rank: int
    score: float | None
    is_returned: bool


Ratings = Mapping[str, Mapping[str, _Rating]]
"""How searches ranked units: by operation, then by unit."""


def ratings(graph: TraceGraph, usages: Sequence[Usage]) -> Ratings:
    """How the searches of a trace ranked their candidates, as far as recorded."""
    rated: dict[str, list[Usage]] = defaultdict(list)
    for usage in usages:
        if usage.role in {CONSIDERED, RETURNED}:
            rated[usage.operation_id].append(usage)
    found: dict[str, dict[str, _Rating]] = {}
    for operation_id, some in rated.items():
        some.sort(key=lambda one: (one.position, one.variable_id))
        found[operation_id] = {
            graph.recorded(one.variable_id): _Rating(rank, one.score, one.role == RETURNED)
            for rank, one in enumerate(some, 1)
        }
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a question's searches, and the returned units; see ``WhyNot``."""

    held_count: int
    held: list[Held]
    considered: int | None
    returned_count: int
    returned: list[Returned]


async def searched(sources: Sequence[FailureInTrace], searches: Sequence[str], place: int, rated: Ratings) -> Found:
    """The result for the searches of a question.

    Args:
        sources: the piece, once for each message that states the piece.
        searches: the retrieval operations that served the question, in order.
        place: of the first search, or of the answering operation without searches.
        rated: how the trace's searches ranked units.
    """
    graph = sources[0].graph
    units: dict[str, Presence] = {}
    for traced in sources:
        for unit, one in (await traced.current_units(place)).items():
            if one.score >= HOLDS and (unit not in units or one.score > units[unit].score):
                units[unit] = one
    returned = [(search, one) for search in searches for one in _returned(graph, search, rated)]
    if not returned:
        way = sources[0].way(graph.past([sources[0].failure.answer_id or ""]))
        made = [(search, one) for search in searches for one in graph.made(search) if one in way]
        returned = [(search, one) for search, one in made if graph.variables[one].kind not in _NOTHING_FOUND]
    returned = [(search, one) for search, one in returned if says(graph.variables[one].preview)]
    by_unit = {graph.recorded(one): search for search, one in returned}
    by_text = {graph.variables[one].value_hash: search for search, one in returned}
    known = [rated[search] for search in searches if search in rated]
    held = [
        _held(graph, unit, one, by_unit.get(unit) or by_text.get(graph.variables[unit].value_hash), searches, rated)
        for unit, one in units.items()
    ]
    said = sources[0].detail.quote
    held.sort(
        key=lambda one: (one.rank is None, one.rank or 0, said not in one.quote, -one.confidence, _sequence(graph, one))
    )
    shown = returned[:MOST]
    holders = await holding(sources, [one for _, one in shown])
    return Found(
        held_count=len(held),
        held=held[:MOST],
        considered=sum(map(len, known)) if known else None,
        returned_count=len(returned),
        returned=[_told(graph, search, one, one in holders, rated) for search, one in shown],
    )


async def holding(sources: Sequence[FailureInTrace], variable_ids: Sequence[str]) -> dict[str, Presence]:
    """The variables that hold the piece, among those that depend on a message with the piece."""
    found: dict[str, Presence] = {}
    for traced in sources:
        for variable_id, one in (await traced.holders(v for v in variable_ids if v in traced.future)).items():
            if variable_id not in found or one.score > found[variable_id].score:
                found[variable_id] = one
    return found


def _returned(graph: TraceGraph, search: str, rated: Ratings) -> list[str]:
    """The distinct units that a search returned: by rank, then in recorded order."""
    made = {graph.recorded(one): one for one in graph.made(search) if _is_unit(graph, one)}
    ranked = [unit for unit, rating in rated.get(search, {}).items() if rating.is_returned]
    return [made.get(unit, unit) for unit in dict.fromkeys([*ranked, *made])]


def _is_unit(graph: TraceGraph, variable_id: str) -> bool:
    return graph.variables[variable_id].kind is VariableKind.MEMORY_UNIT


def _sequence(graph: TraceGraph, unit: Held) -> int:
    return graph.variables[unit.variable_id].sequence


def _held(graph: TraceGraph, unit: str, one: Presence, by: str | None, searches: Sequence[str], rated: Ratings) -> Held:
    search = by or next((s for s in reversed(searches) if unit in rated.get(s, {})), None)
    rating = rated.get(search or "", {}).get(unit)
    variable = graph.variables[unit]
    return Held(
        variable_id=unit,
        external_id=variable.external_id,
        label=variable_label(variable),
        quote=shortened(one.quote.strip()),
        confidence=round(one.score, 4),
        rank=rating.rank if rating else None,
        score=rating.score if rating else None,
        returned=by is not None,
        operation_id=search,
    )


def _told(graph: TraceGraph, search: str, variable_id: str, holds: bool, rated: Ratings) -> Returned:
    unit = graph.recorded(variable_id)
    rating = rated.get(search, {}).get(unit)
    variable = graph.variables[unit]
    return Returned(
        variable_id=unit,
        external_id=variable.external_id,
        label=variable_label(variable),
        text=shortened(variable.preview),
        rank=rating.rank if rating else None,
        score=rating.score if rating else None,
        holds=holds,
        operation_id=search,
    )
