"""Failures in traces without messages: what the memory was made from is not recorded, but what was read for the answer.

Spans of OpenTelemetry mostly tell questions, prompts, searches and answers, and no conversation that a memory was made
from. Then the texts that were read decide: either they have the right answer, or a search did not return it.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from attribution.free_pass import proof_path as proof
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, Rarity, content
from attribution.needed.gold_agreement import agreement
from attribution.text.segments import passage
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, OperationKind, VariableKind

_READ = frozenset({VariableKind.PROMPT, VariableKind.CONTEXT, VariableKind.RETRIEVAL_RESULT, VariableKind.MEMORY_UNIT})
_ALL = 0.95
"""A text has the right answer if it has at least this share of its words."""
_SAYS = 0.5
"""An answer with this share of the right answer's words may be right: then nothing is decided here."""
_SURE, _LIKELY = 0.93, 0.5
"""Likelihoods: with the right answer in a sentence about the question, and of all other findings. It is not recorded
whether the memory ever had what a search did not return."""


async def by_what_was_read(tried: TriedFailure) -> Finding | None:
    """The finding of a failure in a trace without messages; None if the texts that were read decide nothing."""
    graph, failure, gold = tried.graph, tried.failure, tried.gold
    answer = graph.variables.get(failure.answer_id or "")
    is_usable = answer is not None and answer.operation_id is not None and failure.question_id in graph.variables
    if (
        not is_usable
        or answer is None
        or gold is None
        or not gold.weight
        or tried.is_unanswerable
        or tried.messages.ids
    ):
        return None
    if agreement(gold, failure.prediction or "", failure.gold_answers).recall >= _SAYS:
        return None
    past = graph.past([answer.id])
    texts = await graph.texts(one for one in past if graph.variables[one].kind in _READ)
    asked = content(failure.question, Rarity(())).words.keys() - gold.words.keys()
    holding = {one: _is_about(asked, gold, text) for one, text in texts.items() if agreement(gold, text).recall >= _ALL}
    if holding:
        holder = max(holding, key=lambda one: (holding[one], graph.variables[one].sequence))
        where = "" if holding[holder] else ", but in no sentence about the question"
        return Finding(
            ErrorType.RESPONSE,
            _answering(tried, holder, past),
            _SURE if holding[holder] else _LIKELY,
            f"the answer was made from a text that has the right answer{where}",
            lambda: proof.of_message(holder, texts[holder]),
            is_local=True,
        )
    way = past & graph.future([failure.question_id])
    searches = {graph.variables[one].operation_id for one in way}
    found = [one for one in searches if one and graph.operations[one].kind is OperationKind.RETRIEVAL]
    if not found or _has_units_from_outside(graph):
        return None
    last = max(found, key=lambda one: graph.operations[one].sequence)
    return Finding(
        ErrorType.RETRIEVAL,
        last,
        _LIKELY,
        "what the search returned does not have the right answer; what the memory holds is not recorded, so the memory "
        "may lack it too",
        lambda: _through(tried, last, answer.id),
        is_local=True,
    )


def _is_about(asked: AbstractSet[str], gold: Content, text: str) -> bool:
    """Whether a sentence of a text has all of the right answer, and a word of the question.

    A long prompt may have a short answer, such as a number, in a sentence about other things.
    """
    sentences = [placed.sentence for placed in passage(text)]
    return any(not asked.isdisjoint(one.stems) and agreement(gold, one.text).recall >= _ALL for one in sentences)


def _has_units_from_outside(graph: TraceGraph) -> bool:
    """Whether the trace has units of a memory that nobody recorded being written: other units may exist as well."""
    units = (one for one in graph.variables.values() if one.kind is VariableKind.MEMORY_UNIT)
    return any(one.operation_id is None for one in units)


def _through(tried: TriedFailure, search: str, answer: str) -> proof.Proof:
    """From the question to a result of the search, and on to the answer."""
    graph, question = tried.graph, tried.failure.question_id
    results = [one for one in graph.made(search) if graph.path(question, one) and graph.path(one, answer)]
    if not results:
        return proof.of_question(graph, tried.failure)
    chain = [*graph.path(question, results[0]), *graph.path(results[0], answer)]
    then = tuple((derivation.target, derivation.operation_id) for derivation in chain)
    return proof.Proof(question, question, then, quote=tried.failure.question)


def _answering(tried: TriedFailure, holder: str, past: Iterable[str]) -> str | None:
    """The last model that read a text and whose reply led to the answer; else the operation of the answer."""
    graph = tried.graph
    behind = {graph.variables[one].operation_id for one in past}
    own = graph.variables[holder].operation_id  # a span of a model has its prompt, too
    models = [one for one in [*graph.readers(holder), *([own] if own else [])] if one in behind]
    models = [one for one in models if graph.operations[one].kind is OperationKind.GENERATION]
    return max(
        models,
        key=lambda one: graph.operations[one].sequence,
        default=graph.variables[tried.failure.answer_id or ""].operation_id,
    )
