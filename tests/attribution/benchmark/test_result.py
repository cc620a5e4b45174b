"""Results in the form of MemTraceBench's own runner, so that they can be exchanged."""

from __future__ import annotations

from attribution.verdicts.verdict import CandidateVerdict, Link, Step
from tests.attribution.benchmark.results import JUDGE, E, U, labelled, result

RUNNERS_KEYS = {"query_id", "graph_path", "error_attribution_result", "is_error_type_correct", "is_op_id_correct"}


def test_a_result_is_the_record_with_what_was_found() -> None:
    one = result(
        1,
        labelled(U, "op-1"),
        E,
        "op-1",
        path=(
            Step("id of op-1", "id of op-1", Link.START, "a quote", True),
            Step("gone", None, Link.OPERATION, "", False),
        ),
        candidates=(CandidateVerdict(U, "id of op-1", 0.2, "or so"),),
        retrieved=("m-1", "m-2"),
    )
    document = one.annotated_document()
    assert set(document) >= RUNNERS_KEYS
    assert document["query_id"] == "query-1@1"
    assert document["graph_path"] == "mem0/a.json"
    assert document["error_attribution_result"] == {
        "error_type": "ExtractionError",
        "op_id": "op-1",
        "reason": "because",
    }
    assert document["is_error_type_correct"] is False
    assert document["is_op_id_correct"] is True
    assert document["is_error_type_accepted"] is True
    assert document["confidence"] == 0.9
    assert document["evidence_path"] == [
        {"variable_id": "op-1", "op_id": "op-1", "link": "start", "quote": "a quote", "holds": True},
        {"variable_id": None, "op_id": None, "link": "operation", "quote": "", "holds": False},
    ]
    assert document["candidates"] == [
        {"error_type": "UpdateError", "op_id": "op-1", "confidence": 0.2, "reason": "or so"}
    ]
    assert document["retrieved_evidence_ids"] == ["m-1", "m-2"]


def test_a_record_without_labels_is_neither_right_nor_wrong() -> None:
    document = result(1, None, E, "op-1").annotated_document()
    assert document["is_error_type_correct"] is None
    assert document["is_op_id_correct"] is None
    assert document["error_attribution_result"]["op_id"] == "op-1"


def test_an_abstention_names_nothing() -> None:
    document = result(1, labelled(JUDGE, None), None, None).annotated_document()
    assert document["error_attribution_result"] == {"error_type": None, "op_id": None, "reason": "because"}
    assert document["is_op_id_correct"] is False


def test_a_control_says_whether_it_is_a_false_alarm() -> None:
    document = result(1, None, E, "op-1").control_document()
    assert document["is_false_alarm"] is True
    assert document["query"] == "why?"
    assert document["golden_answers"] == ["gold"]
    assert result(1, None, JUDGE, "op-1").control_document()["is_false_alarm"] is False
