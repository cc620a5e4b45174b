"""Conversations told by spans: what a user says at each turn is recorded as a question, and as no message.

An earlier turn may tell the right answer. Then either the call that answered was no longer given that turn, or a memory
was written from the turn and searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attribution.free_pass import proof_path as proof
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content
from attribution.needed.gold_agreement import agreement
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, OperationKind, VariableKind

TOLD = 0.95
"""An earlier turn tells the right answer if it has at least this share of its words."""
_LEFT_OUT, _WRITTEN, _UNSEEN = 0.9, 0.85, 0.6
_SHORTEST = 8
"""The minimal number of characters of a search result by which a memory's write is recognised."""


async def told_earlier(tried: TriedFailure, gold: Content) -> str | None:
    """The newest earlier question of the trace that tells the right answer; None if there is none."""
    graph, asked = tried.graph, tried.graph.variables[tried.failure.question_id]
    earlier = [
        one.id
        for one in graph.variables.values()
        if one.kind is VariableKind.QUERY and one.id != asked.id and one.sequence < asked.sequence
    ]
    texts = await graph.texts(earlier)
    telling = [one for one in earlier if agreement(gold, texts[one]).recall >= TOLD]
    return max(telling, key=lambda one: graph.variables[one].sequence, default=None)


async def lost_since(tried: TriedFailure, turn: str, gold: Content, searches: Sequence[str]) -> Finding | None:
    """The finding on what an earlier turn told; None if the recording does not say what became of it.

    Args:
        tried: the failure; nothing that was read for its answer has the right answer.
        turn: of ``told_earlier``.
        gold: the content of the gold answers beyond the question.
        searches: the retrieval operations that served the question, also those that found nothing.
    """
    if not searches:
        return _left_out(tried, turn)
    return await _not_written(tried, turn, searches) or await _not_found(tried, turn, gold, searches)


def _left_out(tried: TriedFailure, turn: str) -> Finding | None:
    """The call that answered was not given the turn, which an earlier call of a model was given."""
    graph, failure = tried.graph, tried.failure
    answer = graph.reply(failure.answer_id or "")
    given = [one for one in graph.users(turn) if graph.operations[one].kind is OperationKind.GENERATION]
    if not given or answer.operation_id is None:
        return None
    reason = (
        "no longer in the prompt: an earlier call was given the turn with the right answer, and the call that answered "
        "was not; the program left it out of the history"
    )
    return Finding(
        ErrorType.DELETION, answer.operation_id, _LEFT_OUT, reason, lambda: proof.of_message(turn, ""), is_local=True
    )


async def _not_found(tried: TriedFailure, turn: str, gold: Content, searches: Sequence[str]) -> Finding | None:
    """A model wrote down what the turn told, and the search did not return it; searches return such texts."""
    graph = tried.graph
    after = [one for one in graph.future([turn]) if graph.variables[one].kind is VariableKind.RESPONSE]
    replies = {one: text for one, text in (await graph.texts(after)).items() if _is_of_model(graph, one)}
    noted = [one for one, text in replies.items() if agreement(gold, text).recall >= TOLD]
    if not noted or not await _are_found(graph):
        return None
    first = min(noted, key=lambda one: graph.variables[one].sequence)
    last = max(searches, key=lambda one: graph.operations[one].sequence)
    reason = (
        "a model wrote down what the turn of the user told, and the search did not return it; the recording does not "
        "show that it was stored"
    )
    path = replace(
        proof.of_way(graph, turn, first, graph.variables[turn].preview), known={first: graph.variables[first].preview}
    )
    return Finding(ErrorType.RETRIEVAL, last, _UNSEEN, reason, lambda: path, is_local=True)


async def _are_found(graph: TraceGraph) -> bool:
    """Whether a search of the trace returned what a model had replied: then replies are what the memory keeps."""
    searches = [one.id for one in graph.operations.values() if one.kind is OperationKind.RETRIEVAL]
    results = [made for one in searches for made in graph.made(one) if graph.variables[made].kind in _FOUND]
    found = {text.strip() for text in (await graph.texts(results)).values()}
    said = [one.id for one in graph.variables.values() if one.kind is VariableKind.RESPONSE]
    replies = (await graph.texts(one for one in said if _is_of_model(graph, one))).values()
    return any(len(one) >= _SHORTEST and any(one in text for text in replies) for one in found)


async def _not_written(tried: TriedFailure, turn: str, searches: Sequence[str]) -> Finding | None:
    """A search returned what a model had written at the turn, without what the answer needed."""
    graph = tried.graph
    results = [one for search in searches for one in graph.made(search) if graph.variables[one].kind in _FOUND]
    found = [text.strip() for text in (await graph.texts(results)).values()]
    found = [text for text in found if len(text) >= _SHORTEST]
    after = [one for one in graph.future([turn]) if graph.variables[one].kind is VariableKind.RESPONSE]
    written = {one: text for one, text in (await graph.texts(after)).items() if any(each in text for each in found)}
    replies = [one for one in written if _is_of_model(graph, one)]
    if not replies:
        return None
    first = min(replies, key=lambda one: graph.variables[one].sequence)
    blamed = graph.variables[first].operation_id
    reason = "the turn of the user tells it, and what the model wrote into the memory at this turn does not have it"
    path = proof.of_way(graph, turn, first, graph.variables[turn].preview)
    return Finding(ErrorType.EXTRACTION, blamed, _WRITTEN, reason, lambda: path, is_local=True)


_FOUND = frozenset({VariableKind.RETRIEVAL_RESULT, VariableKind.MEMORY_UNIT})


def _is_of_model(graph: TraceGraph, variable_id: str) -> bool:
    maker = graph.variables[variable_id].operation_id
    return maker is not None and graph.operations[maker].kind is OperationKind.GENERATION
