"""The tables of a benchmark show each number in its own place."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace as Part
from typing import Any

import pytest
from rich.console import Console

from api.cli.render.benchmark import parts
from attribution.benchmark.evidence import EvidenceRecall, RecallAt
from attribution.statistics.intervals import Interval
from schema.kinds import ErrorType


def rates(first: int) -> Part:
    """An accuracy: its numbers follow each other."""
    return Part(cases=first, error_type=first / 100, operation=(first + 1) / 100, joint=(first + 2) / 100)


def between(low: int) -> Interval:
    return Interval(low / 100, (low + 1) / 100)


def metrics(**more: Any) -> Part:
    names = [
        "error_type_prediction_accuracy",
        "operation_identifier_prediction_accuracy",
        "joint_accuracy",
        "lenient_error_type_accuracy",
        "lenient_joint_accuracy",
        "macro_f1",
    ]
    found: dict[str, Any] = {
        "total_cases": 1_200,
        "error_type_prediction_accuracy": 0.01,
        "operation_identifier_prediction_accuracy": 0.02,
        "joint_accuracy": 0.03,
        "lenient": Part(error_type=0.04, joint=0.05),
        "macro_f1": 0.06,
        "memory_errors": rates(7),
        "intervals": {name: between(10 + 2 * place) for place, name in enumerate(names)},
        "by_split": {},
        "classes": [],
        "confusion": {},
        "calibration": Part(cases=0, bins=[], expected_calibration_error=0.125),
        "evidence_recall": None,
        "controls": Part(
            cases=4, false_alarms=1, false_alarm_rate=0.25, false_alarm_interval=between(30), abstentions=2
        ),
        "abstentions": Part(count=9, rate=0.35, answered=rates(40)),
        "risk_coverage": Part(accuracy={50: 0.55, 80: None}, area=0.4567),
        "cost": Part(
            seconds_per_case=1.5, median_seconds=1.25, total_seconds=1_234.5, tokens_per_case=2_345.6,
            total_tokens=34_567, cost_per_case=0.1234, total_cost=5.6789,
        ),
        "unlabelled": 0,
    }  # fmt: skip
    return Part(**found | more)


def shown(numbers: Part, labelled: Part | None = None) -> list[str]:
    """The lines of all tables, without what is drawn around them and with single spaces."""
    out = StringIO()
    console = Console(file=out, width=200, color_system=None)
    benchmark: Any = Part(metrics=numbers, labelled=labelled)
    for part in parts(benchmark):
        console.print(part)
    lines = ["".join(one if one.isascii() else " " for one in line) for line in out.getvalue().splitlines()]
    return [" ".join(line.split()) for line in lines if line.strip()]


@pytest.mark.parametrize(
    "line",
    [
        "accuracy in 1,200 cases 95 % interval 7 memory errors",
        "error type 1.0 % 10.0 to 11.0 % 7.0 %",
        "operation 2.0 % 12.0 to 13.0 % 8.0 %",
        "both 3.0 % 14.0 to 15.0 % 9.0 %",
        "error type, lenient 4.0 % 16.0 to 17.0 % n/a",
        "both, lenient 5.0 % 18.0 to 19.0 % n/a",
        "macro F1 of error types 6.0 % 20.0 to 21.0 % n/a",
        "false alarms 1 of 4 right answers (25.0 %, 30.0 to 31.0 %), 2 abstentions",
        "abstentions 9 (35.0 %); of the others 42.0 % are right",
        "right among the surest 50 %: 55.0 %; 80 %: n/a",
        "area of risk by coverage 0.457",
        "calibration error 12.5 %",
        "seconds a case 1.500 (median 1.250; 1,234.5 in all)",
        "tokens a case 2,346 (34,567 in all)",
        "cost a case 0.1234 (5.68 in all)",
    ],
)
def test_numbers_of_all_cases(line: str) -> None:
    assert line in shown(metrics())


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({"unlabelled": 3}, ["without label 3"]),
        ({"by_split": {"dev": rates(50)}}, ["by part of the data set cases error type operation both"]),
        ({"by_split": {"dev": rates(50)}}, ["dev 50 50.0 % 51.0 % 52.0 %"]),
        (
            {
                "classes": [
                    Part(
                        error_type=ErrorType.UPDATE, support=60, predicted=61, precision=0.62, recall=0.63, f1=0.64,
                        operation=0.65, intervals={"f1": between(66)},
                    )
                ]
            },
            [
                "error type cases named precision recall F1 95 % interval operation",
                "Update error 60 61 62.0 % 63.0 % 64.0 % 66.0 to 67.0 % 65.0 %",
            ],
        ),
        (
            {
                "calibration": Part(
                    cases=1,
                    bins=[
                        Part(low=0.7, high=0.8, count=71, confidence=0.72, accuracy=0.73),
                        Part(low=0.8, high=0.9, count=0, confidence=None, accuracy=None),
                    ],
                    expected_calibration_error=None,
                )
            },
            ["confidence verdicts mean confidence right", "0.7 to 0.8 71 72.0 % 73.0 %", "calibration error n/a"],
        ),
        (
            {"evidence_recall": EvidenceRecall(1, 9, [RecallAt(5, 0.81, 0.82), RecallAt(10, 0.83, 0.84)])},
            [
                "evidence of 1 case found among the first of all messages mean of cases",
                "5 81.0 % 82.0 %",
                "10 83.0 % 84.0 %",
            ],
        ),
        (
            {
                "controls": Part(
                    cases=0, false_alarms=0, false_alarm_rate=None, false_alarm_interval=None, abstentions=0
                )
            },
            ["false alarms no right answers to try"],
        ),
    ],
)  # fmt: skip
def test_what_only_some_benchmarks_have(more: dict[str, Any], lines: list[str]) -> None:
    assert [line for line in lines if line not in shown(metrics(**more))] == []
    assert [line for line in lines if line in shown(metrics())] == []


def share(first: int, **more: Any) -> Part:
    return Part(
        cases=first, primary=(first + 1) / 100, primary_interval=between(first + 2), accepted=(first + 4) / 100,
        accepted_interval=between(first + 5), **more,
    )  # fmt: skip


def test_numbers_against_labels() -> None:
    labelled = share(
        10,
        trivial={"answering": share(20, macro_f1=0.28)},
        by_type={"UpdateError": share(30)},
        by_kind={"count": share(40)},
        by_system={"mem0": share(50)},
        by_trace={"t1": share(60)},
        conversation_intervals={"primary": between(70), "accepted": between(72)},
        kappa=Part(type=0.745, joint=None),
    )
    lines = shown(metrics(), labelled)
    assert [line for line in lines if line.startswith(("against", "the method", "answering"))] == [
        "against labels cases primary accepted macro F1",
        "the method 10 11.0 % (12.0 to 13.0 %) 14.0 % (15.0 to 16.0 %) 6.0 %",
        "answering 20 21.0 % (22.0 to 23.0 %) 24.0 % (25.0 to 26.0 %) 28.0 %",
    ]
    for title, name, first in (
        ("by error type", "UpdateError", 30),
        ("by kind of question", "count", 40),
        ("by system", "mem0", 50),
        ("by trace", "t1", 60),
    ):
        place = lines.index(f"{title} cases primary accepted")
        rates_ = (
            f"{first + 1}.0 % ({first + 2}.0 to {first + 3}.0 %) {first + 4}.0 % ({first + 5}.0 to {first + 6}.0 %)"
        )
        assert f"{name} {first} {rates_}" in lines[place + 1 : place + 3]
    assert {
        "primary, by conversation 70.0 to 71.0 %",
        "accepted, by conversation 72.0 to 73.0 %",
        "with operation n/a",
    } <= set(lines)
    assert any(line.startswith("Cohen's kappa, error type 0.7") for line in lines)
