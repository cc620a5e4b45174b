"""Finds where a piece was in the texts that an answer was made from."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.verdicts.naming import variable_label
from attribution.why_not.model import MOST, Stood, shortened
from attribution.why_not.retrieval import holding
from schema.kinds import STORED, TELLS_GOLD, VariableKind

_AROUND = 80
"""The number of characters quoted before and after the piece."""
_NOT_READ = TELLS_GOLD | {VariableKind.QUERY}


async def context(sources: Sequence[FailureInTrace], past: AbstractSet[str]) -> list[Stood]:
    """Where the piece was in the inputs of the answering operation; empty if the inputs lack it.

    Args:
        sources: the piece, once for each message that states the piece.
        past: the backward closure of the answer.
    """
    graph = sources[0].graph
    answer = sources[0].failure.answer_id or ""
    read = [d.source for d in graph.parents(answer) if graph.variables[d.source].kind not in _NOT_READ]
    units = sources[0].read_units(past)
    # A context consists of units: if no unit has the piece, it is in the context only by coincidence of words.
    if units and not await holding(sources, units):
        return []
    return await stood(sources, read)


async def left_out(sources: Sequence[FailureInTrace], operation_id: str) -> list[Stood]:
    """Where the piece was in the inputs of an operation that dropped it on the way to the answer."""
    graph = sources[0].graph
    used = [v for v in graph.used(operation_id) if graph.variables[v].kind not in _NOT_READ]
    units = [v for v in used if graph.variables[v].kind in STORED]
    return await stood(sources, units or used)


async def stood(sources: Sequence[FailureInTrace], variable_ids: Sequence[str]) -> list[Stood]:
    """Where the piece is in some variables, in their order."""
    graph = sources[0].graph
    holders = await holding(sources, list(dict.fromkeys(variable_ids)))
    texts = await graph.texts(holders)
    found: list[Stood] = []
    for variable_id in dict.fromkeys(variable_ids):
        if variable_id not in holders:
            continue
        text, quote = texts[variable_id], holders[variable_id].quote.strip()
        offset = text.find(quote)
        variable = graph.variables[variable_id]
        end = offset + len(quote)
        found.append(
            Stood(
                variable_id=variable_id,
                kind=variable.kind,
                label=variable_label(variable),
                characters=len(text),
                offset=offset,
                quote=shortened(quote),
                before=text[max(0, offset - _AROUND) : offset],
                after=text[end : end + _AROUND],
            )
        )
    return found[:MOST]
