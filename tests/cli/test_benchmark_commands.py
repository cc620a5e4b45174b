"""Benchmarks and audits on the sample, whose causes are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attribution.benchmark.sample import SAMPLE, truth, write_benchmark
from tests.cli.conftest import Cli
from tests.cli.test_attribution_commands import WRONG

RUNNERS_METRICS = (
    "total_cases error_type_prediction_accuracy operation_identifier_prediction_accuracy cases_by_graph "
    "error_attribution_cost"
)


@pytest.fixture
def suspicious(tmp_path: Path) -> Path:
    """The sample with two right answers as failures: a strict judge refused one, a wrong gold answer the other."""
    first, _, third, *_ = truth()["controls"]
    unlabelled = {"final_error_type": None, "final_op_id": None}
    return write_benchmark(
        tmp_path / "suspicious",
        annotations=[first | unlabelled, third | unlabelled | {"golden_answers": ["Reykjavik"]}],
        controls=[],
    )


def test_benchmark(cli: Cli, tmp_path: Path) -> None:
    path = write_benchmark(tmp_path / "mem0")
    document = cli.plain("benchmark", path, "--json").json
    assert document["split"] == "mem0"
    assert document["sampled_graph_paths"] == [str(path)]
    assert document["settings"] == {"method": "flow", "gold_free": False, "no_evidence": False, "models": []}
    assert document["errors"] == []
    results = document["results"]
    assert {one["query_id"]: tuple(one["error_attribution_result"].values())[:2] for one in results} == WRONG
    for one in results:
        assert set(one) >= set(truth()["failures"][0])
        assert set(one["error_attribution_result"]) == {"error_type", "op_id", "reason"}
        assert (one["is_error_type_correct"], one["is_op_id_correct"]) == (True, True)
        assert one["graph_path"] == str(path)
    metrics = document["metrics"]
    assert set(metrics) >= set(RUNNERS_METRICS.split())
    assert set(metrics["error_attribution_cost"]) == {
        "average_input_tokens",
        "average_output_tokens",
        "average_minutes",
    }
    assert metrics["total_cases"] == 3
    assert metrics["error_type_prediction_accuracy"] == metrics["operation_identifier_prediction_accuracy"] == 1
    assert metrics["cases_by_graph"] == {str(path): 3}
    assert metrics["evidence_recall"] is None
    assert [one["query_id"] for one in document["controls"]] == [one["query_id"] for one in truth()["controls"]]
    assert {one["is_false_alarm"] for one in document["controls"]} == {False}
    assert metrics["controls"]["false_alarms"] == 0
    assert not list(tmp_path.glob("*.db"))


def test_benchmark_leaves_out_what_has_no_label(cli: Cli, tmp_path: Path) -> None:
    annotations = truth()["failures"]
    annotations[0] |= {"final_error_type": None, "final_op_id": None}
    document = cli.plain("benchmark", write_benchmark(tmp_path, annotations=annotations), "--json").json
    assert document["metrics"]["total_cases"] == 2
    assert document["metrics"]["unlabelled"] == 1
    unlabelled = next(one for one in document["results"] if one["query_id"] == annotations[0]["query_id"])
    assert unlabelled["error_attribution_result"]["error_type"] == "UpdateError"
    assert unlabelled["is_error_type_correct"] is unlabelled["is_op_id_correct"] is None


def test_a_wrong_label_is_a_miss_and_changes_no_verdict(cli: Cli, tmp_path: Path) -> None:
    annotations = truth()["failures"]
    annotations[0] |= {"final_error_type": "DeletionError", "final_op_id": annotations[1]["final_op_id"]}
    document = cli.plain("benchmark", write_benchmark(tmp_path, annotations=annotations), "--json").json
    found = {one["query_id"]: tuple(one["error_attribution_result"].values())[:2] for one in document["results"]}
    assert found == WRONG
    assert document["metrics"]["error_type_prediction_accuracy"] == pytest.approx(2 / 3)
    assert document["metrics"]["joint_accuracy"] == pytest.approx(2 / 3)
    assert document["metrics"]["confusion"]["DeletionError"] == {"UpdateError": 1}


def test_benchmark_without_evidence_says_what_it_retrieved(cli: Cli, tmp_path: Path) -> None:
    document = cli.plain("benchmark", write_benchmark(tmp_path), "--no-evidence", "--json").json
    recall = document["metrics"]["evidence_recall"]
    assert (recall["cases"], recall["messages"]) == (3, 3)
    hits = [set(one["source_evidence_ids"]) & set(one["retrieved_evidence_ids"][:20]) for one in document["results"]]
    assert {at["k"]: at["micro"] for at in recall["at"]}[20] == pytest.approx(sum(map(len, hits)) / 3)
    assert any(hits)
    assert document["settings"]["no_evidence"] is True
    assert "found among the first" in cli.plain("benchmark", write_benchmark(tmp_path), "--no-evidence").out


def test_benchmark_for_people(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    result = cli.plain("benchmark", write_benchmark(tmp_path / "mem0"), "-o", output)
    assert "accuracy in 3 cases" in result.out
    assert "0 of 5 right answers" in result.out
    assert json.loads(output.read_text("utf-8"))["metrics"]["total_cases"] == 3


def test_benchmark_goes_on_where_it_stopped(cli: Cli, tmp_path: Path) -> None:
    path, work = write_benchmark(tmp_path), tmp_path / "work"
    first = cli.plain("benchmark", path, "--work", work, "--json").json
    assert list(work.glob("*.db"))
    # Earlier verdicts are found again, with their durations.
    assert cli.plain("benchmark", path, "--work", work, "--json").json == first
    blocked = tmp_path / "file"
    blocked.touch()
    assert "can't be a folder" in cli.plain("benchmark", path, "--work", blocked, code=4).err


def test_a_bad_file_does_not_keep_the_others_from_it(cli: Cli, tmp_path: Path) -> None:
    good, plain = write_benchmark(tmp_path / "mem0"), tmp_path / "none.json"
    plain.write_bytes(SAMPLE.read_bytes())
    result = cli.plain("benchmark", good.parent, plain, tmp_path / "missing", "--json", code=4)
    assert result.json["metrics"]["total_cases"] == 3
    assert [error["file"] for error in result.json["errors"]] == [str(plain)]
    assert "neither annotations nor controls" in result.err
    assert "missing: does not exist" in result.err


def test_audit_of_files(cli: Cli, suspicious: Path) -> None:
    first, third = (truth()["controls"][place] for place in (0, 2))
    document = cli.plain("audit", suspicious.parent, "--json").json
    found = {one["questionExternalId"]: one for one in document}
    assert {query: one["errorType"] for query, one in found.items()} == {
        first["query_id"]: "LLMAsAJudgeError",
        third["query_id"]: "AnnotationError",
    }
    wrong = found[third["query_id"]]
    assert wrong["goldAnswers"] == ["Reykjavik"]
    assert wrong["prediction"] == third["prediction"]
    assert wrong["file"] == str(suspicious)
    assert any("Whitby" in step["quote"] for step in wrong["path"])
    assert [one["confidence"] for one in document] == sorted((one["confidence"] for one in document), reverse=True)
    text = cli.plain("audit", suspicious)
    assert "Reykjavik" in text.out
    assert "2 suspects among 5 failures." in text.err


def test_audit_of_the_store(cli: Cli, suspicious: Path) -> None:
    cli("import", suspicious)
    (trace,) = cli("traces", "--json").json
    document = cli("audit", "--trace", trace["id"], "--json").json
    assert [one["file"] for one in document] == [None, None]
    assert document == cli("audit", "--json").json
    cli("audit", suspicious, "--trace", trace["id"], code=2)
    assert cli("audit", suspicious.parent / "none.json", "--json", code=4).json == []


def test_audit_of_what_is_sound_is_empty(judged: Cli) -> None:
    assert judged("audit", "--json").json == []
