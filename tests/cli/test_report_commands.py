"""Reports, and comparisons of reports, on the sample with verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attribution.benchmark.sample import SAMPLE
from tests.attribution.report.pages import Page, rendered
from tests.cli.conftest import Cli
from tests.llm_server import LlmServer, fail, give, llm_server


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
    """A scripted model, named by the environment."""
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
    # A second report pays for no reply of the first one.
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
