"""Gold answers that the texts contradict which were read for an answer, in a trace without messages."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.premises import wrong_gold
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, Rarity, content, share_found
from attribution.needed.exclusion import excludes
from attribution.needed.gold_agreement import agreement
from attribution.text.refusals import refuses
from attribution.text.segments import passage
from attribution.trace.advice import fix_for
from attribution.trace.fixes import RECORD_UNITS
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind

_WHOLLY = 0.9
_HALF = 0.5
_ALL = 0.95
"""A text has the gold answer if it has at least this share of its words."""
_MOST = 2_000
"""The most texts of a trace that are looked through."""
_FEWEST = 2
"""A sentence about the question has at least this number of its words, or excludes the gold answer."""
_IN_PART = (
    "a search result tells the given answer of what the question names in part, and {gold}: either the search found "
    "another thing than was asked for, or the gold answer is wrong"
)
_NOWHERE = "nothing that is recorded tells the gold answer"
_IN_A_TURN = (
    "an earlier turn of the user seems to tell the gold answer (“{quote}”), but what became of it in the memory is not "
    "recorded ({fix})"
)
_IN_A_TEXT = "a text that is recorded from before the answer tells the gold answer, but no turn of the user"


async def told_instead(tried: TriedFailure, gold: Content, past: AbstractSet[str]) -> Finding | None:
    """A search result that tells the given answer of all that the question names; None if none does.

    Nothing that was read has the right answer.

    Args:
        tried: the failure.
        gold: the content of the gold answers beyond the question.
        past: the backward closure of the answer.
    """
    told = await _told(tried, gold, past)
    if told is None or told[0] < 1.0 or await _is_recorded(tried, gold):
        return None
    reason = "what was read for the question tells the given answer, and nothing that is recorded tells the gold answer"
    return wrong_gold(told[1], told[2], reason)


async def _is_recorded(tried: TriedFailure, gold: Content) -> bool:
    """Whether any text from before the answer may have the gold answer; of very many texts, one may."""
    graph = tried.graph
    end = graph.place(tried.failure.answer_id or "")
    earlier = [one for one in graph.variables if graph.place(one) < end]
    if len(earlier) > _MOST:
        return True
    own = {VariableKind.GOLD_ANSWER, VariableKind.SCORE}
    texts = await graph.texts(one for one in earlier if graph.variables[one].kind not in own)
    return any(agreement(gold, text).recall >= _ALL for text in texts.values())


async def share_in_part(tried: TriedFailure, gold: Content, past: AbstractSet[str]) -> float:
    """The share of the question in a sentence of a search result that tells the given answer; 0 below one half."""
    told = await _told(tried, gold, past)
    return 0.0 if told is None else told[0]


async def in_part(tried: TriedFailure, gold: Content, turn: str) -> str:
    """Why a failure is not decided if a search result tells the given answer of what the question names in part.

    Args:
        tried: the failure.
        gold: the content of the gold answers beyond the question.
        turn: a quote of an earlier turn that seems to tell the gold answer; empty if none does.
    """
    if turn:
        told = _IN_A_TURN.format(quote=turn, fix=fix_for(tried.graph, RECORD_UNITS))
    else:
        told = _IN_A_TEXT if await _is_recorded(tried, gold) else _NOWHERE
    return _IN_PART.format(gold=told)


async def _told(tried: TriedFailure, gold: Content, past: AbstractSet[str]) -> tuple[float, str, str] | None:
    """The share of the question in a sentence that tells the given answer, the search result, and the sentence."""
    graph, failure = tried.graph, tried.failure
    said = failure.prediction or ""
    asked = content(failure.question, Rarity(())).words
    claim = content(said, Rarity(())).without(asked)
    own, missing = claim.without(gold.words), gold.without(claim.words)
    if refuses(said) or not asked or not own.weight or not missing.weight:
        return None
    least = 1 if excludes(failure, gold, claim) else _FEWEST
    found = []
    for one, text in (await graph.texts(_results(graph, past))).items():
        for placed in passage(text):
            common = asked.keys() & set(placed.sentence.stems)
            share = len(common) / len(asked)
            if len(common) >= least and share >= _HALF and share_found(claim, placed) >= _WHOLLY:
                found.append((share, one, placed.sentence.text.strip()))
    return max(found, default=None)


def _results(graph: TraceGraph, past: AbstractSet[str]) -> list[str]:
    """What searches returned that is in an answer's past, without the queries that they wrote."""
    makers = ((one, graph.operations.get(graph.variables[one].operation_id or "")) for one in past)
    made = [one for one, maker in makers if maker is not None and maker.kind is OperationKind.RETRIEVAL]
    return [one for one in made if graph.variables[one].kind not in {VariableKind.QUERY, VariableKind.REFINED_QUERY}]
