from __future__ import annotations

import json
import random
from dataclasses import asdict
from typing import Any

import pytest

from attribution.benchmark import accuracy
from attribution.benchmark.metrics import Metrics, measure
from attribution.benchmark.result import Result
from attribution.statistics.intervals import wilson
from attribution.verdicts.usage import Usage
from schema.kinds import ErrorType
from tests.attribution.benchmark.results import ANNOTATION, JUDGE, D, E, R, U, labelled, result

SPLITS = {"mem0/a.json": "mem0", "rag/b.json": "rag"}


def measured(results: list[Result], controls: list[Result] | None = None) -> Metrics:
    return measure(results, controls or [], SPLITS)


@pytest.fixture
def results() -> list[Result]:
    """Ten labelled cases and one without a label: 6 types, 5 operations and 4 of both are right."""
    return [
        result(1, labelled(E, "op-1"), E, "op-1"),
        result(2, labelled(E, "op-1"), E, "op-2"),
        result(3, labelled(E, "op-1"), U, "op-1"),
        result(4, labelled(U, "op-2"), U, "op-2"),
        result(5, labelled(U, "op-2"), R, "op-3"),
        result(6, labelled(D, "op-2"), None, None),
        result(7, labelled(R, "op-3"), R, "op-3", graph="rag/b.json"),
        result(8, labelled(R, "op-3"), R, "op-1", graph="rag/b.json"),
        result(9, labelled(ANNOTATION, None), ANNOTATION, None, graph="rag/b.json"),
        result(10, labelled(JUDGE, "op-4"), ANNOTATION, None, graph="rag/b.json"),
        result(11, None, R, "op-9", graph="rag/b.json"),
    ]


def test_the_papers_accuracies(results: list[Result]) -> None:
    found = measured(results)
    assert found.total_cases == 10
    assert found.unlabelled == 1
    assert found.error_type_prediction_accuracy == 0.6
    assert found.operation_identifier_prediction_accuracy == 0.5
    assert found.joint_accuracy == 0.4
    assert found.cases_by_graph == {"mem0/a.json": 6, "rag/b.json": 4}


def test_memory_errors_alone_are_what_the_paper_counts(results: list[Result]) -> None:
    found = measured(results).memory_errors
    assert found.cases == 8
    assert (found.error_type, found.operation, found.joint) == (5 / 8, 4 / 8, 3 / 8)


def test_parts_of_the_data_set(results: list[Result]) -> None:
    found = measured(results).by_split
    assert {name: part.cases for name, part in found.items()} == {"mem0": 6, "rag": 4}
    assert (found["mem0"].error_type, found["mem0"].operation, found["mem0"].joint) == (3 / 6, 3 / 6, 2 / 6)
    assert (found["rag"].error_type, found["rag"].operation, found["rag"].joint) == (3 / 4, 2 / 4, 2 / 4)


def test_each_error_type_has_its_scores(results: list[Result]) -> None:
    scores = {one.error_type: one for one in measured(results).classes}
    assert list(scores) == [E, U, D, R, ANNOTATION, JUDGE]
    extraction, update, deletion = scores[E], scores[U], scores[D]
    assert (extraction.support, extraction.predicted) == (3, 2)
    assert (extraction.precision, extraction.recall, extraction.f1) == pytest.approx((1.0, 2 / 3, 0.8))
    assert extraction.operation == pytest.approx(2 / 3)
    assert (update.precision, update.recall, update.f1) == (0.5, 0.5, 0.5)
    assert (deletion.support, deletion.predicted, deletion.precision, deletion.recall, deletion.f1) == (
        1,
        0,
        None,
        0,
        0,
    )
    assert (scores[R].precision, scores[R].recall) == pytest.approx((2 / 3, 1.0))
    assert (scores[ANNOTATION].precision, scores[ANNOTATION].recall) == (0.5, 1.0)
    found = measured(results).macro_f1
    assert found == pytest.approx((0.8 + 0.5 + 0 + 0.8 + 2 / 3 + 0) / 6)


def test_a_type_that_only_verdicts_name_has_no_recall() -> None:
    scores = {one.error_type: one for one in measured([result(1, labelled(E, "op"), R, "op")]).classes}
    found = scores[R]
    assert (found.support, found.predicted, found.precision, found.recall, found.f1) == (0, 1, 0.0, None, None)
    assert measured([result(1, labelled(E, "op"), R, "op")]).macro_f1 == 0


