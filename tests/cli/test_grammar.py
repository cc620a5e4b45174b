"""What is the same for all listings, and what an id means for a command that wants something of another kind."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from api.cli.filters import Has
from api.cli.main import command_line
from api.cli.option_names import options_in_words, options_of
from tests.attribution.benchmark.sample import write_benchmark
from tests.cli.conftest import SAMPLE, Cli

WRONG, FAILURE, QUESTION = "7a7b5616", "02df014d", "433d3ad1"
RIGHT = "0dd053a0"
MADE_ANSWER = "7b22c692"  # the operation that made the wrong answer
UNIT = "memory-unit-12"
LISTINGS = {
    "answers": set(Has),
    "failures": {Has.TRACE, Has.TEXT, Has.TIME, Has.VERDICT},
    "traces": {Has.TRACE, Has.TEXT, Has.TIME},
    "sessions": {Has.TRACE, Has.TEXT, Has.TIME},
    "operations": {Has.TRACE, Has.TEXT, Has.TIME},
    "variables": {Has.TRACE, Has.TEXT, Has.TIME},
    "messages": {Has.TRACE, Has.TEXT, Has.TIME},
    "units": {Has.TRACE, Has.TEXT, Has.TIME},
    "prompts": {Has.TRACE, Has.TEXT},
    "blame": {Has.TRACE, Has.TEXT},
    "search": {Has.TRACE, Has.TEXT, Has.TIME},
    "versions": {Has.TRACE, Has.TEXT, Has.TIME},
}
"""The commands that list things, and the properties of the things."""
OPTIONS = {
    Has.TRACE: {"--trace"},
    Has.TEXT: {"--search"},
    Has.TIME: {"--since", "--until"},
    Has.JUDGEMENT: {"--wrong", "--right", "--unjudged"},
    Has.VERDICT: {"--type", "--decided", "--undecided", "--labelled", "--unlabelled"},
}
EVERY = {"--sort", "--descending", "--limit", "--last", "--by", "--count", "--ids", "-q", "--format", "--json"}
SAID = {"search": ["search", "pottery"], "versions": ["versions", UNIT]}
COMMANDS = [SAID.get(name, [name]) for name in LISTINGS]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(str(tmp_path_factory.mktemp("grammar") / "team.db"))
    cli("import", SAMPLE)
    cli("attribute", "--all")
    return cli


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [one.get("id") or one["variableId"] for one in found]


def test_every_listing_has_the_options_of_what_it_lists() -> None:
    """A command with one of these options is a listing, so no listing is forgotten here."""
    whole: Any = get_command(command_line())
    context = whole.make_context("memtrace", ["help"], resilient_parsing=True)
    found = {name: set(options_of(one, context)) for name, one in whole.commands.items()}
    assert {name for name, options in found.items() if "--count" in options} == LISTINGS.keys()
    for name, has in LISTINGS.items():
        wanted = EVERY | {option for one in has for option in OPTIONS[one]}
        assert wanted <= found[name], name
        own = {"--wrong"} if name == "traces" else set()
        assert not (found[name] - own) & {option for one in set(Has) - has for option in OPTIONS[one]}, name


@pytest.mark.parametrize("command", ["keys", "dlq", "annotate queue", "labels"])
def test_lists_of_groups_have_the_same_options(command: str) -> None:
    found: Any = get_command(command_line())
    context = found.make_context("memtrace", ["help"], resilient_parsing=True)
    for name in command.split():
        found = found.commands[name]
    one = found.commands["history" if command == "labels" else "list"]
    assert EVERY | OPTIONS[Has.TEXT] | OPTIONS[Has.TIME] <= set(options_of(one, context))


def test_what_people_made_is_listed_like_everything_else(sample: Cli) -> None:
    sample("keys", "create", "ann")
    sample("keys", "create", "bob", "--role", "writer")
    assert [one["name"] for one in sample("keys", "list", "writer", "--json").json] == ["bob"]
    assert sample("keys", "--sort", "name", "--columns", "name,role").out.split() == [
        *("name,role", "ann,reader", "bob,writer"),
    ]
    assert sample("keys", "list", "--until", "2026-11-01", "--count").out == "0\n"
    sample("annotate", "queue", "create", "first")
    (counted,) = sample("annotate", "queue", "list", "first", "--by", "closedAt", "--json").json
    assert counted == {"closedAt": None, "count": 1}
    assert sample("annotate", "queue", "list", "second", "--count").out == "0\n"
    sample("annotate", "queue", "delete", "first", "--yes")
    said = ["--type", "RetrievalError", "--operation", "220f2d4d", "--reason", "It was there."]
    sample("verdict", "16cb8beb", *said, "--author", "ann")
    for listed in (["verdict", "16cb8beb", "--history"], ["labels", "history"], ["labels", "history", "last", "there"]):
        (change,) = sample(*listed, "--json").json
        assert (change["changedBy"], change["verdict"]["errorType"]) == ("ann", "RetrievalError")
    assert sample("labels", "history", "--since", "2126-01-01", "--count").out == "0\n"
    assert sample("labels", "history", RIGHT, code=4).err
    sample("verdict", "16cb8beb", "--undo", "--author", "ann")


@pytest.mark.parametrize(
    ("typed", "kind", "name"),
    [
        (f"context {WRONG}", "Context", None),
        (f"prompt {FAILURE}", "Prompt", "question-answering-prompt"),
        (f"question {WRONG}", "Query", "assistant-qa-6"),
        (f"retrieval {WRONG}", "Retrieval", "memory_system.search_memory"),
        (f"show {UNIT} --kind update", "Update", "memory_system.update_memory_decision"),
        (f"answer {QUESTION}", "Answer", None),
        ("generation 53341c53", "Generation", "question-answering"),
    ],
)
def test_a_kind_before_an_id_shows_what_led_to_it(sample: Cli, typed: str, kind: str, name: str | None) -> None:
    shown = sample(*typed.split(), "--json").json
    assert shown["kind"] == kind
    assert name in {None, shown["name"]}


def test_several_of_a_kind_are_listed(sample: Cli) -> None:
    assert {one["kind"] for one in sample("unit", WRONG, "--json").json} == {"MemoryUnit"}
    assert "the nearest: 3 MemoryUnits" in sample("unit", WRONG).err
    assert "nothing of the kind Deletion" in sample("show", RIGHT, "--kind", "deletion", code=2).err


def test_units_that_were_deleted_are_listed(sample: Cli) -> None:
    (gone,) = sample("units", "--deleted", "--json").json
    assert "Hartley" in gone["preview"]
    assert gone["id"] not in ids(sample("units", "--json").json)
    assert sample("units", "deleted", "--count").out == "1\n"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_list_is_cut_sorted_counted_and_written_in_one_way(sample: Cli, command: list[str], tmp_path: Path) -> None:
    whole = sample(*command, "--limit", "0", "--json").json
    assert whole
    assert sample(*command, "--count").out == f"{len(whole)}\n"
    assert sample(*command, "-q", "--limit", "0").out.split() == ids(whole)
    assert sample(*command, "-n", "1", "--json").json == whole[:1]
    last = max(whole, key=lambda one: one["createdAt"]) if command == ["failures"] else whole[-1]
    assert sample(*command, "--last", "1", "--json").json == [last]
    assert ids(sample(*command, "--descending", "--limit", "0", "--json").json) == ids(whole)[::-1]
    column = "variableId" if "variableId" in whole[0] else "id"
    assert ids(sample(*command, "--sort", column, "--limit", "0", "--json").json) == sorted(ids(whole))
    rows = list(csv.DictReader(io.StringIO(sample(*command, "--columns", column, "-n", "2").out)))
    assert [row[column] for row in rows] == ids(whole)[:2]
    lines = sample(*command, "--format", "jsonl", "--fields", column, "-n", "2").out.splitlines()
    assert [json.loads(line)[column] for line in lines] == ids(whole)[:2]
    sample(*command, "-o", tmp_path / "list.md", "-n", "2")
    table = (tmp_path / "list.md").read_text("utf-8").splitlines()
    assert [line.split(" | ")[0].lstrip("| ") for line in table[2:4]] == ids(whole)[:2]
    if command != ["blame"]:  # its --by says what is ranked
        counted = sample(*command, "--by", column, "--json").json
        assert sorted(one[column] for one in counted) == sorted(ids(whole))
    assert "there is no column 'colour'" in sample(*command, "--sort", "colour", code=2).err


@pytest.mark.parametrize("command", [one for one in COMMANDS if one[0] not in {"prompts", "blame"}], ids=" ".join)
def test_a_list_is_narrowed_to_a_time(sample: Cli, command: list[str]) -> None:
    """The sample was made on 22 November 2026."""
    assert sample(*command, "--since", "2026-11-22", "--until", "2026-11-22", "--count").out != "0\n"
    for outside in (["--since", "2126-01-01"], ["--until", "2026-11-21"], ["--on", "2026-11-20"]):
        assert sample(*command, *outside, "--count").out == "0\n"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_word_after_a_list_is_looked_for(sample: Cli, command: list[str]) -> None:
    assert sample(*command, "zebra", "--count").out == "0\n"
    assert sample(*command, "--search", "zebra", "--count").out == "0\n"
    assert sample(*command, "--user", "mara", "--count").out == sample(*command, "--count").out


def test_all_words_must_be_contained_in_any_order(sample: Cli) -> None:
    found = sample("units", "thursday", "pottery", "--json").json
    assert found == []
    (unit,) = sample("units", "HOUSE", "pottery", "--json").json
    assert unit["name"] == UNIT


@pytest.mark.parametrize(
    ("command", "id_", "listed"),
    [
        ("answers", WRONG, 1),
        ("answers", FAILURE, 1),
        ("answers", QUESTION, 1),
        ("failures", WRONG, 1),
        ("failures", QUESTION, 1),
        ("operations", MADE_ANSWER, 1),
        ("traces", "53341c53", 1),
        ("operations", WRONG, 104),
        ("messages", MADE_ANSWER, 40),
        ("answers", "53341c53", 8),
        ("failures", "53341c53", 3),
    ],
)
def test_an_id_after_a_list_lists_this_thing_or_its_trace(sample: Cli, command: str, id_: str, listed: int) -> None:
    assert sample(command, id_, "--count").out == f"{listed}\n"


def test_filters_stand_together(sample: Cli) -> None:
    assert sample("failures", WRONG, "--type", "UpdateError", "--json").json
    assert not sample("failures", WRONG, "--type", "RetrievalError", "--json").json
    assert sample("failures", "pottery", "--decided", "--count").out == "1\n"
    assert sample("failures", "--undecided", "--count").out == sample("answers", "--undecided", "--count").out == "0\n"
    assert sample("answers", "--decided", "--count").out == "3\n"
    assert sample("answers", "--unjudged", "--count").out == "0\n"
    assert sample("answers", "--unverified", "--right", "--count").out == "0\n"
    assert sample("answers", "pottery", "--wrong", "--type", "update", "--count").out == "1\n"


def test_things_are_counted_by_a_column(sample: Cli) -> None:
    counts = {one["verdict"]: one["count"] for one in sample("failures", "--by", "type", "--json").json}
    assert counts == {"UpdateError": 1, "RetrievalError": 1, "ExtractionError": 1}
    shown = sample("operations", "--group-by", "kind").out.split()
    assert shown[:6] == ["kind", "count", "Extraction", "40", "Update", "40"]
    assert sample("answers", "--by", "verdict", "--csv").out.splitlines()[:2] == ["verdict,count", ",5"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (f"value {FAILURE}", f"value {WRONG}"),
        ("value 53341c53", "value last"),
        (f"value {UNIT}", f"value {UNIT}@2"),
        ("value walnuts", "value memory-unit-04"),
        (f"operation {WRONG}", f"operation {MADE_ANSWER}"),
        (f"operation {FAILURE}", f"operation {MADE_ANSWER}"),
        (f"trace {WRONG}", "trace last"),
        (f"export {FAILURE}", "export last"),
        (f"why {MADE_ANSWER}", f"why {FAILURE}"),
        (f"spine {MADE_ANSWER}", f"spine {FAILURE}"),
        ("spine assistant-sample", "spine last"),
        (f"closure {UNIT}", f"closure {UNIT}@2"),
        ("history pottery", f"versions {UNIT}"),
        (f"diff {UNIT} 1 2", f"diff {UNIT}@1 {UNIT}@2"),
        ("stats last", "stats --trace last"),
        ("why --type retrieval", "why 16cb8beb"),
        ("why --trace last --last 1", "why last"),
    ],
)
def test_a_thing_leads_to_what_a_command_wants(sample: Cli, typed: str, meant: str) -> None:
    expected = sample(*meant.split()).out
    assert expected
    assert sample(*typed.split()).out == expected


def test_a_verdict_leads_to_its_failure_answer_and_operation(sample: Cli) -> None:
    (verdict,) = sample("why", FAILURE, "--json").json
    id_ = verdict["id"]
    assert sample("show", id_).out == sample("show", FAILURE).out
    assert sample("why", id_).out == sample("why", FAILURE).out
    assert sample("value", id_).out == sample("value", WRONG).out
    assert sample("operation", id_, "--json").json["id"] == verdict["operationId"]
    refused = sample("unfail", FAILURE, "--yes", code=4).err
    assert sample("unfail", id_, "--yes", code=4).err.endswith(refused)


def test_a_note_names_what_is_meant(sample: Cli) -> None:
    assert f"{FAILURE} is of the kind Failure; meant is its Answer {WRONG}." in sample("value", FAILURE).err
    assert sample("value", WRONG).err == ""


def test_what_may_mean_several_things_names_each(sample: Cli) -> None:
    told = sample("value", "74199103", code=2).err.splitlines()
    assert "'74199103' is ambiguous" in told[0]
    assert all(" value " in line for line in told[1:])
    assert len(told) > 2


def test_what_is_deleted_or_judged_is_never_guessed(sample: Cli) -> None:
    told = sample("delete", WRONG, "--yes", code=3).err
    assert "no trace" in told
    assert "Only a whole trace can be deleted: memtrace delete 53341c53" in told
    assert "no terminal to ask at" in sample("delete", "53341c53", code=2).err
    assert "no variable" in sample("right", "53341c53", code=3).err
    assert sample("fail", "walnuts", "Yes", code=3).err
    assert "no failure" in sample("verdict", "53341c53", "--type", "UpdateError", "--reason", "x", code=3).err


def test_an_unknown_option_names_the_whole_line_that_has_it(sample: Cli) -> None:
    told = sample("check", "--since", "7 days ago", code=2).err
    assert "`memtrace answers --since '7 days ago'`" in told
    assert "No command that lists or shows has it" in sample("answers", "--colour", "red", code=2).err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("answers 3", "answers --limit 3"),
        ("failures decided", "failures --decided"),
        ("answers since 2026-11-20", "answers --since 2026-11-20"),
        ("operations by kind", "operations --by kind"),
        ("units pottery count", "units pottery --count"),
        ("operations kind retrieval", "operations --kind retrieval"),
        ("check --all", "check last"),
        ("export", "export last"),
    ],
)
def test_a_filter_may_be_said_as_a_word(sample: Cli, typed: str, meant: str) -> None:
    assert sample(*typed.split()).out == sample(*meant.split()).out != ""


def test_words_of_a_listing_become_options_only_where_it_has_them() -> None:
    options = {"--since": True, "--until": True, "--wrong": False, "--limit": True, "--search": True, "--trace": True}
    for words, found in (
        ("today", "--today"),
        ("pottery yesterday", "pottery --yesterday"),
        ("since 2h wrong", "--since 2h --wrong"),
        ("user mara", "--user mara"),
        ("--search today", "--search today"),
        ("-s wrong", "-s wrong"),
        ("since", "since"),
        ("since --wrong", "since --wrong"),
        ("undecided by verdict", "undecided by verdict"),
        ("12", "--limit 12"),
        ("12 pottery", "12 pottery"),
        ("12345", "12345"),
        ("-- today", "-- today"),
    ):
        assert options_in_words(words.split(), options) == found.split()


def test_an_only_trace_need_not_be_named(cli: Cli, tmp_path: Path) -> None:
    cli("migrate")
    assert "memtrace run -- python app.py" in cli("export", code=2).err
    assert "memtrace run -- python app.py" in cli("check", "--all", code=2).err
    cli("import", SAMPLE)
    other = tmp_path / "other.json"
    other.write_bytes(SAMPLE.read_bytes().replace(b"assistant-sample", b"another-sample"))
    cli("import", other)
    assert "memtrace export last" in cli("export", code=2).err
    assert cli("check", "--all").out.count("Nothing is missing in") == 2
    cli("import", write_benchmark(tmp_path))
    each = {one["id"]: cli("check", one["id"], "--json").json for one in cli("traces", "--json").json}
    assert cli("check", "--all", "--json").json == [
        {"traceId": id_} | one for id_, all_ in each.items() for one in all_
    ]
    assert "leave out the TRACE" in cli("check", "assistant-sample", "--all", code=2).err
