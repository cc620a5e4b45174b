"""A verb and a noun in either order, and options that users bring from other tools."""

from __future__ import annotations

import os

import pytest

from api.cli.pairs import ONE, RECORDED, SEVERAL, VERB_OF
from api.cli.phrases import understood
from tests.cli.conftest import SAMPLE, Cli

WRONG, FAILURE, UPDATE = "7a7b5616", "02df014d", "74199103"
LISTED = {"verdicts": "failures", "reports": "report", "keys": "keys list"}
"""Nouns whose list is a command of another name."""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(str(tmp_path_factory.mktemp("pairs") / "team.db"))
    cli("import", SAMPLE)
    cli("attribute", "--all")
    return cli


@pytest.mark.parametrize("noun", [noun for noun in SEVERAL if noun not in {"projects", "tokens"}])
@pytest.mark.parametrize("verb", [verb for verb, meant in VERB_OF.items() if meant in {"list", "show"}])
def test_every_verb_for_listing_lists_every_noun_in_both_orders(verb: str, noun: str) -> None:
    wanted = LISTED.get(SEVERAL[noun], SEVERAL[noun]).split()
    assert understood([verb, noun]) == understood([noun, verb]) == wanted


@pytest.mark.parametrize("noun", [noun for noun, kind in ONE.items() if kind in RECORDED])
def test_every_verb_for_showing_shows_every_noun_in_both_orders(noun: str) -> None:
    for verb in [verb for verb, meant in VERB_OF.items() if meant == "show"]:
        for words in ([verb, noun, WRONG], [noun, verb, WRONG]):
            assert understood(words)[0] in {"show", "trace"}
            assert understood(words)[-1] == WRONG


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("get verdicts -o json", "failures -o json"),
        ("describe 7a7b5616", "describe 7a7b5616"),
        ("traces describe", "traces"),
        ("log trace 53341c53", "operations 53341c53"),
        ("memory history memory-unit-12", "versions memory-unit-12"),
        ("history failure 02df014d", "labels history 02df014d"),
        ("keys add ann --role writer", "keys create ann --role writer"),
        ("key delete 1234abcd", "keys revoke 1234abcd"),
        ("history key 1234abcd", "keys list 1234abcd"),
        ("project delete demo --yes", "delete --all --project demo --yes"),
        ("show project demo", "stats --project demo"),
        ("count answers --json", "answers --json --count"),
        ("count traces", "stats"),
        ("count failures by type", "report"),
        ("messages create account", "messages create account"),
        ("search memory", "search memory"),
        ("trace log", "trace log"),
        ("log -n 5", "operations --descending -n 5"),
        ("list --wrong", "answers --wrong"),
        ("ls -q", "ls -q"),
        ("failures --web", "ui failures"),
        ("show 7a7b5616 --web", "ui 7a7b5616"),
        ("answers --version", "version"),
        ("-p 9000 ui", "ui -p 9000"),
    ],
)
def test_other_pairs(said: str, meant: str) -> None:
    assert understood(said.split()) == meant.split()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("rename trace 53341c53 x", "'rename trace': what was recorded is not changed"),
        ("memory delete memory-unit-12", "`memtrace delete TRACE`"),
        ("delete verdict 02df014d", "`memtrace verdict 02df014d --undo`"),
        ("project create demo2", "`memtrace --project demo2 run -- python app.py`"),
        ("list projects", "`memtrace stats --project NAME`"),
        ("stats --status error", "`memtrace operations --status error` has it"),
        ("answers --config x", "No command that lists or shows has it"),
        ("answers --page 2", "--limit N"),
        ("answers --format yaml", "there is table, json, jsonl, csv, markdown"),
    ],
)
def test_what_no_command_does_leads_to_what_does(sample: Cli, line: str, told: str) -> None:
    assert told in sample(*line.split(), code=2).err


def test_advice_never_names_a_command_that_changes_something(sample: Cli) -> None:
    for line in ("keys list --wrong", "sessions --wrong x", "show last --delete", "answers --undo"):
        told = sample(*line.split(), code=2).err
        assert not any(f"memtrace {word}" in told for word in ("fail", "unfail", "delete", "verdict"))


def test_wrong_answers_of_one_operation(sample: Cli) -> None:
    for said in (UPDATE, "update", "UPDATE", "memory_decision"):
        assert sample("failures", "--operation", said, "--ids").out.startswith(FAILURE)
        assert sample("answers", "--operation", said, "--count").out == "1\n"
    assert sample("failures", "--operation", "nothing", "--count").out == "0\n"
    assert "verdict" in sample("why", "--at-fault", "update").out


def test_without_an_id_the_newest_is_shown(sample: Cli) -> None:
    for command in ("why", "show", "trace", "check", "spine", "why-not", "closure"):
        shown = sample(command)
        assert shown.out == sample(command, "last").out
        assert f"the newest: memtrace {command} last" in shown.err
    assert "Usage" in sample("why", "--help").out
    assert sample("show", "--json").json == sample("show", "last", "--json").json


def test_two_runs_may_be_named_in_any_words(sample: Cli) -> None:
    def compared(*words: str) -> list[str]:
        return [line for line in sample("compare", *words).out.splitlines() if not line.startswith("| created")]

    plain = compared("53341c53", "assistant-sample")
    for first, second in (("--baseline", "--candidate"), ("--before", "--after"), ("--from", "--to")):
        assert compared(first, "53341c53", second, "assistant-sample") == plain
        assert compared(second, "assistant-sample", f"{first}=53341c53") == plain


def test_options_of_other_tools_that_change_nothing(sample: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = sample("answers").out
    for said in (
        "--no-color",
        "--no-pager",
        "--wide",
        "-l",
        "--no-trunc",
        "--yes",
        "--asc",
        "--color=always",
        "--color auto",
        "-p default",
    ):
        assert sample("answers", *said.split()).out == plain
    sample("answers", "--no-color")
    assert os.environ["NO_COLOR"] == "1"
    assert sample("answers", "-c").out == "8\n"
    assert sample("answers", "--order", "desc", "-q").out == sample("answers", "-r", "-q").out
    assert sample("traces", "--id", "assistant-sample", "-q").out == sample("traces", "-q").out


def test_the_direction_of_an_order_by_numbers_is_told(sample: Cli) -> None:
    assert "--sort -failures" in sample("prompts", "--sort", "failures").err
    assert not sample("prompts", "--sort", "-failures").err
    assert not sample("prompts", "--sort", "failures", "--json").err
