"""Conversations told by spans: what a user says at each turn is recorded as a question, and as no message.

An earlier turn may tell the right answer. Then either the call that answered was no longer given that turn, or a memory
was written from the turn and searched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from attribution.free_pass import proof_path as proof
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_forms import in_other_forms
from attribution.free_pass.rules import Finding
from attribution.free_pass.search_sources import REPLIES, TURNS, source_of, sources_returned
from attribution.needed.content import Content, Rarity, content
from attribution.needed.gold_agreement import agreement
from attribution.text.said import said
from attribution.text.segments import passage
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, OperationKind, VariableKind

TOLD = 0.95
"""An earlier turn tells the right answer if it has at least this share of its words."""
_LEFT_OUT, _WRITTEN, _GIVEN, _UNSEEN = 0.9, 0.85, 0.7, 0.6
_SHOWN = 100
_SHORTEST = 8
"""The minimal number of characters of a search result by which a memory's write is recognised."""


async def told_earlier(tried: TriedFailure, gold: Content) -> str | None:
    """The newest earlier question of the trace that tells the right answer; None if there is none."""
    return await _told(tried, lambda text: agreement(gold, text).recall >= TOLD)


async def _told(tried: TriedFailure, tells: Callable[[str], bool]) -> str | None:
    """The newest earlier question of the trace with a text of which ``tells`` is true."""
    graph, asked = tried.graph, tried.graph.variables[tried.failure.question_id]
    earlier = [
        one.id
        for one in graph.variables.values()
        if one.kind is VariableKind.QUERY and one.id != asked.id and one.sequence < asked.sequence
    ]
    texts = await graph.texts(earlier)
    telling = [one for one in earlier if tells(texts[one])]
    return max(telling, key=lambda one: graph.variables[one].sequence, default=None)


async def may_tell_earlier(tried: TriedFailure, gold: Content) -> str:
    """A quote of the newest earlier turn that has the right answer, perhaps in other forms of its words; else empty."""
    turn = await told_earlier(tried, gold)
    if turn is None:
        turn = await _told(tried, lambda text: in_other_forms(gold, text, tried.failure.question))
    return "" if turn is None else said(tried.graph.variables[turn].preview, _SHOWN)


async def share_asked(tried: TriedFailure, turn: str) -> float:
    """The share of the question's words that a turn has."""
    asked = content(tried.failure.question, Rarity(())).words
    stems = {stem for placed in passage(await tried.graph.text(turn)) for stem in placed.sentence.stems}
    return len(asked.keys() & stems) / len(asked) if asked else 0.0


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
    """What the turn told was given to a tool, written down by a model or only said, and the search did not return it.

    Searches of the trace return such texts.
    """
    graph = tried.graph
    after = {one: source for one in {turn, *graph.future([turn])} if (source := source_of(graph, one)) is not None}
    noted = [one for one, text in (await graph.texts(after)).items() if agreement(gold, text).recall >= TOLD]
    noted = [one for one in noted if after[one] != TURNS or one == turn]
    returned = await sources_returned(graph) if noted else frozenset()
    noted = [one for one in noted if after[one] in returned]
    if not noted:
        return None
    # A tool surely stores its argument; a reply or a turn may have been stored.
    first = min(noted, key=lambda one: (after[one] in {REPLIES, TURNS}, one == turn, graph.variables[one].sequence))
    last = max(searches, key=lambda one: graph.operations[one].sequence)
    source = after[first]
    quote = graph.variables[turn].preview
    path = (
        proof.of_message(turn, quote)
        if first == turn
        else replace(proof.of_way(graph, turn, first, quote), known={first: graph.variables[first].preview})
    )
    likelihood = _UNSEEN if source in _NOT_FOUND else _GIVEN
    tool = source.removeprefix("tool:")
    reason = _NOT_FOUND.get(source) or _GIVEN_TO.format(tool=tool)
    return Finding(ErrorType.RETRIEVAL, last, likelihood, reason, lambda: path, is_local=True)


_NOT_FOUND = {
    REPLIES: (
        "a model wrote down what the turn of the user told, and the search did not return it; the recording does not "
        "show that it was stored"
    ),
    TURNS: (
        "searches return turns of the user as they are, and this search did not return the turn with the right answer; "
        "the recording does not show that it was stored"
    ),
}
_GIVEN_TO = (
    "the tool {tool} was given what the turn of the user told, searches return what it was given at other turns, and "
    "this search did not return it"
)


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
