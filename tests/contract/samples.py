"""Traces that the tests of the store share."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from schema.kinds import DerivationKind, ErrorType, OperationKind, QuestionKind, Status, VariableKind
from tests.factory import TraceBuilder


def assistant(project: str, name: str = "assistant") -> TraceBuilder:
    """A memory of two notes: told, extracted, updated, retrieved, answered wrongly, judged; one note is deleted.

    It has each label, most kinds, an occurrence that was read, two versions, and one value beside the graph.
    """
    trace = TraceBuilder(project, name)
    trace.session("talk")
    told = trace.variable("message-1", "Mia moved to Oslo", kind=VariableKind.MESSAGE, class_name="Message")
    moved = trace.variable("message-2", "Mia moved on to Bergen", kind=VariableKind.MESSAGE, class_name="Message")
    prompt = trace.variable("prompt", "Write down what matters. " * 200, kind=VariableKind.PROMPT)
    extract = trace.operation("extract", kind=OperationKind.EXTRACTION, category="add", comment="first note")
    trace.use(extract, prompt, told, role="input")
    note = trace.variable("note", "Mia lives in Oslo", by=extract, comment="a home")
    trace.derive(note, prompt, told, by=extract)
    update = trace.operation("update", status=Status.ERROR, location="memory.py:17")
    trace.use(update, note, moved)
    note_2 = trace.variable("note-2", "Mia lives in Oslo.", by=update, name="note", version=1, revision_of=note.id)
    trace.derive(note_2, note, by=update, kind=DerivationKind.REVISION)
    trace.derive(note_2, moved, by=update)
    trace.session("questions", category="search", comment="one question")
    question = trace.variable("question", "Where does Mia live?", kind=VariableKind.QUERY)
    retrieve = trace.operation("retrieve", kind=OperationKind.RETRIEVAL)
    trace.use(retrieve, question)
    read = trace.variable(
        "note-2", "Mia lives in Oslo.", by=retrieve, name="note", version=1, occurrence=1, category="read"
    )
    trace.derive(read, note_2, by=retrieve, kind=DerivationKind.READ, external_id=None)
    trace.derive(read, question, by=retrieve)
    answer_step = trace.operation("answer", kind=OperationKind.GENERATION)
    trace.use(answer_step, read, question)
    answer = trace.variable("answer", "In Oslo", by=answer_step, kind=VariableKind.ANSWER, media_type="text/markdown")
    trace.derive(answer, read, question, by=answer_step, comment="through the context")
    gold = trace.variable("gold", "Bergen", kind=VariableKind.GOLD_ANSWER)
    delete = trace.operation("delete", kind=OperationKind.DELETION)
    trace.invalidate(delete, note, note_2)
    failure = trace.failure(
        question, answer, expected_id=gold.id, evidence_ids=(moved.id, told.id), gold_answers=("Bergen", "in Bergen")
    )
    verdict: dict[str, Any] = {
        "evidence": f'[{{"variableId":"{moved.id}","quote":"Bergen"}},{{"variableId":"{note_2.id}"}}]',
        "attributes": '{"judge":"words"}',
        "proof": json.dumps({"result": "proved", "reason": "it helps", "p1": 1.0}),
        "losses": _losses(("moved on to Bergen", update.id), ("Mia", None), ("Oslo", extract.id), ("to", update.id)),
        "question_kind": QuestionKind.SEVERAL,
    }
    trace.attribution(failure, error_type=ErrorType.UPDATE, operation_id=update.id, **verdict)
    return trace


def _losses(*ends: tuple[str, str | None]) -> str:
    """Where pieces ended: each with the operation that lost it, if one did."""
    told: list[dict[str, Any]] = [
        {
            "piece": piece,
            "errorType": "UpdateError" if operation_id else None,
            "operationId": operation_id,
            "confidence": 0.5 + number / 8,
            "reason": "so",
            "reached": operation_id is None,
            "path": [],
        }
        for number, (piece, operation_id) in enumerate(ends)
    ]
    return json.dumps(told)


def random_trace(project: str, seed: int, name: str = "random", size: int = 40) -> TraceBuilder:
    """A random acyclic trace in which sequences are shuffled against the order of writing."""
    random = Random(seed)
    trace = TraceBuilder(project, name)
    trace.session("only")
    operations = [trace.operation(f"o{number}", kind=random.choice(list(OperationKind))) for number in range(size // 3)]
    sequences = random.sample(range(size), size)
    for number in range(size):
        maker = random.choice([None, *operations])
        trace.variable(
            f"v{number}",
            random.choice(["red", "green", "blue", "much " * 500]) + str(random.randrange(8)),
            by=maker,
            name=f"name {random.randrange(size // 3)}",
            version=random.randrange(4),
            kind=random.choice(list(VariableKind)[:5]),
            sequence=sequences[number],
        )
    for target in range(1, size):
        count = random.choice([0, 1, 1, 2, 3])
        for source in random.choices(range(max(0, target - random.choice([3, size])), target), k=count):
            trace.derive(trace.variables[target], trace.variables[source], by=random.choice(operations))
    return trace