def test_confusion(results: list[Result]) -> None:
    assert measured(results).confusion == {
        "ExtractionError": {"ExtractionError": 2, "UpdateError": 1},
        "UpdateError": {"UpdateError": 1, "RetrievalError": 1},
        "DeletionError": {"abstained": 1},
        "RetrievalError": {"RetrievalError": 2},
        "AnnotationError": {"AnnotationError": 1},
        "LLMAsAJudgeError": {"AnnotationError": 1},
    }


def test_an_abstention_is_never_right(results: list[Result]) -> None:
    found = measured([result(1, labelled(ANNOTATION, None), None, None)])
    assert found.error_type_prediction_accuracy == found.operation_identifier_prediction_accuracy == 0
    abstentions = measured(results).abstentions
    assert (abstentions.count, abstentions.rate) == (1, 0.1)
    assert abstentions.answered.cases == 9
    assert abstentions.answered.joint == 4 / 9


def lenient(kind: ErrorType, operation: str | None, found: Any, named: str | None, *accepted: ErrorType) -> Any:
    marks = result(1, labelled(kind, operation, *accepted), found, named).marks
    assert marks is not None
    one = accuracy.lenient([marks])
    return one.error_type, one.joint


def test_leniency() -> None:
    # Extraction or update is a matter of words at one operation, and at no other.
    assert lenient(U, "op-1", E, "op-1") == (1, 1)
    assert lenient(E, "op-1", U, "op-1") == (1, 1)
    assert lenient(U, "op-1", E, "op-2") == (0, 0)
    assert lenient(U, None, E, None) == (0, 0)
    assert lenient(D, "op-1", U, "op-1") == (0, 0)
    # What the record accepts is right wherever the operation is.
    assert lenient(U, "op-1", R, "op-1", R) == (1, 1)
    assert lenient(U, "op-1", R, "op-2", R) == (1, 0)
    assert lenient(U, "op-1", None, None, R) == (0, 0)
    # What is right is right.
    assert lenient(U, "op-1", U, "op-2") == (1, 0)


def test_strict_numbers_know_no_leniency() -> None:
    found = measured([result(1, labelled(U, "op-1", E), E, "op-1")])
    assert (found.error_type_prediction_accuracy, found.operation_identifier_prediction_accuracy) == (0, 1)
    assert (found.joint_accuracy, found.lenient.joint) == (0, 1)


def test_intervals_hold_their_numbers(results: list[Result]) -> None:
    found = measured(results)
    numbers = {
        "error_type_prediction_accuracy": found.error_type_prediction_accuracy,
        "operation_identifier_prediction_accuracy": found.operation_identifier_prediction_accuracy,
        "joint_accuracy": found.joint_accuracy,
        "lenient_error_type_accuracy": found.lenient.error_type,
        "lenient_joint_accuracy": found.lenient.joint,
        "macro_f1": found.macro_f1,
    }
    assert set(found.intervals) == set(numbers)
    for name, value in numbers.items():
        interval = found.intervals[name]
        assert interval is not None
        assert value is not None
        assert interval.low < value < interval.high
    extraction = found.classes[0]
    recall = extraction.intervals["recall"]
    assert recall is not None
    assert recall.low < 2 / 3 < recall.high
    # Whoever is always right when named is so in each draw.
    precision = extraction.intervals["precision"]
    assert precision is not None
    assert (precision.low, precision.high) == (1, 1)


def test_intervals_of_half_right_answers_are_as_wide_as_theory_says() -> None:
    cases = [result(number, labelled(E, "op"), E if number % 2 else U, "op") for number in range(100)]
    interval = measured(cases).intervals["error_type_prediction_accuracy"]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.402, 0.598), abs=0.02)


def test_order_changes_nothing(results: list[Result]) -> None:
    controls = [result(number, None, E if number < 3 else None, None) for number in range(20, 30)]
    first = measured(results, controls)
    draw = random.Random(1)
    for _ in range(3):
        draw.shuffle(results)
        draw.shuffle(controls)
        assert measured(results, controls) == first


