"""Attributing, measuring, auditing and reporting, on the sample with what is known about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.cli.context import DEFAULT_PROJECT
from api.cli.options import MethodName
from attribution.verdict import Method
from schema.kinds import VariableKind
from tests.attribution.benchmark.sample import SAMPLE, truth, write_benchmark
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_questions import PLACES
from tests.attribution.report.pages import Page, rendered
from tests.attribution.why_not.graphs import retrieval
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder
from tests.llm_server import LlmServer, fail, give, llm_server

ATTRIBUTION = (
    "id projectId traceId failureId errorType operationId confidence method model reason evidence candidates tokens "
    "cost seconds createdAt author losses questionKind questionExternalId "
    "operationExternalId"
)
LOSS = {"piece", "errorType", "operationId", "operationExternalId", "confidence", "path", "reason", "reached"}
WRONG = {record["query_id"]: (record["final_error_type"], record["final_op_id"]) for record in truth()["failures"]}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Commands on a store with the sample, its annotations and verdicts of the free pass; only to be read."""
    folder = tmp_path_factory.mktemp("judged")
    cli = Cli(f"sqlite:///{folder / 'test.db'}")
    cli("import", write_benchmark(folder))
    cli("attribute", "--all")
    return cli


@pytest.fixture
def suspicious(tmp_path: Path) -> Path:
    """The sample, in which two right answers count as failures: one for a strict judge, one for a false gold answer."""
    first, _, third, *_ = truth()["controls"]
    unlabelled = {"final_error_type": None, "final_op_id": None}
    return write_benchmark(
        tmp_path / "suspicious",
        annotations=[first | unlabelled, third | unlabelled | {"golden_answers": ["Reykjavik"]}],
        controls=[],
    )


