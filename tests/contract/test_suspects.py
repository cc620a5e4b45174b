"""Operations that may be at fault, found in the graph alone, on both engines."""

from __future__ import annotations

import pytest

from attribution.review.suspects import suspects
from schema.kinds import OperationKind, VariableKind
from schema.models import Usage
from store.contract.protocol import GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine


async def test_who_read_the_evidence_and_made_nothing_of_it_may_be_at_fault(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project, "dropped")
    message = trace.variable("message", kind=VariableKind.MESSAGE)
    other = trace.variable("other", kind=VariableKind.MESSAGE)
    extract = trace.operation("extract", kind=OperationKind.EXTRACTION)
    reply = trace.variable("reply", by=extract, kind=VariableKind.RESPONSE)
    unread = trace.operation("unread", kind=OperationKind.EXTRACTION)
    parse = trace.operation("parse", kind=OperationKind.UPDATE)
    judge = trace.operation("judge", kind=OperationKind.JUDGE)
    dropped = trace.operation("drop", kind=OperationKind.EXTRACTION)
    generate = trace.operation("generate", kind=OperationKind.GENERATION)
    question = trace.variable("question", kind=VariableKind.QUERY)
    answer = trace.variable("answer", by=generate, kind=VariableKind.ANSWER)
    later = trace.operation("later", kind=OperationKind.RETRIEVAL)
    trace.derive(answer, question, by=generate)
    trace.derive(reply, message, by=extract)
    trace.usages += [
        Usage(one.id, used.id, None, 0)
        for one, used in ((unread, other), (parse, reply), (judge, message), (dropped, message), (later, message))
    ]
    failure = trace.failure(question, answer, evidence_ids=(message.id,))
    await trace.write(store)
    found = (await suspects(store, [failure]))[failure.id]
    assert [one.external_id for one in found] == ["extract", "parse", "drop", "generate"]
