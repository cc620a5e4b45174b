"""The results of a benchmark as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from api.cli.render import style
from api.cli.render.tables import sheet, table
from api.cli.render.text import counted, one_line
from api.cli.render.verdicts import confusion
from schema.error_type_names import error_type_name

if TYPE_CHECKING:
    from attribution.benchmark.accuracy import Accuracy
    from attribution.benchmark.labelled import Share
    from attribution.benchmark.metrics import Metrics
    from attribution.benchmark.run import Benchmark
    from attribution.statistics.intervals import Interval


def parts(found: Benchmark) -> list[RenderableType]:
    """All tables, with an empty line between two tables."""
    return [piece for part in (*_labelled(found), *_parts(found.metrics)) for piece in (part, Text())][:-1]


def _labelled(found: Benchmark) -> Iterator[RenderableType]:
    """The results against a separate file of labels."""
    scores = found.labelled
    if scores is None:
        return
    columns = ("cases", "primary", "accepted", "macro F1")
    rows: list[tuple[str, Share, float | None]] = [("the method", scores, found.metrics.macro_f1)]
    rows += [(name, one, one.macro_f1) for name, one in scores.trivial.items()]
    yield table(
        ("against labels", *columns),
        [(Text(name), *_share(share), _percent(f1)) for name, share, f1 in rows],
        numbers=columns,
    )
    parts = (
        ("by error type", scores.by_type),
        ("by kind of question", scores.by_kind),
        ("by system", scores.by_system),
        ("by trace", scores.by_trace),
    )
    for title, part in parts:
        yield table(
            (title, *columns[:-1]),
            [(Text(one_line(name, 40)), *_share(share)) for name, share in part.items()],
            numbers=columns[:-1],
        )
    intervals = scores.conversation_intervals
    yield sheet(
        (
            ("primary, by conversation", _interval(intervals["primary"]) if intervals else None),
            ("accepted, by conversation", _interval(intervals["accepted"]) if intervals else None),
            ("Cohen's kappa, error type", _number(scores.kappa.type, 2)),
            ("with operation", _number(scores.kappa.joint, 2)),
        )
    )


def _share(share: Share) -> Sequence[Text]:
    rates = ((share.primary, share.primary_interval), (share.accepted, share.accepted_interval))
    return (Text(f"{share.cases:,}"), *(Text(f"{_percent(rate)} ({_interval(interval)})") for rate, interval in rates))


def _parts(metrics: Metrics) -> Iterator[RenderableType]:
    yield _accuracies(metrics)
    if metrics.by_split:
        yield table(
            ("by part of the data set", "cases", "error type", "operation", "both"),
            [(Text(one_line(name, 40)), *_accuracy(part)) for name, part in metrics.by_split.items()],
            numbers=("cases", "error type", "operation", "both"),
        )
    if metrics.classes:
        yield _classes(metrics)
    if metrics.confusion:
        yield Text("label down, verdict across", style.DIM)
        yield confusion(metrics.confusion)
    if metrics.calibration.cases:
        yield _calibration(metrics)
    if metrics.evidence_recall:
        yield _recall(metrics)
    yield _rest(metrics)


def _accuracies(metrics: Metrics) -> RenderableType:
    intervals, operation = metrics.intervals, "operation_identifier_prediction_accuracy"
    rows = [
        ("error type", metrics.error_type_prediction_accuracy, intervals["error_type_prediction_accuracy"]),
        ("operation", metrics.operation_identifier_prediction_accuracy, intervals[operation]),
        ("both", metrics.joint_accuracy, intervals["joint_accuracy"]),
        ("error type, lenient", metrics.lenient.error_type, intervals["lenient_error_type_accuracy"]),
        ("both, lenient", metrics.lenient.joint, intervals["lenient_joint_accuracy"]),
        ("macro F1 of error types", metrics.macro_f1, intervals["macro_f1"]),
    ]
    memory = metrics.memory_errors
    return table(
        (f"accuracy in {counted(metrics.total_cases, 'case')}", "", "95 % interval", f"{memory.cases:,} memory errors"),
        [
            (Text(name), _percent(value), _interval(interval), _percent(only))
            for (name, value, interval), only in zip(
                rows, (memory.error_type, memory.operation, memory.joint, None, None, None), strict=True
            )
        ],
        numbers=("", "95 % interval", f"{memory.cases:,} memory errors"),
    )


def _accuracy(part: Accuracy) -> Sequence[Text]:
    return (Text(f"{part.cases:,}"), _percent(part.error_type), _percent(part.operation), _percent(part.joint))


def _classes(metrics: Metrics) -> RenderableType:
    columns = ("cases", "named", "precision", "recall", "F1", "95 % interval", "operation")
    return table(
        ("error type", *columns),
        [
            (
                Text(error_type_name(one.error_type)),
                Text(f"{one.support:,}"),
                Text(f"{one.predicted:,}"),
                _percent(one.precision),
                _percent(one.recall),
                _percent(one.f1),
                _interval(one.intervals["f1"]),
                _percent(one.operation),
            )
            for one in metrics.classes
        ],
        numbers=columns,
    )


def _calibration(metrics: Metrics) -> RenderableType:
    columns = ("verdicts", "mean confidence", "right")
    return table(
        ("confidence", *columns),
        [
            (
                Text(f"{one.low:.1f} to {one.high:.1f}"),
                Text(f"{one.count:,}"),
                *map(_percent, (one.confidence, one.accuracy)),
            )
            for one in metrics.calibration.bins
            if one.count
        ],
        numbers=columns,
    )


def _recall(metrics: Metrics) -> RenderableType:
    found = metrics.evidence_recall
    assert found is not None
    columns = ("of all messages", "mean of cases")
    return table(
        (f"evidence of {counted(found.cases, 'case')} found among the first", *columns),
        [(Text(f"{at.k}"), _percent(at.micro), _percent(at.macro)) for at in found.at],
        numbers=columns,
    )


def _rest(metrics: Metrics) -> RenderableType:
    controls, cost, abstentions = metrics.controls, metrics.cost, metrics.abstentions
    alarms = (
        f"{controls.false_alarms:,} of {counted(controls.cases, 'right answer')} "
        f"({_percent(controls.false_alarm_rate)}, {_interval(controls.false_alarm_interval)}), "
        f"{counted(controls.abstentions, 'abstention')}"
    )
    right = _percent(abstentions.answered.joint)
    spread = f"median {_number(cost.median_seconds, 3)}; {cost.total_seconds:,.1f} in all"
    risk = metrics.risk_coverage
    surest = "; ".join(f"{percent} %: {_percent(value)}" for percent, value in risk.accuracy.items())
    return sheet(
        (
            ("false alarms", alarms if controls.cases else "no right answers to try"),
            ("abstentions", f"{abstentions.count:,} ({_percent(abstentions.rate)}); of the others {right} are right"),
            ("without label", f"{metrics.unlabelled:,}" if metrics.unlabelled else None),
            ("right among the surest", surest if any(value is not None for value in risk.accuracy.values()) else None),
            ("area of risk by coverage", _number(risk.area, 3)),
            ("calibration error", _percent(metrics.calibration.expected_calibration_error)),
            ("seconds a case", f"{_number(cost.seconds_per_case, 3)} ({spread})"),
            ("tokens a case", f"{_number(cost.tokens_per_case, 0)} ({cost.total_tokens:,} in all)"),
            ("cost a case", f"{_number(cost.cost_per_case, 4)} ({cost.total_cost:,.2f} in all)"),
        )
    )


def _percent(value: float | None) -> Text:
    return Text("n/a" if value is None else f"{100 * value:.1f} %")


def _interval(interval: Interval | None) -> Text:
    return Text("n/a" if interval is None else f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %")


def _number(value: float | None, digits: int) -> str:
    return "n/a" if value is None else f"{value:,.{digits}f}"
