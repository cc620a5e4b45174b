"""Statements of people about answers: from GraphQL's inputs to records, with references resolved."""

from __future__ import annotations

from api.graphql.inputs import FailureInput, VerdictInput
from api.graphql.resolving import id_of, ids_of
from attribution.review.people import Judgement
from ingest.events.feedback import Complaint
from ingest.events.questions import questions_of
from schema.errors import InputError
from schema.models import Failure, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore

_MOST_QUESTIONS = 5


async def complaint_of(store: GraphStore, said: FailureInput) -> Complaint:
    """A statement that an answer is wrong. References that are not whole ids are looked up in the answer's trace.

    Raises:
        NotFoundError: an element that the input names does not exist. AmbiguousError: a reference fits several
            elements. InputError: the graph does not say what was asked.
    """
    answer = None if said.answer is None else await store.resolve(said.answer, Label.VARIABLE)
    assert answer is None or isinstance(answer, Variable)
    trace_id = None if answer is None else answer.trace_id
    if said.question is not None:
        question = await id_of(store, Label.VARIABLE, said.question, trace_id)
    else:
        question = await _asked(store, answer)
    evidence = await ids_of(store, Label.VARIABLE, said.evidence, trace_id)
    gold = tuple(said.gold_answers)
    return Complaint(question, None if answer is None else answer.id, gold, tuple(evidence), said.comment)


async def _asked(store: GraphStore, answer: Variable | None) -> str:
    if answer is None:
        raise InputError("failure", "question", "name what was asked, or what was answered")
    found = (await questions_of(store, [answer]))[answer.id]
    if len(found) != 1:
        ids = ", ".join(one.id for one in found[:_MOST_QUESTIONS])
        reason = f"it may be one of {len(found):,}: {ids}" if found else "no query led to it"
        raise InputError("failure", "question", f"the graph does not say what was asked ({reason}): name it")
    return found[0].id


async def judgement_of(store: GraphStore, said: VerdictInput) -> Judgement:
    """A statement why an answer is wrong. References that are not whole ids are looked up in the failure's trace.

    Raises:
        NotFoundError: an element that the input names does not exist. AmbiguousError: a reference fits several
            elements. InputError: too many of the candidates' operations are unknown.
    """
    failure = await store.resolve(said.failure, Label.FAILURE)
    assert isinstance(failure, Failure)
    operation: str | None = said.operation
    if operation is not None and said.error_type is not None:
        operation = await id_of(store, Label.OPERATION, operation, failure.trace_id)
    named = [one.operation for one in said.also if one.operation is not None]
    found = iter(await ids_of(store, Label.OPERATION, named, failure.trace_id))
    also = [(one.error_type, None if one.operation is None else next(found)) for one in said.also]
    shown = await ids_of(store, Label.VARIABLE, [one.variable for one in said.evidence], failure.trace_id)
    evidence = tuple(zip(shown, (one.quote for one in said.evidence), strict=True))
    return Judgement(failure.id, said.error_type, operation, said.reason, said.confidence, tuple(also), evidence)
