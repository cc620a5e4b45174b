"""The verdict of a method on one case, and whether it is right."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import msgspec

from attribution.benchmark.cases import BenchCase
from attribution.benchmark.labels import Named
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType

WRITES = frozenset({ErrorType.EXTRACTION, ErrorType.UPDATE})
MEMORY_ERRORS = frozenset(set(ErrorType) - {ErrorType.ANNOTATION, ErrorType.JUDGE})


class Marks(NamedTuple):
    """All that the accuracy of one labelled case needs; cases with the same marks count alike.

    Attributes:
        label: the right error type.
        found: the error type that the method named; None where it abstained.
        operation: whether the operation is right.
        accepted: whether the error type is right or as good as right.
    """

    label: ErrorType
    found: ErrorType | None
    operation: bool
    accepted: bool


@dataclass(frozen=True, slots=True)
class Result:
    """One case and its verdict.

    Attributes:
        operation: external id of the operation that the verdict blames.
        retrieved: external ids of the messages that were retrieved as evidence, best first; None where the method
            was given the evidence, or does not say what it retrieved.
        names: external ids of the variables and operations that the verdict speaks of, by id.
        trivial: what trivial rules say about the case, by name, where they were asked.
    """

    case: BenchCase
    verdict: Verdict
    operation: str | None
    retrieved: tuple[str, ...] | None
    names: dict[str, str]
    trivial: dict[str, Named] = field(default_factory=dict)

    @property
    def is_abstention(self) -> bool:
        """Whether the method named no error type."""
        return self.verdict.error_type is None

    @property
    def is_type_right(self) -> bool:
        """Whether the error type is the one that the label names."""
        label = self.case.label
        return label is not None and self.verdict.error_type is label.error_type

    @property
    def is_operation_right(self) -> bool:
        """Whether the operation is the one that the label names, or none where it names none; never if abstained."""
        label = self.case.label
        if label is None or self.is_abstention:
            return False
        # Labels may leave out the judge, where a verdict names its operation.
        no_judge = label.operation is None and self.verdict.error_type is label.error_type is ErrorType.JUDGE
        return no_judge or self.operation == label.operation

    @property
    def is_type_accepted(self) -> bool:
        """Whether the error type is right, or as good as right.

        Accepted are the record's ``accepted_error_types``; and an extraction error for an update error, or the other
            way round, at the operation that the label names. One write may both take in a fact and rewrite what is
            there; then it is a matter of wording which of the two lost the fact, but not which operation did.
        """
        label = self.case.label
        if label is None or self.is_type_right:
            return self.is_type_right
        found = self.verdict.error_type
        return found in label.accepted or (
            found in WRITES and label.error_type in WRITES and label.operation is not None and self.is_operation_right
        )

    @property
    def is_right(self) -> bool:
        """Whether error type and operation are right."""
        return self.is_type_right and self.is_operation_right

    @property
    def is_accepted(self) -> bool:
        """Whether error type and operation are right, or are those of another verdict that the label accepts."""
        label, found = self.case.label, self.verdict.error_type
        if label is None or found is None:
            return False
        # Labels leave out the judge, where a verdict names its operation.
        operations = {self.operation, None} if found is ErrorType.JUDGE else {self.operation}
        return self.is_right or any((found, operation) in label.also for operation in operations)

    @property
    def marks(self) -> Marks | None:
        """The marks by which the case counts in the metrics; None where it has no label."""
        label = self.case.label
        if label is None:
            return None
        return Marks(label.error_type, self.verdict.error_type, self.is_operation_right, self.is_type_accepted)

    @property
    def is_false_alarm(self) -> bool:
        """Whether a right answer was given an error of the memory or of the annotation."""
        return self.verdict.error_type not in {None, ErrorType.JUDGE}

    def annotated_document(self) -> dict[str, Any]:
        """The result of a failure: the file's record, with the keys of MemTraceBench's runner and ours."""
        judged = self.case.label is not None
        return {
            **self._document(),
            "is_error_type_correct": self.is_type_right if judged else None,
            "is_op_id_correct": self.is_operation_right if judged else None,
            "is_error_type_accepted": self.is_type_accepted if judged else None,
        }

    def control_document(self) -> dict[str, Any]:
        """The result of a right answer."""
        return {
            **self._document(),
            "query": self.case.failure.question,
            "prediction": self.case.failure.prediction,
            "golden_answers": list(self.case.failure.gold_answers),
            "is_false_alarm": self.is_false_alarm,
        }

    def _document(self) -> dict[str, Any]:
        verdict = self.verdict
        return {
            **self.case.record,
            "graph_path": self.case.graph_path,
            "error_attribution_result": {
                "error_type": verdict.error_type,
                "op_id": self.operation,
                "reason": verdict.reason,
            },
            "confidence": verdict.confidence,
            "evidence_path": [
                {
                    "variable_id": self.names.get(step.variable_id),
                    "op_id": self.names.get(step.operation_id or ""),
                    "link": step.link,
                    "quote": step.quote,
                    "holds": step.holds,
                }
                for step in verdict.path
            ],
            "candidates": [
                {
                    "error_type": candidate.error_type,
                    "op_id": self.names.get(candidate.operation_id or ""),
                    "confidence": candidate.confidence,
                    "reason": candidate.reason,
                }
                for candidate in verdict.candidates
            ],
            "retrieved_evidence_ids": None if self.retrieved is None else list(self.retrieved),
            "model": verdict.model,
            "usage": asdict(verdict.usage),
            "seconds": verdict.seconds,
        }


def order_of(result: Result) -> tuple[str, str, bytes]:
    """A place that does not depend on the order in which cases were read or finished."""
    record = result.case.record
    return (result.case.graph_path, str(record.get("query_id")), msgspec.json.encode(record, order="sorted"))
