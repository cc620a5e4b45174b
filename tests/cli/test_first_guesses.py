"""What people type first, because other programs have it: formats behind -o, times of statistics, settings, undoing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import SAMPLE, Cli
from tests.factory import TraceBuilder

FAILURE = "02df014d"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(str(tmp_path_factory.mktemp("first") / "team.db"))
    cli("import", SAMPLE)
    cli("attribute", "--all")
    return cli


@pytest.mark.parametrize("command", ["failures", "answers", "traces", "operations", "stats", "show last"])
def test_a_format_behind_o_is_no_file(
    sample: Cli, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = command.split()
    assert sample(*words, "-o", "json").out == sample(*words, "--json").out != ""
    assert sample(*words, "--output=json").out == sample(*words, "--json").out
    assert list(tmp_path.iterdir()) == []


def test_other_formats_behind_o(sample: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sample("failures", "-o", "csv").out == sample("failures", "--csv").out
    assert sample("failures", "-o", "wide").out == sample("failures").out
    assert sample("failures", "-o", "name").out == sample("failures", "--ids").out
    assert list(tmp_path.iterdir()) == []
    sample("failures", "-o", "./json")
    sample("failures", "-o", "wrong.json")
    assert {one.name for one in tmp_path.iterdir()} == {"json", "wrong.json"}


def test_an_export_may_go_to_a_file_of_any_name(sample: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sample("export", "assistant-sample", "-o", "json")
    assert (tmp_path / "json").read_bytes() == SAMPLE.read_bytes()


def test_statistics_of_a_time(sample: Cli) -> None:
    whole = sample("stats", "--json").json
    since = sample("stats", "--since", "2026-11-01", "--json").json
    assert since["kinds"]["Operation"] == whole["kinds"]["Operation"]
    assert since["kinds"]["Variable"] == whole["kinds"]["Variable"]
    assert {label: count for label, count in whole["counts"].items() if label != "Derivation"} == since["counts"]
    before = sample("stats", "--until", "2026-11-01", "--json").json
    assert set(before["counts"].values()) == {0}
    assert before["bytes"] == whole["bytes"]
    one = sample("operations", "--since", "2026-11-22T01:18:14", "--count").out
    assert sample("stats", "--since", "2026-11-22T01:18:14", "--json").json["counts"]["Operation"] == int(one) > 0
    assert "is no time" in sample("stats", "--since", "colour", code=2).err


def test_failures_of_a_person(sample: Cli) -> None:
    sample("verdict", FAILURE, "--type", "AnnotationError", "--reason", "Not so.", "--author", "Ann")
    assert [one["id"][:8] for one in sample("failures", "--author", "ann", "--json").json] == [FAILURE]
    assert sample("failures", "--author", "Bob", "--json").json == []


@pytest.mark.parametrize(
    "line",
    ["verdict undo ID", "undo verdict ID", "verdict withdraw ID", "verdict ID --undo"],
)
def test_a_verdict_is_taken_back(sample: Cli, line: str) -> None:
    sample("verdict", FAILURE, "--type", "AnnotationError", "--reason", "It went.")
    said = sample("failures", FAILURE, "--json").json[0]["verdicts"]
    sample(*line.replace("ID", FAILURE).split())
    left = sample("failures", FAILURE, "--json").json[0]["verdicts"]
    assert {one["id"] for one in said} - {one["id"] for one in left}
    assert sample("failures", FAILURE, "--json").json


def test_a_part_of_a_name_is_a_trace_to_read(sample: Cli) -> None:
    assert sample("export", "mara").out == sample("export", "assistant-sample").out
    assert sample("trace", "mara", "--json").json["externalId"] == "assistant-sample"
    assert "no trace 'mara'" in sample("delete", "mara", "--yes", code=3).err


def test_the_settings_in_force(sample: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_PORT", "9123")
    monkeypatch.setenv("MEMTRACE_NATS_PASSWORD", "open sesame")
    monkeypatch.setenv("MEMTRACE_LLM_BASE_URL", "https://ann:sesame@models.example/v1?key=sesame")
    file = tmp_path / "memtrace.toml"
    file.write_text('log_level = "debug"\n')
    monkeypatch.setenv("MEMTRACE_CONFIG", str(file))
    told = sample("config", "--json")
    assert "sesame" not in told.out + sample("config").out + sample("config", "--all").out
    known = {one["name"]: one for one in told.json}
    assert known["port"] == {"name": "port", "value": 9123, "from": "environment", "variable": "MEMTRACE_PORT"}
    assert (known["log_level"]["value"], known["log_level"]["from"]) == ("debug", "file")
    assert known["store"]["from"] == "option"
    assert known["host"]["from"] == "default"
    assert known["nats_password"]["value"] == "(set)"
    assert known["llm_base_url"]["value"] == "https://models.example/v1?…"
    assert [one["value"] for one in sample("settings", "get", "MEMTRACE_PORT", "--json").json] == [9123]
    assert "queue_bytes" in sample("config", "--all").out
    assert "queue_bytes" not in sample("config", "list").out


def test_a_project_is_deleted_whole(stored: Callable[[TraceBuilder], Cli]) -> None:
    first = TraceBuilder("default", "first")
    first.variable("note", "The gate is green.")
    cli = stored(first)
    cli("import", SAMPLE)
    assert "say --yes" in cli("delete", "--all", code=2).err
    assert len(cli("traces", "--json").json) == 2
    told = cli("delete", "--all", "--yes", "--json").json
    assert (len(told["traceIds"]), told["deleted"]["Trace"]) == (2, 2)
    assert cli("traces", "--json").json == []
    assert "has no traces" in cli("delete", "--all", "--yes").err


def test_a_search_has_no_time_to_sort_by(sample: Cli) -> None:
    assert "there is no column 'time'" in sample("search", "pottery", "--sort", "time", code=2).err


def test_a_sign_or_a_word_says_the_direction(sample: Cli) -> None:
    up = sample("failures", "--sort", "confidence", "--ids").out.split()
    for words in (["--sort", "-confidence"], ["--sort=confidence:desc"], ["--sort", "confidence", "--desc"]):
        assert sample("failures", *words, "--ids").out.split() == up[::-1]
    assert sample("failures", "--sort", "+confidence", "--ids").out.split() == up
    assert sample("answers", "--sort", "-preview", "--ids").out != sample("answers", "--sort", "preview", "--ids").out


def test_columns_behind_json(sample: Cli) -> None:
    (first, *_) = sample("answers", "--json", "id,question").json
    assert list(first) == ["id", "question"]
    assert "did you mean question?" in sample("answers", "--json", "id,questio", code=2).err
    assert sample("answers", "--json", "pottery").json == sample("answers", "pottery", "--json").json


def test_sorted_by_duration_and_by_number(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder("default", "timed")
    for name, seconds in (("quick", 1), ("slow", 9), ("middling", 4)):
        begun = datetime(2026, 11, 20, tzinfo=UTC)
        trace.operation(name, name=name, started_at=begun, ended_at=begun + timedelta(seconds=seconds))
    trace.operation("again", name="quick")
    cli = stored(trace)
    names = [one["name"] for one in cli("operations", "--sort", "duration", "--desc", "--json").json]
    assert names == ["slow", "middling", "quick", "quick"]
    assert [one["count"] for one in cli("operations", "--by", "name", "--sort", "count", "--json").json] == [2, 1, 1]


def test_a_sort_that_says_nothing_tells_so(sample: Cli) -> None:
    assert "the order is as it was" in sample("operations", "--sort", "duration").err


def test_failures_by_how_sure_their_verdicts_are(sample: Cli) -> None:
    known = {one["id"]: one["verdicts"][0]["confidence"] for one in sample("failures", "--json").json}
    for option, fits in (("--max-confidence", float.__le__), ("--min-confidence", float.__ge__)):
        found = {one["id"] for one in sample("failures", option, "0.95", "--json").json}
        assert found == {id_ for id_, sure in known.items() if fits(sure, 0.95)} != set()


def test_a_deletion_may_only_be_told(sample: Cli) -> None:
    for words in (["assistant-sample"], ["--all"]):
        told = sample("delete", *words, "--dry-run", "--json").json
        assert told["wouldDelete"]["Failure"] == 3
        assert "Nothing was deleted" in sample("delete", *words, "--dry-run", "--yes").out
    assert len(sample("traces", "--json").json) == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("answers -o jsonpath={.id}", "--columns id,question"),
        ("failures --not-type RetrievalError", "`memtrace sql QUERY`"),
        ("export --dry-run", "`memtrace delete --dry-run` has it"),
        ("push https://host.example", "`memtrace export TRACE -o trace.json`"),
    ],
)
def test_other_guesses_lead_on(sample: Cli, line: str, told: str) -> None:
    assert told in sample(*line.split(), code=2).err


def test_words_behind_k(sample: Cli) -> None:
    assert sample("failures", "-k", "allergic", "--ids").out == sample("failures", "allergic", "--ids").out != ""
    assert (
        sample("operations", "-k", "retrieval", "--ids").out == sample("operations", "--kind", "retrieval", "--ids").out
    )