def found_by(verdicts: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    return {one["questionExternalId"]: (one["errorType"], one["operationExternalId"]) for one in verdicts}


def test_methods_have_the_same_names_everywhere() -> None:
    assert [name.value for name in MethodName] == [method.value for method in Method]


def test_attribute(cli: Cli) -> None:
    cli("import", SAMPLE)
    result = cli("attribute", "--all", "--json")
    assert found_by(result.json) == WRONG
    for verdict in result.json:
        assert set(verdict) >= set(ATTRIBUTION.split())
        assert verdict["method"] == "flow"
        assert verdict["evidence"]
        assert verdict["questionKind"] == "plain"
        (loss,) = verdict["losses"]
        assert set(loss) == LOSS
        for name in ("errorType", "operationId", "operationExternalId", "confidence"):
            assert loss[name] == verdict[name]
        assert loss["path"] == verdict["evidence"]
        assert loss["piece"] == verdict["evidence"][0]["quote"]
    again = cli("attribute", "--all", "--json").json
    assert again == result.json
    kept = [verdict for failure in cli("failures", "--json").json for verdict in failure["verdicts"]]
    assert {verdict["id"] for verdict in kept} == {verdict["id"] for verdict in result.json}
    losses = {verdict["id"]: verdict["losses"] for verdict in result.json}
    assert {verdict["id"]: verdict["losses"] for verdict in kept} == losses


def test_attribute_one_failure_or_one_trace(cli: Cli) -> None:
    cli("import", SAMPLE)
    first, second, third = (failure["id"] for failure in cli("failures", "--json").json)
    some = cli("attribute", "--failure", second[:8], "--failure", first, "--failure", first, "--json").json
    assert [verdict["failureId"] for verdict in some] == [second, first]
    (trace,) = cli("traces", "--json").json
    every = cli("attribute", "--trace", trace["id"], "--json").json
    assert {verdict["failureId"] for verdict in every} == {first, second, third}


def test_attribute_without_gold_answers_or_evidence_is_another_verdict(cli: Cli) -> None:
    cli("import", SAMPLE)
    plain, gold_free, no_evidence = (
        cli("attribute", "--all", *options, "--json").json for options in ([], ["--gold-free"], ["--no-evidence"])
    )
    ids = [{verdict["id"] for verdict in verdicts} for verdicts in (plain, gold_free, no_evidence)]
    assert len(set.union(*ids)) == 9
    assert not plain[0]["attributes"].get("retrieved")
    assert no_evidence[0]["attributes"]["retrieved"]


def test_what_is_not_sure_enough_is_an_abstention_that_shows_it(cli: Cli) -> None:
    cli("import", SAMPLE)
    named = {one["failureId"]: one for one in cli("attribute", "--all", "--min-confidence", "0", "--json").json}
    unsure = cli("attribute", "--all", "--min-confidence", "1", "--json").json
    for one in unsure:
        known = named[one["failureId"]]
        assert (one["errorType"], one["operationId"], one["evidence"]) == (None, None, [])
        first = one["candidates"][0]
        said = (first["errorType"], first["operationId"], first["confidence"])
        assert said == (known["errorType"], known["operationId"], known["confidence"])
        assert "sure enough" in one["reason"]
    assert {one["id"] for one in unsure}.isdisjoint(one["id"] for one in named.values())
    cli("attribute", "--all", "--min-confidence", "1.5", code=2)


def test_the_last_answer_of_a_method_counts_also_where_it_was_given_before(cli: Cli) -> None:
    cli("import", SAMPLE)
    first = cli("attribute", "--all", "--json").json
    cli("attribute", "--all", "--min-confidence", "1")
    assert cli("blame", "--by", "operation", "--json").json == []
    again = cli("attribute", "--all", "--json").json
    assert [one["id"] for one in again] == [one["id"] for one in first]
    assert len(cli("blame", "--by", "operation", "--json").json) == 3
    assert {one["verdict"] for one in cli("answers", "--json").json} > {one["errorType"] for one in first}


def test_attribute_shows_the_proof(cli: Cli) -> None:
    cli("import", SAMPLE)
    result = cli("attribute", "--all")
    assert "ExtractionError at " in result.out
    assert "who found that chicken gives him itchy ears" in result.out
    assert "memory_system.extract_facts" in result.out
    assert "3 failures attributed, 0 abstained." in result.err


def test_attribute_shows_where_each_piece_ended(stored: Callable[[TraceBuilder], Cli]) -> None:
    """A list of which one item was not found, and the other one said."""
    told = Story.of("default", *PLACES)
    dunes = told.store(0, PLACES[0], key="dunes")
    told.store(1, PLACES[1], key="ice")
    failure = told.ask("Where did the tent stand?", "dunes, glacier", "On the dunes.", [dunes])
    known = replace(failure, evidence_ids=tuple(told.evidence[number].id for number in (0, 1)))
    told.trace.failures[:] = [known]
    cli = stored(told.trace)
    (verdict,) = cli("attribute", "--all", "--json").json
    assert verdict["questionKind"] == "several"
    lost, kept = verdict["losses"]
    assert (lost["piece"], lost["operationExternalId"], lost["reached"]) == (PLACES[1], "search", False)
    assert (kept["piece"], kept["errorType"], kept["operationId"], kept["reached"]) == (PLACES[0], None, None, True)
    assert kept["operationExternalId"] is None
    shown = " ".join(cli("attribute", "--all").out.split())
    assert f"“{PLACES[1]}” lost at {lost['operationId'][:8]} operation search (RetrievalError, confidence" in shown
    assert f"“{PLACES[0]}” reached the answer (confidence" in shown


def test_a_case_that_cannot_be_decided_is_an_abstention(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder("default")
    trace.failure(trace.variable("question", "why?", kind=VariableKind.QUERY), gold_answers=())
    cli = stored(trace)
    (verdict,) = cli("attribute", "--all", "--json").json
    assert verdict["errorType"] is None
    assert verdict["operationExternalId"] is None
    assert verdict["reason"]
    assert (verdict["losses"], verdict["questionKind"]) == ([], "plain")
    assert "abstained" in cli("attribute", "--all").out
    assert "1 failure attributed, 1 abstained." in cli("attribute", "--all").err


def test_attribute_where_nothing_failed(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(TraceBuilder("default"))
    assert cli("attribute", "--all", "--json").json == []
    assert "no failure" in cli("attribute", "--all").err


@pytest.mark.parametrize("options", [[], ["--all", "--trace", "x"], ["--failure", "x", "--all"]])
def test_attribute_must_be_told_what(judged: Cli, options: list[str]) -> None:
    assert "--failure ID, --trace TRACE and --all" in judged("attribute", *options, code=2).err


def test_attribute_what_is_not_there(judged: Cli) -> None:
    judged("attribute", "--failure", "0123456789abcdef", code=3)
    judged("attribute", "--trace", "nowhere", code=3)
    judged("attribute", "--all", "--method", "guess", code=2)


@pytest.mark.parametrize("method", ["llm", "auto", "oneshot"])
def test_a_method_with_a_model_needs_one(judged: Cli, method: str) -> None:
    assert "MEMTRACE_LLM_BASE_URL is not set" in judged("attribute", "--all", "--method", method, code=4).err


def test_agreement(judged: Cli) -> None:
    found = judged("agreement", "flow", "human", "--json").json
    assert (found["first"], found["second"], found["cases"], found["abstained"]) == ("flow", "human", 3, 0)
    assert found["typeAccuracy"] == found["typeKappa"] == found["operationKappa"] == found["jointAccuracy"] == 1
    assert found["typeKappaInterval"] == {"low": 1.0, "high": 1.0}
    assert found["confusion"]["UpdateError"] == {"UpdateError": 1}
    assert judged("agreement", "flow", "annotation", "--json").json["typeKappa"] == 1
    assert "Cohen's kappa" in judged("agreement", "human", "flow").out
    result = judged("agreement", "flow", "nobody", code=3)
    assert "annotation, flow, human" in result.err
    assert "'nobody'" in result.err


RUNNERS_METRICS = (
    "total_cases error_type_prediction_accuracy operation_identifier_prediction_accuracy cases_by_graph "
    "error_attribution_cost"
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
    # What was found before is found again, down to the time it took.
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


def test_report(judged: Cli, tmp_path: Path) -> None:
    document = judged("report", "--json").json
    assert document["format"] == "memtrace-report"
    assert document["totals"] == {"failures": 3, "attributed": 3, "abstained": 0, "withoutVerdict": 0}
    answers = judged("answers", "--json").json
    assert document["asked"]["answers"] == len(answers) == 8
    assert (document["asked"]["wrong"]["count"], document["asked"]["wrong"]["rate"]) == (3, 0.375)
    assert len(document["asked"]["questions"]) == 8
    assert document["summary"] is None
    assert document["agreement"]["typeAccuracy"] == 1
    text = judged("report").out
    files = {ending: tmp_path / f"report.{ending}" for ending in ("html", "md", "json")}
    for file in files.values():
        assert judged("report", "-o", file).out == ""
    page = Page(files["html"].read_text("utf-8"))
    assert page.tables == rendered(text).tables[1:]
    assert rendered(files["md"].read_text("utf-8")).tables == rendered(text).tables
    again = json.loads(files["json"].read_text("utf-8"))
    assert again | {"createdAt": ""} == document | {"createdAt": ""}
    assert {(one["share"]["label"], one["share"]["count"]) for one in document["levers"]} == {
        ("prompt fact-extraction-system-prompt", 1),
        ("prompt memory-update-decision-prompt", 1),
        ("settings of memory_system.search_memory", 1),
    }


def test_report_on_a_selection(judged: Cli) -> None:
    failures = [failure["id"] for failure in judged("failures", "--json").json]
    document = judged("report", "--failure", failures[0], "--failure", failures[1][:8], "--json").json
    assert document["totals"]["failures"] == 2
    assert document["scope"]["selection"] == sorted(failures[:2])
    assert document["asked"] is None
    (trace,) = judged("traces", "--json").json
    assert judged("report", "--trace", trace["id"], "--json").json["totals"]["failures"] == 3
    judged("report", "--trace", "nowhere", code=3)


def test_report_of_one_source(judged: Cli) -> None:
    document = judged("report", "--source", "human", "--json").json
    assert {case["method"] for case in document["cases"]} == {"human"}
    assert document["agreement"] is None
    assert "annotation, flow, human" in judged("report", "--source", "nobody", code=3).err


def test_report_says_what_it_lacks(cli: Cli) -> None:
    cli("import", SAMPLE)
    result = cli("report")
    assert "3 of 3 failures have no verdict" in result.err
    assert "no failure is attributed" in result.out


def test_report_must_know_its_form(judged: Cli, tmp_path: Path) -> None:
    judged("report", "--json", "--format", "html", code=2)
    judged("report", "-o", tmp_path / "report.pdf", code=2)
    judged("report", "-o", tmp_path / "report.pdf", "--format", "html")
    assert (tmp_path / "report.pdf").read_text("utf-8").startswith("<!doctype html>")
    judged("report", "-o", tmp_path / "none" / "report.md", code=1)


def test_compare(judged: Cli, tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    judged("report", "-o", before)
    failure = judged("failures", "--json").json[0]["id"]
    judged("report", "--failure", failure, "-o", after)
    document = judged("report", "compare", before, after, "--json").json
    assert document["format"] == "memtrace-comparison"
    assert (len(document["gone"]), len(document["new"]), document["same"]) == (2, 0, 1)
    text = rendered(judged("report", "compare", before, after).out)
    judged("report", "compare", before, after, "-o", tmp_path / "c.html")
    assert Page((tmp_path / "c.html").read_text("utf-8")).tables == text.tables
    before.write_text("{}", "utf-8")
    assert "is no report" in judged("report", "compare", before, after, code=4).err
    judged("report", "compare", tmp_path / "none.json", after, code=4)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LlmServer]:
    """A scripted model that the environment names."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with llm_server() as running:
        monkeypatch.setenv("MEMTRACE_LLM_BASE_URL", running.url)
        monkeypatch.setenv("MEMTRACE_LLM_MODEL", "scripted")
        monkeypatch.setenv("MEMTRACE_LLM_RETRIES", "0")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield running


def test_report_with_a_summary(judged: Cli, model: LlmServer) -> None:
    model.script(give({"sentences": [{"text": "Facts are lost.", "cases": [1]}, {"text": "So.", "cases": []}]}))
    summary = judged("report", "--json").json["summary"]
    assert summary["sentences"] == [{"text": "Facts are lost.", "cases": [1]}]
    assert (summary["model"], summary["dropped"]) == ("scripted", 1)
    assert judged("report", "--no-summary", "--json").json["summary"] is None
    # What a model said once is not paid for again.
    assert judged("report", "--json").json["summary"]["sentences"] == summary["sentences"]
    assert len(model.requests) == 1


def test_a_model_that_fails_costs_the_summary_and_no_more(judged: Cli, model: LlmServer) -> None:
    model.script(fail(400, "no such model"), repeat=True)
    result = judged("report", "--json")
    assert result.json["summary"] is None
    assert result.json["totals"]["failures"] == 3
    assert "There is no summary" in result.err
    assert judged("report", "--summary", code=1).out == ""


def test_a_summary_that_is_asked_for_needs_a_model(judged: Cli) -> None:
    assert "MEMTRACE_LLM_BASE_URL is not set" in judged("report", "--summary", code=4).err


def test_what_is_shown_has_names_for_people(stored: Callable[[TraceBuilder], Cli]) -> None:
    """A recorder gives digests as ids in the source; people read names, the same as in reports."""
    story, failure = retrieval(DEFAULT_PROJECT)
    trace = story.trace
    digests = [(f"{number:032x}", one) for number, one in enumerate(trace.variables, 1 << 80)]
    trace.variables = [replace(one, external_id=digest, name=one.external_id) for digest, one in digests]
    cli = stored(trace)
    asked, said = (
        next(f"{one.name}@{one.version}" for one in trace.variables if one.id == id_)
        for id_ in (failure.question_id, failure.evidence_ids[0])
    )
    for out in (cli("attribute", "--all").out, cli("why-not", failure.id).out, cli("report", "--format", "md").out):
        assert said in out.replace("\\", "")
        assert not any(digest[-12:] in out for digest, _ in digests)
    assert asked in cli("attribute", "--all").out
