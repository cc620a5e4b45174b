"""The verdict of a method on one case, and whether the verdict is right."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import msgspec

from attribution.benchmark.cases import BenchCase
from attribution.benchmark.labels import Named
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType

WRITES = frozenset({ErrorType.EXTRACTION, ErrorType.UPDATE})


class Marks(NamedTuple):
    """Everything that accuracy needs of a labelled case.

    Attributes:
        label: the right error type.
        found: the error type of the verdict; None for an abstention.
        operation: whether the operation is right.
        accepted: whether the error type is right or accepted.
    """

    label: ErrorType
    found: ErrorType | None
    operation: bool
    accepted: bool


@dataclass(frozen=True, slots=True)
class Result:
    """One case and a verdict.

    Attributes:
        operation: external id of the blamed operation.
        retrieved: external ids of the messages retrieved as evidence, best first; None if the evidence was given, or
            the method does not say.
        names: external ids of the variables and operations in the verdict, by id.
        trivial: the verdicts of trivial rules by name, if requested.
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
        """Whether the error type is the label's."""
        label = self.case.label
        return label is not None and self.verdict.error_type is label.error_type

    @property
    def is_operation_right(self) -> bool:
        """Whether the operation is the label's, or missing in both; False for an abstention."""
        label = self.case.label
        if label is None or self.is_abstention:
            return False
        # Labels may leave out the judge, though verdicts name the judge's operation.
        no_judge = label.operation is None and self.verdict.error_type is label.error_type is ErrorType.JUDGE
        return no_judge or self.operation == label.operation

    @property
    def is_type_accepted(self) -> bool:
        """Whether the error type is right or accepted.

        Accepted are the record's ``accepted_error_types``. Also accepted is an extraction error instead of an update
        error, or the other way round, at the label's operation: a write may both extract a fact and rewrite the memory,
        and then either type describes the loss.
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
        """Whether error type and operation are right, or form another verdict that the label accepts."""
        label, found = self.case.label, self.verdict.error_type
        if label is None or found is None:
            return False
        # Labels leave out the judge, though verdicts name the judge's operation.
        operations = {self.operation, None} if found is ErrorType.JUDGE else {self.operation}
        return self.is_right or any((found, operation) in label.also for operation in operations)

    @property
    def marks(self) -> Marks | None:
        """The marks of the case; None without a label."""
        label = self.case.label
        if label is None:
            return None
        return Marks(label.error_type, self.verdict.error_type, self.is_operation_right, self.is_type_accepted)

    @property
    def is_false_alarm(self) -> bool:
        """Whether a right answer got an error of the memory or of the annotation."""
        return self.verdict.error_type not in {None, ErrorType.JUDGE}

    def annotated_document(self) -> dict[str, Any]:
        """The result of a failure: the file's record, with further keys by MemTraceBench's runner and by us."""
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
    """A sort key that does not depend on the order of reading and attributing."""
    record = result.case.record
    return (result.case.graph_path, str(record.get("query_id")), msgspec.json.encode(record, order="sorted"))