def test_false_alarms() -> None:
    controls = [
        result(1, None, None, None),
        result(2, None, JUDGE, "op-4"),
        result(3, None, ANNOTATION, None),
        result(4, None, R, "op-1"),
        result(5, None, JUDGE, None),
    ]
    found = measured([], controls).controls
    assert (found.cases, found.false_alarms, found.abstentions, found.false_alarm_rate) == (5, 2, 1, 0.4)
    assert found.false_alarm_interval == wilson(2, 5)


def test_calibration() -> None:
    cases = [
        result(1, labelled(E, "op"), E, "op", confidence=0.95),
        result(2, labelled(E, "op"), E, "op", confidence=1.0),
        result(3, labelled(E, "op"), E, "other", confidence=0.95),
        result(4, labelled(E, "op"), U, "op", confidence=0.3),
        result(5, labelled(E, "op"), None, None, confidence=0.0),
        result(6, None, E, "op", confidence=0.3),
    ]
    found = measured(cases).calibration
    assert found.cases == 4
    assert [(one.low, one.count) for one in found.bins if one.count] == [(0.3, 1), (0.9, 3)]
    assert len(found.bins) == 10
    low, high = (one for one in found.bins if one.count)
    assert (low.confidence, low.accuracy) == (0.3, 0.0)
    assert (high.confidence, high.accuracy) == pytest.approx((2.9 / 3, 2 / 3))
    assert found.expected_calibration_error == pytest.approx((0.3 + 3 * (2.9 / 3 - 2 / 3)) / 4)
    assert measured([]).calibration.expected_calibration_error is None


def test_confidence_at_its_ends_has_a_bin() -> None:
    cases = [result(number, labelled(E, "op"), E, "op", confidence=value) for number, value in enumerate((0.0, 1.0))]
    assert [one.count for one in measured(cases).calibration.bins] == [1, *[0] * 8, 1]


def test_recall_of_the_evidence() -> None:
    cases = [
        result(1, labelled(E, "op"), E, "op", evidence=("a",), retrieved=("a", "b", "c")),
        result(2, None, E, "op", evidence=("a", "b", "c"), retrieved=("x", "c", "y", "z", "b")),
        result(3, labelled(E, "op"), E, "op", evidence=(), retrieved=("a",)),
        result(4, labelled(E, "op"), E, "op", evidence=("a",), retrieved=None),
        result(5, labelled(E, "op"), E, "op", evidence=("a",), retrieved=()),
    ]
    found = measured(cases).evidence_recall
    assert found is not None
    assert (found.cases, found.messages) == (3, 5)
    at = {one.k: (one.micro, one.macro) for one in found.at}
    assert at[1] == pytest.approx((1 / 5, 1 / 3))
    assert at[3] == pytest.approx((2 / 5, (1 + 1 / 3 + 0) / 3))
    assert at[5] == at[20]
    assert at[5] == pytest.approx((3 / 5, (1 + 2 / 3 + 0) / 3))
    assert measured([cases[2], cases[3]]).evidence_recall is None


def test_cost() -> None:
    cases = [
        result(1, labelled(E, "op"), E, "op", usage=Usage(100, 10, 2, 0.5), seconds=60.0),
        result(2, None, E, "op", usage=Usage(300, 30, 4, 1.5), seconds=120.0),
    ]
    found = measured(cases, [result(3, None, None, None, seconds=3.0)])
    prior = found.error_attribution_cost
    assert (prior.average_input_tokens, prior.average_output_tokens, prior.average_minutes) == (200, 20, 1.5)
    cost = found.cost
    assert (cost.cases, cost.total_tokens, cost.total_cost, cost.total_seconds) == (3, 440, 2.0, 183.0)
    assert (cost.seconds_per_case, cost.median_seconds) == (61.0, 60.0)
    assert (cost.tokens_per_case, cost.calls_per_case) == pytest.approx((440 / 3, 2.0))
    assert cost.cost_per_case == pytest.approx(2 / 3)


def test_nothing_to_measure_has_no_numbers() -> None:
    found = measured([])
    assert found.total_cases == 0
    assert found.error_type_prediction_accuracy is None
    assert set(found.intervals.values()) == {None}
    assert found.controls.false_alarm_rate is None
    assert (found.classes, found.confusion, found.by_split) == ([], {}, {})
    assert found.cost.seconds_per_case is None
    json.dumps(asdict(found))
