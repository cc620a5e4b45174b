"""Writes down which answers were wrong and why, in the fields of a MemTraceBench annotation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .questions import Question

OpIds = Mapping[tuple[str, str], str]
"""The recorded operation of a name that handled a message or a question."""


@dataclass(frozen=True)
class Verdict:
    """A judged answer, with the recorded variables (``full_node_id``) that it is about."""

    question: Question
    score: float
    prediction: str
    query_id: str
    golden_answers_id: str
    prediction_id: str


def truth(verdicts: Sequence[Verdict], op_ids: OpIds) -> dict[str, Any]:
    """Returns the failures with their true cause, and the right answers as controls.

    Raises:
        RuntimeError: an answer is judged wrong without a known cause, or right with one.
    """
    failures, controls = [], []
    for verdict in verdicts:
        question, cause = verdict.question, verdict.question.cause
        if (cause is not None) != (verdict.score == 0.0):
            raise RuntimeError(f"{question.name} scored {verdict.score}, but questions.py says: {cause}")
        entry = {
            "query_id": verdict.query_id,
            "query": question.text,
            "golden_answers": [question.golden_answer],
            "golden_answers_id": verdict.golden_answers_id,
            "prediction": verdict.prediction,
            "prediction_id": verdict.prediction_id,
            "source_evidence_ids": [f"{name}@1" for name in question.evidence],
        }
        if cause is None:
            controls.append(entry)
        else:
            failures.append(
                entry
                | {
                    "final_error_type": cause.error_type,
                    "final_op_id": op_ids[cause.op_name, cause.at],
                    "final_op_name": cause.op_name,
                    "reason": cause.reason,
                }
            )
    return {"graph": "assistant.json", "failures": failures, "controls": controls}
