"""Two rules without understanding, which a method must beat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from attribution.benchmark.trivial import ANSWERING, WORDLESS, trivial
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure, Variable
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"test-{uuid4().hex}")


def made(trace: TraceBuilder, name: str, text: str, kind: OperationKind, *sources: Variable, **more: Any) -> Variable:
    """A variable that an operation of the same name made of sources."""
    step = trace.operation(name, kind=kind)
    trace.use(step, *sources)
    variable = trace.variable(f"of {name}", text, step, **more)
    trace.derive(variable, *sources, by=step)
    return variable


async def named(store: GraphStore, trace: TraceBuilder, failure: Failure) -> dict[str, Any]:
    await trace.write(store)
    return await trivial(await TraceGraph.load(store, trace.trace.id), failure)


def told(store: GraphStore) -> tuple[TraceBuilder, Variable, Variable]:
    trace = TraceBuilder(store.project_id)
    question = trace.variable("question", "What does Ada drink?", kind=VariableKind.QUERY)
    return trace, question, trace.variable("message", "I drink tea.", kind=VariableKind.MESSAGE)


@pytest.mark.parametrize(
    ("kind", "error_type"),
    [
        (OperationKind.EXTRACTION, ErrorType.EXTRACTION),
        (OperationKind.UPDATE, ErrorType.UPDATE),
        (OperationKind.DELETION, ErrorType.DELETION),
        (OperationKind.RETRIEVAL, ErrorType.RETRIEVAL),
        (OperationKind.GENERATION, ErrorType.RESPONSE),
        (OperationKind.OTHER, ErrorType.UPDATE),
    ],
)
async def test_the_first_operation_whose_output_lacks_all_words(
    store: GraphStore, kind: OperationKind, error_type: ErrorType
) -> None:
    trace, question, message = told(store)
    kept = made(trace, "kept", "Ada drinks tea", OperationKind.EXTRACTION, message)
    lost = made(trace, "lost", "Ada drinks something", kind, kept, question)
    made(trace, "later", "nothing", OperationKind.UPDATE, lost)
    answer = made(trace, "answer", "Water.", OperationKind.GENERATION, lost, question)
    failure = trace.failure(question, answer, gold_answers=("tea",), evidence_ids=(message.id, "0" * 32))
    found = await named(store, trace, failure)
    assert found == {ANSWERING: (ErrorType.RESPONSE, "answer"), WORDLESS: (error_type, "lost")}


async def test_where_all_outputs_have_a_word_the_answer_is_to_blame(store: GraphStore) -> None:
    trace, question, message = told(store)
    kept = made(trace, "kept", "Ada drinks teas", OperationKind.EXTRACTION, message)
    answer = made(trace, "answer", "No tea.", OperationKind.GENERATION, kept)
    failure = trace.failure(question, answer, gold_answers=("green tea",), evidence_ids=(message.id,))
    blamed = (ErrorType.RESPONSE, "answer")
    assert await named(store, trace, failure) == {ANSWERING: blamed, WORDLESS: blamed}
    assert await named(store, trace, replace(failure, evidence_ids=())) == {ANSWERING: blamed, WORDLESS: blamed}


@pytest.mark.parametrize(
    ("kind", "is_passed_over"),
    [(OperationKind.RETRIEVAL, True), (OperationKind.GENERATION, True), (OperationKind.UPDATE, False)],
)
async def test_searches_and_answers_of_other_questions_do_not_count(
    store: GraphStore, kind: OperationKind, is_passed_over: bool
) -> None:
    trace, question, message = told(store)
    made(trace, "elsewhere", "nothing", kind, message)
    answer = made(trace, "answer", "Water.", OperationKind.GENERATION, message)
    failure = trace.failure(question, answer, gold_answers=("tea",), evidence_ids=(message.id,))
    found = await named(store, trace, failure)
    assert found[WORDLESS][1] == ("answer" if is_passed_over else "elsewhere")


async def test_an_answer_that_no_operation_made(store: GraphStore) -> None:
    trace, question, _ = told(store)
    failure = trace.failure(question, trace.variable("answer", "Water.", kind=VariableKind.ANSWER))
    assert await named(store, trace, failure) == {}
    assert await named(store, trace, replace(failure, answer_id=None)) == {}
