"""The numbers of a benchmark: accuracy, its uncertainty, and cost.

Accuracies of error type and operation are the paper's (arXiv 2605.28732): means over cases of "equals the label's error
type" and "equals the label's operation". An abstention is never right. All labelled cases count, also those without a
fault of the memory; ``memory_errors`` leaves these out, as the paper does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from attribution.benchmark import accuracy
from attribution.benchmark.accuracy import Accuracy, ClassScore
from attribution.benchmark.calibration import Calibration, calibrate
from attribution.benchmark.evidence import EvidenceRecall, evidence_recall
from attribution.benchmark.result import Marks, Result, order_of
from attribution.benchmark.risk import RiskCoverage, risk_coverage
from attribution.statistics.intervals import Interval, bootstrap, wilson


@dataclass(frozen=True, slots=True)
class AttributionCost:
    """Cost in the terms of MemTraceBench's own runner: means over the attributed cases."""

    average_input_tokens: float | None
    average_output_tokens: float | None
    average_minutes: float | None


@dataclass(frozen=True, slots=True)
class Abstentions:
    """The number of abstentions on labelled cases, and the accuracy on all others."""

    count: int
    rate: float | None
    answered: Accuracy


@dataclass(frozen=True, slots=True)
class Controls:
    """Right answers. A verdict that names an error of the memory or of the annotation is a false alarm."""

    cases: int
    false_alarms: int
    abstentions: int
    false_alarm_rate: float | None
    false_alarm_interval: Interval


@dataclass(frozen=True, slots=True)
class Cost:
    """The total cost of attribution, controls included, with money in the currency of the configured prices."""

    cases: int
    seconds_per_case: float | None
    median_seconds: float | None
    tokens_per_case: float | None
    calls_per_case: float | None
    cost_per_case: float | None
    total_seconds: float
    total_tokens: int
    total_cost: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """All numbers of a benchmark; the first five have the names of MemTraceBench's own runner.

    Attributes:
        intervals: 95 % bootstrap intervals of accuracies, by name. If all cases are right, an interval has no width.
        lenient: with ``accepted_error_types``, and with extraction and update errors equivalent at one operation.
        unlabelled: the number of cases without a label, which do not count elsewhere.
    """

    total_cases: int
    error_type_prediction_accuracy: float | None
    operation_identifier_prediction_accuracy: float | None
    cases_by_graph: dict[str, int]
    error_attribution_cost: AttributionCost
    joint_accuracy: float | None
    lenient: Accuracy
    memory_errors: Accuracy
    by_split: dict[str, Accuracy]
    classes: list[ClassScore]
    macro_f1: float | None
    intervals: dict[str, Interval | None]
    confusion: dict[str, dict[str, int]]
    abstentions: Abstentions
    controls: Controls
    calibration: Calibration
    risk_coverage: RiskCoverage
    evidence_recall: EvidenceRecall | None
    cost: Cost
    unlabelled: int

    def document(self) -> dict[str, Any]:
        """The numbers under their public names."""
        found = asdict(self)
        found["riskCoverage"] = found.pop("risk_coverage")
        return found


def measure(results: Sequence[Result], controls: Sequence[Result], splits: Mapping[str, str]) -> Metrics:
    """All numbers of some results, in any order.

    Args:
        results: of annotated failures; results without a label are left out of the metrics.
        controls: of right answers.
        splits: the part of the data set of each file, by the file's path.
    """
    results, controls = sorted(results, key=order_of), sorted(controls, key=order_of)
    judged = [(result, mark) for result in results if (mark := result.marks)]
    labelled, marks = [result for result, _ in judged], [mark for _, mark in judged]
    parts: dict[str, list[Marks]] = {}
    for result, mark in judged:
        parts.setdefault(splits[result.case.graph_path], []).append(mark)
    plain, intervals = accuracy.numbers(marks), bootstrap(marks, accuracy.numbers)
    return Metrics(
        total_cases=len(marks),
        error_type_prediction_accuracy=plain["error_type_prediction_accuracy"],
        operation_identifier_prediction_accuracy=plain["operation_identifier_prediction_accuracy"],
        cases_by_graph=dict(sorted(Counter(result.case.graph_path for result in labelled).items())),
        error_attribution_cost=_attribution_cost(results),
        joint_accuracy=plain["joint_accuracy"],
        lenient=accuracy.lenient(marks),
        memory_errors=accuracy.memory_errors(marks),
        by_split={split: accuracy.strict(part) for split, part in sorted(parts.items())},
        classes=accuracy.class_scores(marks, intervals),
        macro_f1=plain["macro_f1"],
        intervals={name: interval for name, interval in intervals.items() if "." not in name},
        confusion=accuracy.confusion(marks),
        abstentions=_abstentions(marks),
        controls=_controls(controls),
        calibration=calibrate(labelled),
        risk_coverage=risk_coverage(labelled),
        evidence_recall=evidence_recall(results),
        cost=_cost([*results, *controls]),
        unlabelled=len(results) - len(marks),
    )


def _abstentions(marks: Sequence[Marks]) -> Abstentions:
    answered = [one for one in marks if one.found is not None]
    count = len(marks) - len(answered)
    return Abstentions(count, count / len(marks) if marks else None, accuracy.strict(answered))


def _controls(controls: Sequence[Result]) -> Controls:
    alarms = sum(result.is_false_alarm for result in controls)
    return Controls(
        cases=len(controls),
        false_alarms=alarms,
        abstentions=sum(result.is_abstention for result in controls),
        false_alarm_rate=alarms / len(controls) if controls else None,
        false_alarm_interval=wilson(alarms, len(controls)),
    )


def _attribution_cost(results: Sequence[Result]) -> AttributionCost:
    count = len(results)
    if not count:
        return AttributionCost(None, None, None)
    return AttributionCost(
        sum(result.verdict.usage.input_tokens for result in results) / count,
        sum(result.verdict.usage.output_tokens for result in results) / count,
        sum(result.verdict.seconds for result in results) / count / 60,
    )


def _cost(results: Sequence[Result]) -> Cost:
    count = len(results)
    usages = [result.verdict.usage for result in results]
    seconds = [result.verdict.seconds for result in results]
    tokens = sum(usage.input_tokens + usage.output_tokens for usage in usages)
    calls, money = sum(usage.calls for usage in usages), sum(usage.cost for usage in usages)
    return Cost(
        cases=count,
        seconds_per_case=sum(seconds) / count if count else None,
        median_seconds=median(seconds) if seconds else None,
        tokens_per_case=tokens / count if count else None,
        calls_per_case=calls / count if count else None,
        cost_per_case=money / count if count else None,
        total_seconds=sum(seconds),
        total_tokens=tokens,
        total_cost=money,
    )
