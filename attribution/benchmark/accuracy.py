"""How often error type and operation are right, over all cases and by error type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from attribution.benchmark.result import Marks
from attribution.statistics.intervals import Interval
from schema.kinds import MEMORY_ERRORS, ErrorType

ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Shares of right verdicts; None without cases."""

    cases: int
    error_type: float | None
    operation: float | None
    joint: float | None


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Scores of one error type.

    Attributes:
        support: the number of cases with this label.
        predicted: the number of verdicts with this type.
        precision: the right share of ``predicted``; None without verdicts.
        recall: the found share of ``support``; None without cases.
        f1: the harmonic mean of precision and recall; None without support.
        operation: the share of ``support`` whose operation was found.
        intervals: 95 % bootstrap intervals of precision, recall and F1.
    """

    error_type: ErrorType
    support: int
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None
    operation: float | None
    intervals: dict[str, Interval | None]


def strict(marks: Sequence[Marks]) -> Accuracy:
    """Accuracy as the paper defines it."""
    return _accuracy(Counter(marks), _is_right)


def lenient(marks: Sequence[Marks]) -> Accuracy:
    """Accuracy that also counts accepted error types as right (see ``Result.is_type_accepted``)."""
    return _accuracy(Counter(marks), _is_accepted)


def memory_errors(marks: Sequence[Marks]) -> Accuracy:
    """Strict accuracy over cases labelled with an error of the memory, as in the paper."""
    return strict([one for one in marks if one.label in MEMORY_ERRORS])


def numbers(marks: Sequence[Marks]) -> dict[str, float | None]:
    """The numbers that get an interval, by name; an error type's numbers have its name in front."""
    counts = Counter(marks)
    plain, kind = _accuracy(counts, _is_right), _accuracy(counts, _is_accepted)
    found = {
        "error_type_prediction_accuracy": plain.error_type,
        "operation_identifier_prediction_accuracy": plain.operation,
        "joint_accuracy": plain.joint,
        "lenient_error_type_accuracy": kind.error_type,
        "lenient_joint_accuracy": kind.joint,
    }
    tallies = {error_type: _tally(counts, error_type) for error_type in ErrorType}
    scores = [f1 for tally in tallies.values() if (f1 := tally.f1) is not None]
    found["macro_f1"] = sum(scores) / len(scores) if scores else None
    for error_type, tally in tallies.items():
        found[f"{error_type}.precision"] = _ratio(tally.right, tally.predicted)
        found[f"{error_type}.recall"] = _ratio(tally.right, tally.support)
        found[f"{error_type}.f1"] = tally.f1
    return found


def class_scores(marks: Sequence[Marks], intervals: Mapping[str, Interval | None]) -> list[ClassScore]:
    """Scores of all labelled or predicted error types, in the order of ``ErrorType``.

    Args:
        marks: of the labelled cases.
        intervals: of ``numbers``, by name.
    """
    counts = Counter(marks)
    scores = []
    for kind in ErrorType:
        tally = _tally(counts, kind)
        if tally.support or tally.predicted:
            scores.append(
                ClassScore(
                    error_type=kind,
                    support=tally.support,
                    predicted=tally.predicted,
                    precision=_ratio(tally.right, tally.predicted),
                    recall=_ratio(tally.right, tally.support),
                    f1=tally.f1,
                    operation=_ratio(tally.operation, tally.support),
                    intervals={name: intervals.get(f"{kind}.{name}") for name in ("precision", "recall", "f1")},
                )
            )
    return scores


def confusion(marks: Sequence[Marks]) -> dict[str, dict[str, int]]:
    """Counts by the label's type (outer key) and the verdict's type or ``abstained`` (inner key)."""
    counts = Counter((one.label, one.found) for one in marks)
    columns: list[ErrorType | None] = [*ErrorType, None]
    return {
        kind.value: row
        for kind in ErrorType
        if (row := {column or ABSTAINED: counts[kind, column] for column in columns if counts[kind, column]})
    }


@dataclass(frozen=True, slots=True)
class _Tally:
    support: int
    predicted: int
    right: int
    operation: int

    @property
    def f1(self) -> float | None:
        return 2 * self.right / (self.support + self.predicted) if self.support else None


def _tally(counts: Mapping[Marks, int], kind: ErrorType) -> _Tally:
    support = predicted = right = operation = 0
    for one, count in counts.items():
        if one.found is kind:
            predicted += count
            right += count * (one.label is kind)
        if one.label is kind:
            support += count
            operation += count * one.operation
    return _Tally(support, predicted, right, operation)


def _is_right(one: Marks) -> bool:
    return one.found is one.label


def _is_accepted(one: Marks) -> bool:
    return one.accepted


def _accuracy(counts: Mapping[Marks, int], test: Callable[[Marks], bool]) -> Accuracy:
    total = sum(counts.values())
    return Accuracy(
        total,
        _ratio(sum(count for one, count in counts.items() if test(one)), total),
        _ratio(sum(count for one, count in counts.items() if one.operation), total),
        _ratio(sum(count for one, count in counts.items() if one.operation and test(one)), total),
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
