"""Results made by hand."""

from __future__ import annotations

from typing import Any

from attribution.benchmark.cases import BenchCase, CaseLabel
from attribution.benchmark.result import Result
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType, Origin
from schema.models import Failure

E, U, D, R = ErrorType.EXTRACTION, ErrorType.UPDATE, ErrorType.DELETION, ErrorType.RETRIEVAL
ANNOTATION, JUDGE = ErrorType.ANNOTATION, ErrorType.JUDGE


def result(
    number: int,
    label: CaseLabel | None,
    found: ErrorType | None,
    operation: str | None,
    *,
    graph: str = "mem0/a.json",
    evidence: tuple[str, ...] = (),
    retrieved: tuple[str, ...] | None = None,
    **verdict: Any,
) -> Result:
    """A case with what is known about it, and what was found."""
    failure = Failure(
        f"failure-{number}", "p", "t", Origin.ANNOTATION, "q", None, None, (), "why?", "so", ("gold",), None
    )  # fmt: skip
    record = {"query_id": f"query-{number}@1"}
    given: dict[str, Any] = {"confidence": 0.9, "reason": "because"} | verdict
    operation_id = None if operation is None else f"id of {operation}"
    names = {} if operation is None else {f"id of {operation}": operation}
    case = BenchCase(graph, record, failure, label, evidence)
    return Result(case, Verdict(found, operation_id, **given), operation, retrieved, names)


def labelled(kind: ErrorType, operation: str | None, *accepted: ErrorType) -> CaseLabel:
    """What is known about a failure."""
    return CaseLabel(kind, operation, frozenset(accepted))
