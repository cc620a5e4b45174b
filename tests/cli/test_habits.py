"""Command lines as people know them from other tools, and what they could not do before."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import stat
from pathlib import Path

import pytest
from typer.main import get_command

from api.cli.context import Target
from api.cli.errors import UsageError
from api.cli.follow import Seen
from api.cli.main import command_line, told_of
from api.cli.phrases import understood
from api.cli.said_filters import of_state, said_filter
from schema.outside_json import read_json
from tests.cli.conftest import SAMPLE, Cli
from tests.queue.sets import event_line

WRONG, FAILURE, RIGHT, UNIT = "7a7b5616", "02df014d", "0dd053a0", "memory-unit-12"
TRACE = "assistant-sample"
WRONG_TEXT = "I am really enjoying the pottery class at the Kiln House."


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(str(tmp_path_factory.mktemp("habits") / "team.db"))
    cli("import", SAMPLE)
    cli("attribute", "--all")
    return cli


@pytest.fixture
def own(cli: Cli) -> Cli:
    """Commands on a store with the sample, for changing it."""
    cli("import", SAMPLE)
    return cli


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("head", "traces --limit 10"),
        ("head -n 5", "traces --limit 5"),
        ("head answers 3", "answers --limit 3"),
        ("tail", "operations --last 10"),
        ("tail -5", "operations --last 5"),
        ("tail failures --lines 2", "failures --last 2"),
        ("tail -f", "follow"),
        ("tail -f -n 50 --user ann", "follow --last 50 --user ann"),
        ("logs -f", "follow"),
        ("logs --follow ann", "follow ann"),
        ("get traces -w", "follow"),
        ("operations --follow", "follow"),
        ("events -f", "follow"),
        ("failures -f csv", "failures -f csv"),
        ("answers --follow", "follow"),
        ("watch operations", "follow"),
        ("watch memory", "follow memory"),
        ("failures --watch --type retrieval", "failures --watch --type retrieval"),
        ("get units -w", "units -w"),
        ("log -p memory-unit-12", "versions memory-unit-12"),
        ("logs 53341c53", "operations 53341c53"),
        ("list --type answer --since yesterday", "answers --since yesterday"),
        ("list --op delete --since 24h", "operations --kind Deletion --since 24h"),
        ("ls --kind Prompt", "prompts"),
        ("list --type context", "variables --kind Context"),
        ("show --kind Prompt 7a7b5616", "show --kind Prompt 7a7b5616"),
        ("search pottery --type memory", "search pottery --type memory"),
        ("stats --by cause", "failures --by errorType"),
        ("stats --by op --since 24h", "operations --by kind --since 24h"),
        ("stats --by day", "answers --by day"),
        ("count failures --by day", "failures --by day"),
        ("count steps --since 24h --by kind", "operations --by kind --since 24h"),
        ("stats --by unit", "blame --by unit"),
        ("count --since today", "stats --since today"),
        ("users add bob --role viewer", "keys create bob --person bob --role reader"),
        ("invite ann", "keys create ann --person ann"),
        ("team add ann --role=admin", "keys create ann --person ann --role=admin"),
        ("prune --older-than 30d --dry-run", "delete --older-than 30d --dry-run"),
        ("purge traces --before monday", "delete --before monday"),
        ("set 02df014d --cause judge --note fine", "verdict 02df014d --cause judge --note fine"),
        ("attribute 02df014d --type update", "attribute 02df014d --type update"),
        ("metrics diff a b", "compare a b"),
        ("describe", "stats"),
        ("undo", "unfail last"),
        ("undo 02df014d", "undo 02df014d"),
        ("server start --port 8", "server --port 8"),
        ("start ui", "ui"),
        ("queue status", "stats"),
        ("eval questions.json --out runs", "evaluate --dataset questions.json --run runs"),
        ("retrieved 7a7b5616", "show --kind Retrieval 7a7b5616"),
        ("list users", "traces"),
        ("failure edit 02df014d --fault gold", "verdict 02df014d --fault gold"),
        ("failure close 02df014d --reason fixed", "close 02df014d --reason fixed"),
        ("score 7a7b5616 0 --comment old", "fail 7a7b5616 --comment old"),
        ("rate 7a7b5616 up", "right 7a7b5616"),
        ("rate 7a7b5616 1", "rate 7a7b5616 1"),
        ("keys create --name bob --role viewer", "keys create --name bob --role reader"),
        ("compare main..feature", "compare main feature"),
        ("compare ../a.json b.json", "compare ../a.json b.json"),
        ("run tail -f log.txt", "run tail -f log.txt"),
    ],
)
def test_a_line_from_another_tool(said: str, meant: str) -> None:
    assert understood(said.split()) == meant.split()
    assert understood(meant.split()) == meant.split()  # the words are read twice


FAILURES = {"--type": True, "--trace": True, "--undecided": False, "--decided": False, "--count": False} | {
    "--all-verdicts": False,
    "--search": True,
}


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("--status", "open", ["--undecided"]),
        ("--status", "wrong", []),
        ("--where", "type = 'retrieval'", ["--type", "retrieval"]),
        ("--filter", "fault == update and user='ann b'", ["--type", "update", "--trace", "ann b"]),
        ("--filter", "status = open", ["--undecided"]),
        ("--filter", "text = 'salt and pepper', type=update", ["--search", "salt and pepper", "--type", "update"]),
        ("--filter", 'user = "Ann, Bob"  &&  type = a', ["--trace", "Ann, Bob", "--type", "a"]),
        ("--filter", "pottery", None),
        ("--filter", "type:retrieval", ["--type", "retrieval"]),
        ("--filter", "note: pottery", None),
        ("--search", "type = 'x'", None),
    ],
)
def test_a_filter_from_another_tool(name: str, value: str, meant: list[str] | None) -> None:
    rest = [value, "more"]
    assert said_filter(name, "", rest, FAILURES) == meant
    assert rest == ([value, "more"] if meant is None else ["more"])


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("type = a or type = b", "type = a or type = b"),
        ("type = a and text = 'salt", "text = 'salt"),
        ("type = a, model = 'x y' and user = b", "model = 'x y'"),
        ("type != a", "type != a"),
    ],
)
def test_a_condition_that_no_list_has_is_named(said: str, part: str) -> None:
    with pytest.raises(UsageError, match="is not filtered by") as told:
        said_filter("--filter", "", [said], FAILURES)
    assert f"is not filtered by {part!r}. " in str(told.value)


def test_filters_that_a_list_has_not(sample: Cli) -> None:
    assert (
        "knows no such state; it has --wrong, --right, --unjudged"
        in sample("answers", "--status", "purple", code=2).err
    )
    assert (
        "is not filtered by \"model = 'x'\". It has --author, --operation, --search, --trace, --type"
        in sample("failures", "--filter", "type = update and model = 'x'", code=2).err
    )
    assert sample("failures", "--filter", "type = update", "--count").out == "1\n"
    assert sample("answers", "--status", "open", "--count").out == sample("answers", "--unjudged", "--count").out
    assert of_state("--status", "failed", {"--wrong": False}) == ["--wrong"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("diff assistant-sample", "memtrace units --ended --trace"),
        ("diff 53341c53", "memtrace units --ended --trace 53341c53"),
        ("config set llm.model small", "export MEMTRACE_LLM_MODEL=small"),
        ("evaluate a:b --fail-under 0.9", "--fail-on-regression"),
        ("why last --provider openai", "MEMTRACE_LLM_BASE_URL"),
        ("resolve 02df014d", "memtrace unfail 02df014d"),
        ("server stop", "ends with Ctrl-C"),
    ],
)
def test_what_has_no_command_leads_on(sample: Cli, line: str, told: str) -> None:
    assert told in sample(*line.split(), code=2).err


def test_a_star_is_any_characters(sample: Cli) -> None:
    assert sample("units", "memory-unit-12*", "--ids").out == sample("units", "memory-unit-12", "--ids").out
    assert sample("units", "memory-unit-*", "--count").out == sample("units", "--count").out
    assert sample("units", "memory-*-none", "--count").out == "0\n"


def test_steps_of_a_unit_name_its_versions(sample: Cli) -> None:
    unit = sample("units", UNIT, "--ids").out.strip()
    assert f"Its versions: memtrace versions {unit}" in sample("log", unit).err
    assert "recordings: memtrace traces --descending" in sample("log").err


def test_words_are_found_in_the_kind_that_is_named(sample: Cli) -> None:
    said = sample("grep", "-i", "POTTERY", "--in", "messages")
    assert said.out == sample("search", "pottery", "--kind", "Message").out != ""
    assert "-i is not needed" in said.err


def test_traces_with_wrong_answers(own: Cli, tmp_path: Path) -> None:
    assert own("traces", "--wrong", "--count").out == own("ls", "--status", "failed", "--count").out == "1\n"
    for one in own("failures", "--json").json:
        assert one["origin"] == "judge"
    (tmp_path / "none").mkdir()
    own("delete", TRACE, "--yes")
    assert own("traces", "--wrong", "--count").out == "0\n"


def test_counts_by_day(sample: Cli) -> None:
    found = sample("answers", "--by", "day", "--json").json
    assert sum(one["count"] for one in found) == 8
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", one["day"]) for one in found)
    assert [one["day"] for one in found] == sorted(one["day"] for one in found)
    assert sample("failures", "--by", "week", "--csv").out.splitlines()[0] == "week,count"
    assert "there is no column 'day'" in sample("prompts", "--by", "day", code=2).err


def test_an_answer_is_named_by_its_text(own: Cli) -> None:
    wrong = own("fail", "a cottage in whitby", "Hull").out
    assert "I moved from my flat in Leeds to a cottage in Whitby." in wrong
    assert "is ambiguous" in own("fail", "My dog Biscuit is a wire-haired dachshund.", "x", code=2).err
    assert own("why", "took Biscuit to the vet yesterday", "--json").json[0]["errorType"] == "ExtractionError"
    assert "it is not marked as wrong" in own("why", "no longer work as a bookkeeper at Hartley", code=4).err
    assert "no failure or answer" in own("fail", "nobody said this at all", "x", code=3).err


def test_blame_of_a_failure_and_of_a_unit(sample: Cli) -> None:
    assert "Update error at 74199103" in sample("blame", FAILURE).out
    assert sample("blame", WRONG).out == sample("blame", FAILURE).out
    unit = sample("units", UNIT, "--ids").out.strip()
    assert sample("blame", unit).out == sample("versions", unit).out != ""
    assert sample("blame", unit, "--count").out == sample("versions", unit, "--count").out
    ranked = sample("blame", FAILURE, "--csv")
    assert ranked.out == sample("blame", "--trace", TRACE, "--csv").out
    assert "listed is its trace 53341c53" in ranked.err
    assert sample("blame", TRACE).out == sample("blame").out


def test_an_answer_is_shown_with_what_was_found_for_it(sample: Cli) -> None:
    shown = sample("show", WRONG).out
    assert "question  433d3ad1 On which day of the week is Mara's pottery class?" in shown
    assert "trace     53341c53 MemoryAgent mara" in shown
    assert "found     " in shown
    assert "question  " not in sample("show", UNIT).out
    assert "the newest trace: memtrace trace last" in sample("show", "last").err


def test_the_memory_at_a_time(sample: Cli) -> None:
    assert sample("units", "--at", "2020-01-01", "--count").out == "0\n"
    assert sample("units", "--at", "now", "--ids").out == sample("units", "--ids").out
    steps = sample("operations", "--json").json
    middle = steps[len(steps) // 2]
    moment = middle["startedAt"].replace("Z", "+00:00")
    before = [one for one in steps if one["startedAt"] < middle["startedAt"]][-1]
    assert sample("units", "--at", moment, "--ids").out == sample("units", "--at", before["id"], "--ids").out != ""


def test_traces_of_a_time_are_deleted(own: Cli) -> None:
    assert (
        own("prune", "--older-than", "2020-01-01", "--dry-run").out == "Would delete: nothing. Nothing was deleted.\n"
    )
    assert "Would delete: 1 Trace" in own("delete", "--until", "today", "--dry-run").out
    assert "leave out the TRACE" in own("delete", TRACE, "--until", "today", code=2).err
    assert "no terminal to ask at" in own("delete", "--until", "today", code=2).err
    assert "no traces that began in this time" in own("delete", "--since", "now", "--yes").err
    assert own("traces", "--count").out == "1\n"
    assert own("delete", "--until", "today", "--yes").out.startswith("Deleted 1 trace of the project default: 1 Trace")
    assert own("traces", "--count").out == "0\n"


def test_a_backup_is_a_store(own: Cli, tmp_path: Path) -> None:
    own("backup", "saved.db")
    saved = tmp_path / "saved.db"
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert Cli(str(saved))("answers", "--json").json == own("answers", "--json").json
    assert "exists already" in own("backup", "saved.db", code=5).err
    assert "ends in .db" in own("backup", "-o", "saved.tar.gz", code=2).err
    assert own("backup", "--json").json["bytes"] > 100_000
    assert "neo4j-admin" in own.plain("backup", "--store", "neo4j://nowhere", code=2).err
    assert "does not exist" in own.plain("backup", "x.db", "--store", "none.db", code=5).err
    assert not list(tmp_path.glob(".*.part"))


def test_a_backup_says_what_it_has_not(own: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = own.plain("backup", "--store", "neo4j://ann:hush@nowhere", code=4).err
    assert "without user and password" in told
    assert "hush" not in told
    assert own("backup", "--json").json["valuesElsewhere"] is None
    values = (tmp_path / "values").as_uri()
    monkeypatch.setenv("MEMTRACE_VALUES", values)
    assert f"not in the copy: {values}" in own("backup", "a.db").err
    said = own("backup", "b.db", "--json")
    assert said.json["valuesElsewhere"] == values
    assert f"not in the copy: {values}" in said.err
    monkeypatch.delenv("MEMTRACE_VALUES")
    (tmp_path / "settings.toml").write_text(f'values = "{values}"\n')
    monkeypatch.setenv("MEMTRACE_CONFIG", str(tmp_path / "settings.toml"))
    assert f"not in the copy: {values}" in own("backup", "c.db").err


def test_a_report_goes_to_the_file_behind_its_format(sample: Cli, tmp_path: Path) -> None:
    sample("report", TRACE, "--html", "report.html")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert sample("report", "--md").out.startswith("# ")


def test_a_report_is_opened(sample: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    sample("report", "--open")
    assert opened == [(tmp_path / "report.html").as_uri()]
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_only_a_page_is_opened(sample: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    for options in (["-o", "a.json"], ["--format", "md"], ["--json"], ["--format", "html", "-o", "-"]):
        assert "--open shows a web page" in sample("report", "--open", *options, code=2).err
    sample("report", "--open", "-o", "mine.html")
    assert opened == [(tmp_path / "mine.html").as_uri()]
    assert [one.name for one in tmp_path.glob("*.*")] == ["mine.html"]


def test_a_comparison_fails_if_the_later_run_is_worse(own: Cli) -> None:
    same = own("compare", TRACE, TRACE, "--fail-on-regression")
    assert "rose" not in same.err
    before = own("report", "--json").out
    Path("before.json").write_text(before)
    own("fail", RIGHT, "A terrier")
    Path("after.json").write_text(own("report", "--json").out)
    assert "rose from 38% to 50%" in own("compare", "before.json", "after.json", "--exit-code", code=1).err
    own("compare", "after.json", "before.json", "--exit-code")


def test_what_an_attribution_would_take(sample: Cli) -> None:
    assert (
        "3 failures would be attributed by flow, which asks no model" in sample("attribute", "--all", "--dry-run").out
    )
    said = sample("attribute", "--all", "--llm", "--estimate", "--json").json
    assert said == {"failures": 3, "method": "llm", "asksModel": True}


def test_a_model_is_named_in_the_command(sample: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from attribution.llm.transport.settings import LlmSettings

    assert "MEMTRACE_LLM_BASE_URL is not set" in sample("why", FAILURE, "--model", "any", code=4).err
    from api.jobs.runner_options import runner_options

    def settings(model: str) -> LlmSettings:
        found = runner_options("walk", False, False, 4, model=model).llm
        assert found is not None
        return found

    assert (settings("ollama/small").model, settings("ollama/small").base_url) == ("small", "http://127.0.0.1:11434/v1")
    monkeypatch.setenv("MEMTRACE_LLM_BASE_URL", "http://elsewhere/v1")
    monkeypatch.setenv("MEMTRACE_LLM_MODEL", "other")
    assert (settings("any").model, settings("any").base_url) == ("any", "http://elsewhere/v1")
    assert settings("ollama/small").base_url == "http://elsewhere/v1"


def test_steps_are_followed(own: Cli) -> None:
    running = own.process("follow", "--json", "--last", "2", "--every", "0.1")
    assert running.stdout is not None
    try:
        first = [read_json(running.stdout.readline()) for _ in range(2)]
        assert [one["id"] for one in first] == [one["id"] for one in own("operations", "--last", "2", "--json").json]
        event = {"v": 1, "trace": "new", "time": "2030-01-31T12:00:00.000000Z", "operation": "one", "name": "search"}
        lines = [{**event, "type": "operationStarted", "kind": "Retrieval"}]
        Path("new.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
        own("import", "new.ndjson")
        assert read_json(running.stdout.readline())["name"] == "search"
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
    assert running.returncode == 130


def test_which_steps_are_new(
    own: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    event = {"v": 1, "trace": "new", "time": "2030-01-31T12:00:00.000000Z", "type": "operationStarted"}

    def record(number: int, kind: str) -> None:
        (tmp_path / "new.ndjson").write_text(
            json.dumps({**event, "operation": f"o{number}", "name": "x", "kind": kind}) + "\n"
        )
        own("import", "new.ndjson")

    record(1, "Retrieval")
    record(2, "Update")
    monkeypatch.setattr("api.cli.follow._MOST_TRACES", 1)

    async def read() -> list[list[str]]:
        async with Target(own.store).open() as store:
            all_, one, updates = Seen(store, None, []), Seen(store, None, []), Seen(store, None, ["Update"])
            found = [await seen.new(most) for seen, most in ((all_, None), (one, 1), (updates, None), (all_, None))]
            await asyncio.to_thread(record, 3, "Retrieval")
            found += [await seen.new() for seen in (all_, one, updates)]
            return [[step.external_id for _, step in some] for some in found]

    assert asyncio.run(read()) == [["o1", "o2"], ["o2"], ["o2"], [], ["o3"], ["o3"], []]
    told = capsys.readouterr().err
    assert told.count("The 1 newest of 2 traces are followed") == 3


def test_the_new_commands_are_in_the_help() -> None:
    assert {"follow", "backup"} <= set(told_of(get_command(command_line())))


def test_a_deletion_by_time_names_traces_that_were_written_to_since(own: Cli, tmp_path: Path) -> None:
    file = tmp_path / "old.ndjson"
    file.write_bytes(event_line("trace", "old", 1, name="old") + b"\n")
    own("import", file)
    told = own("delete", "--until", "2026-01-01", "--dry-run")
    assert "Would delete: 1 Trace" in told.out
    assert "1 trace began before, and got further data, verdicts or an import since" in told.err
    assert "further data" not in own("delete", "--until", "today", "--dry-run").err


def test_a_model_beside_the_method_that_asks_none(sample: Cli) -> None:
    for words in (("attribute", "--all"), ("why", "last")):
        assert "--method walk" in sample(*words, "--method", "flow", "--model", "small", code=2).err
