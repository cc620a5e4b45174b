"""Which search lost a unit, and why, as far as the recording tells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.needed.presence import Presence
from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import attributes, found_nothing, largest_number, limits, units_at
from schema.kinds import VariableKind

_LISTS = frozenset({VariableKind.RETRIEVAL_RESULT, VariableKind.CONTEXT, VariableKind.MEMORY_UNIT, VariableKind.OTHER})


def not_found(graph: TraceGraph, search: str, place: int, unit: str, *, is_there: bool) -> str:
    """Why a search did not return a unit, as far as the recording tells.

    ``is_there`` is false if code that is not recorded may have taken the unit out of the memory before.
    """
    when = "was in the memory when the search ran" if is_there else "was stored before the search ran"
    reason = f"a unit with the needed fact {when}, and was not returned"
    if day := _expired(graph, unit, graph.operations[search].started_at):
        return f"{reason}: it was written to expire on {day}"
    if most := largest_number(graph, search):
        return f"{reason}: it returned {most:,}, and no search with its settings returns more"
    by = limits(graph.operations[search])
    if not found_nothing(graph, search):
        return f"{reason}; the search was limited by ({by})" if by else reason
    count = len(units_at(graph, place))
    units = f"{count:,} unit is" if count == 1 else f"{count:,} units are"
    limited = f", and was limited by ({by})" if by else ""
    return f"{reason}: the search returned nothing{limited}; {units} recorded as stored before, and not as deleted"


def _expired(graph: TraceGraph, unit: str, asked: datetime | None) -> str:
    """The day on which a unit had expired before a search; empty if it had not, or if nobody knows."""
    writer = graph.operations.get(graph.variables[unit].operation_id or "") if unit else None
    around = None if writer is None else graph.operations.get(str(attributes(writer).get("parentId")))
    said = str(attributes(around).get("expires") or "") if around is not None else ""
    try:
        return said if said and asked is not None and date.fromisoformat(said[:10]) < asked.date() else ""
    except ValueError:
        return ""


async def blamed_search(traced: FailureInTrace, searches: Sequence[str], units: dict[str, Presence]) -> str:
    """The search that lost the units.

    A reranking that was given one and passed none on; else the last search whose results still had one of the units, or
    the first search if none had.
    """
    graph, blamed = traced.graph, searches[0]
    if len(searches) == 1:
        return blamed
    found = {made for one in searches for made in graph.made(one)}
    for operation_id in searches:
        given = [one for one in graph.used(operation_id) if one in found]
        if given and await traced.holders(given) and not await traced.holders(graph.made(operation_id)):
            return operation_id
    quotes = {one.quote for one in units.values() if one.quote}
    for operation_id in searches:
        lists = await graph.texts(v for v in graph.made(operation_id) if graph.variables[v].kind in _LISTS)
        if any(quote in text for text in lists.values() for quote in quotes):
            blamed = operation_id
    return blamed


def returned_in_vain(traced: FailureInTrace, searches: Sequence[str], blamed: str, units: Collection[str]) -> str:
    """The last search that returned one of the units, although the answer was made from none; empty if none did.

    Args:
        traced: the failure with its detail.
        searches: that served the question.
        blamed: of ``blamed_search``; a reranking that was given the unit is at fault itself.
        units: with the detail.
    """
    graph = traced.graph
    found = {made: one for one in searches for made in graph.made(one)}
    if not found.keys().isdisjoint(graph.used(blamed)):
        return ""
    returned = {made: one for made, one in found.items() if graph.recorded(made) in units}
    past = graph.past([traced.failure.answer_id or ""])
    return "" if not past.isdisjoint(returned) else next(reversed(returned.values()), "")
