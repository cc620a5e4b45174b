"""Trivial rules, as baselines for methods."""

from __future__ import annotations

from attribution.benchmark.labels import Named
from attribution.text.segments import passage
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, OperationKind
from schema.models import Failure

ANSWERING = "always the answering operation"
WORDLESS = "the first operation without a word of the gold answer"
_BY_KIND = {
    OperationKind.EXTRACTION: ErrorType.EXTRACTION,
    OperationKind.DELETION: ErrorType.DELETION,
    OperationKind.RETRIEVAL: ErrorType.RETRIEVAL,
    OperationKind.GENERATION: ErrorType.RESPONSE,
}


async def trivial(graph: TraceGraph, failure: Failure) -> dict[str, Named]:
    """Each rule's verdict on a failure, by the rule's name; empty if no operation made the answer."""
    answer = graph.variables.get(failure.answer_id or "")
    if answer is None or answer.operation_id is None:
        return {}
    answering = ErrorType.RESPONSE, graph.operations[answer.operation_id].external_id
    return {ANSWERING: answering, WORDLESS: await _wordless(graph, failure) or answering}


async def _wordless(graph: TraceGraph, failure: Failure) -> Named | None:
    """The first operation that made something from the evidence without any word of the gold answer.

    Searches and answers of other questions don't count.
    """
    assert failure.answer_id is not None
    gold = {stem for text in failure.gold_answers for one in passage(text) for stem in one.sentence.stems}
    known = [message for message in failure.evidence_ids if message in graph.variables]
    made = graph.future(known) - set(known)
    own = graph.past([failure.answer_id])
    operations = {graph.variables[one].operation_id for one in made}
    ordered = sorted((graph.operations[one] for one in operations if one), key=lambda one: one.sequence)
    for operation in ordered:
        outputs = graph.made(operation.id)
        if operation.kind in {OperationKind.RETRIEVAL, OperationKind.GENERATION} and own.isdisjoint(outputs):
            continue
        texts = (await graph.texts(outputs)).values()
        if not any(gold.intersection(one.sentence.stems) for text in texts for one in passage(text)):
            return _BY_KIND.get(operation.kind, ErrorType.UPDATE), operation.external_id
    return None
