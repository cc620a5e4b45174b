"""What users type without the manual works, or says what to type."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.aliases import ALIASES, COMMAND_OF
from api.cli.context import DEFAULT_PROJECT
from api.cli.help import EXAMPLES, PANELS
from api.cli.main import command_line
from api.cli.unknown_words import ADVICE
from schema.kinds import OperationKind
from tests.cli.conftest import SAMPLE, Cli
from tests.factory import TraceBuilder

WRONG = "7a7b5616"  # the answer of the failure 02df014d
RIGHT = "0dd053a0"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(str(tmp_path_factory.mktemp("guesses") / "team.db"))
    cli("import", SAMPLE)
    cli("attribute", "--all")
    return cli


@pytest.mark.parametrize("reference", ["02df014d", WRONG, "query:assistant-qa-6@1"])
def test_a_failure_may_be_named_by_its_answer_or_question(sample: Cli, reference: str) -> None:
    for command in (["why"], ["attribute"], ["failures"], ["why-not"], ["spine"], ["report", "--failure"]):
        assert "pottery class" in sample(*command, reference).out, command
    assert sample("verdict", reference, "--history").code == 0


def test_a_trace_stands_for_its_failures(sample: Cli) -> None:
    assert len(sample("why", "assistant-sample", "--json").json) == 3
    assert len(sample("failures", "assistant-sample", "--json").json) == 3


def test_an_answer_that_is_not_wrong_says_how_to_mark_it(sample: Cli) -> None:
    for command in ("why", "failures", "why-not", "spine"):
        assert f'memtrace fail {RIGHT} "the right answer"' in sample(command, RIGHT, code=4).err
    assert "memtrace answers" in sample("why", "memory-unit-12@1", code=4).err
    assert "no failure, answer or trace 'nothing'" in sample("why", "nothing", code=3).err


def test_failures_of_a_type(sample: Cli) -> None:
    for word in ("RetrievalError", "retrieval error"):
        (failure,) = sample("failures", "--type", word, "--json").json
        assert failure["question"] == "What is Mara allergic to?"
    assert "No failure is of this kind" in sample("failures", "--type", "DeletionError").err
    assert "did you mean RetrievalError?" in sample("failures", "--type", "retrival", code=2).err


def test_answers_that_are_wrong_or_right(sample: Cli) -> None:
    wrong = sample("answers", "--wrong", "--json").json
    right = sample("answers", "--right", "--json").json
    assert (len(wrong), len(right), len(sample("answers", "--json").json)) == (3, 5, 8)
    assert not {one["id"] for one in wrong} & {one["id"] for one in right}
    few = sample("answers", "--right", "--limit", "2", "--json")
    assert [one["id"] for one in few.json] == [one["id"] for one in right[:2]]
    assert "more than 2" in few.err


def test_search_for_a_kind(sample: Cli) -> None:
    for whole in ([], ["--whole"]):
        found = sample("search", "pottery", "--kind", "memoryunit", "--limit", "2", *whole, "--json").json
        assert [hit["kind"] for hit in found] == ["MemoryUnit", "MemoryUnit"]


def test_versions_by_the_name_alone(sample: Cli) -> None:
    assert [one["version"] for one in sample("versions", "memory-unit-12", "--json").json] == [1, 2]


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("assistant-sample", "MemoryAgent mara"),
        ("memory-unit-12", "kind            MemoryUnit"),
        ("74199103", "update_memory_decision"),
        ("02df014d", "judged wrong by"),
    ],
)
def test_show_shows_whatever_it_is(sample: Cli, reference: str, shown: str) -> None:
    assert shown in sample("show", reference).out
    assert sample("show", reference, "--json").json
    sample("show", "nothing", code=3)


def test_compare_takes_traces_and_reports(sample: Cli, tmp_path: Path) -> None:
    report = tmp_path / "before.json"
    sample("report", "--json", "-o", report)
    for before in ("assistant-sample", report):
        assert "3 still wrong" in sample("compare", before, "assistant-sample").out


def test_the_store_may_be_a_path(sample: Cli) -> None:
    assert sample.store.startswith("/")
    assert sample("traces", "--json").json
    assert "there is no store" in sample.plain("--store", "no-such.db", "traces", code=5).err
    assert "neither" in sample.plain("--store", "http://host", "traces", code=2).err


def test_fail_takes_the_right_answer_beside_the_id(sample: Cli) -> None:
    assert sample("fail", "bbcdc006", "No", "--json").json["goldAnswers"] == ["No"]
    assert sample("fail", "bbcdc006", "No", "--gold", "She left", "--json").json["goldAnswers"] == ["No", "She left"]
    question = sample("fail", "bbcdc006", "Yes", "--json").json["questionId"]
    assert sample("fail", question, "Never", "--json").json["goldAnswers"] == ["Never"]
    sample("unfail", "bbcdc006", "--yes")


def test_fail_alone_lists_the_last_answers(sample: Cli) -> None:
    listed = sample("fail", code=2)
    assert WRONG in listed.out
    assert 'memtrace fail ID "the right answer"' in listed.err


def test_what_to_do_where_there_is_nothing(tmp_path: Path) -> None:
    empty = Cli(str(tmp_path / "empty.db"))
    empty("migrate")
    assert "memtrace run -- python app.py" in empty("traces").err
    assert "memtrace fail ID" in empty("answers").err
    assert "memtrace answers" in empty("failures").err
    assert "memtrace answers" in empty("attribute", "--all").err
    assert "memtrace search" in empty("fail", code=2).err


def test_every_command_has_a_panel_and_an_example_that_parses() -> None:
    app = command_line()
    groups = {group.name for group in app.registered_groups if group.name}
    named = {name for names in PANELS.values() for name in names}
    assert named - groups == EXAMPLES.keys()
    from typer.main import get_command

    whole = get_command(app)
    for name, example in EXAMPLES.items():
        words = shlex.split(example)
        assert words[:2] == ["memtrace", name]
        sub = whole.get_command(None, name)  # type: ignore[attr-defined]
        with sub.make_context(name, words[2:], resilient_parsing=False):
            pass


def test_aliases_are_commands_and_stand_in_the_help(sample: Cli) -> None:
    from typer.main import get_command

    whole = get_command(command_line())
    names = set(whole.commands)  # type: ignore[attr-defined]
    assert ALIASES.keys() <= names
    assert not names & (COMMAND_OF.keys() | ADVICE.keys())
    assert not COMMAND_OF.keys() & ADVICE.keys()
    listed = " ".join(sample("help").out.replace("│", " ").split())
    for name, aliases in ALIASES.items():
        assert f"(also: {', '.join(aliases)})" in listed, name


@pytest.mark.parametrize(
    ("guess", "command"),
    [
        (["ls"], ["traces"]),
        (["questions"], ["answers"]),
        (["explain", WRONG], ["why", WRONG]),
        (["errors"], ["failures"]),
        (["find", "pottery"], ["search", "pottery"]),
        (["history", "memory-unit-12"], ["versions", "memory-unit-12"]),
        (["diff", "memory-unit-12"], ["versions", "memory-unit-12"]),
        (["inspect", "74199103"], ["show", "74199103"]),
        (["where"], ["stats"]),
        (["graph", WRONG], ["closure", WRONG]),
        (["blame"], ["blame", "--by", "operation"]),
        (["query", "SELECT 1 AS one"], ["sql", "SELECT 1 AS one"]),
    ],
)
def test_another_name_does_the_same(sample: Cli, guess: list[str], command: list[str]) -> None:
    assert sample(*guess).out == sample(*command).out != ""


def test_a_word_that_is_no_command_leads_to_one(sample: Cli) -> None:
    assert f"did you mean `memtrace closure {WRONG}`?" in sample("closur", WRONG, code=2).err
    assert f"`memtrace replay {WRONG}`" in sample("fix", WRONG, code=2).err
    assert "memtrace ui" in sample("start", code=2).err
    unknown = sample("xyzzy", code=2).err
    assert "did you mean" not in unknown
    assert "memtrace help" in unknown


def test_the_advice_for_a_mistyped_word_runs_as_it_stands(sample: Cli) -> None:
    """A command that takes no words gets none."""
    assert "did you mean `memtrace doctor`?" in sample("doctr", WRONG, code=2).err
    assert "did you mean `memtrace report --json`?" in sample("reportt", "--json", code=2).err


def test_a_word_of_the_help_leads_to_the_commands_that_speak_of_it(sample: Cli) -> None:
    told = sample("ranked", code=2).err
    assert "`memtrace blame`: rank operations, prompts, memory units or sessions" in told
    assert told.count("`memtrace ") == 1
    assert "memtrace help" in sample("the", code=2).err  # every help has it


def test_an_unknown_word_with_an_id_says_what_shows_the_id(sample: Cli) -> None:
    assert f"`memtrace show {WRONG}`" in sample("xyzzy", WRONG, code=2).err
    assert "memtrace help" in sample("xyzzy", "pottery", code=2).err


@pytest.mark.parametrize("word", sorted(ADVICE))
def test_advice_names_commands_that_there_are(word: str) -> None:
    from typer.main import get_command

    whole = get_command(command_line())
    for said in re.findall(r"`memtrace ([^`]+)`", ADVICE[word]):
        words = shlex.split(said)
        words = words[2:] if words[0] == "--project" else words
        assert words[0] == "--help" or words[0] in whole.commands, said  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["memory_system.extract_facts", "extract_facts"])
def test_a_name_of_several_operations_lists_command_lines_to_copy(sample: Cli, name: str) -> None:
    ids = [one["id"][:8] for one in sample("operations", "--kind", "Extraction", "--json").json]
    for command in (["operation"], ["show"], ["closure", "--direction", "forward"]):
        lines = sample(*command, name, code=2).err.splitlines()
        assert "ambiguous" in lines[0]
        assert len(lines) > 2
        for line in lines[1:]:
            said, _, what = line.partition(" # ")
            words = shlex.split(said)
            assert words[:4] == ["memtrace", "--store", sample.store, command[0]]
            assert set(words[4:]) - set(command) <= set(ids)
            assert what.startswith("operation memory_system.extract_facts of trace ")
            assert sample(*words[3:]).out


def test_the_name_of_a_single_operation_is_enough(stored: Callable[[TraceBuilder], Cli]) -> None:
    told = TraceBuilder(DEFAULT_PROJECT)
    only = told.operation("only", kind=OperationKind.UPDATE, name="Agent.merge")
    told.operation("other", kind=OperationKind.UPDATE, name="Agent.submerge")
    cli = stored(told)
    for command in ("operation", "show"):
        assert only.id in cli(command, "merge").out
    assert "no operation 'erge'" in cli("operation", "erge", code=3).err


def test_help_of_a_command_of_an_alias_and_of_a_command_in_a_group(sample: Cli) -> None:
    assert "memtrace why 7a7b5616" in sample("help", "why").out
    assert "memtrace why 7a7b5616" in sample("help", "explain").out
    assert "A second variable" in sample("help", "diff").out
    assert "The earlier report" in sample("help", "report", "compare").out
    assert "there is no command 'wy'" in sample("help", "wy", code=2).err
    assert sample("version").out == sample("--version").out


def test_last_is_the_newest_failure(sample: Cli) -> None:
    (newest,) = sample("failures", "--sort", "time", "--descending", "--limit", "1", "--json").json
    for command in ("why", "failures", "why-not", "spine"):
        assert newest["question"] in sample(command, "last").out


def test_a_limit_of_failures_says_that_there_are_more(sample: Cli) -> None:
    some = sample("failures", "--limit", "2", "--json")
    assert (len(some.json), "more than 2" in some.err) == (2, True)
    assert "more than" not in sample("failures", "--limit", "3").err


def test_answers_with_a_text(sample: Cli) -> None:
    found = sample("answers", "--search", "POTTERY", "--json").json
    assert {one["question"] for one in found} == {
        "'Where does Mara take her pottery class?'",
        '"On which day of the week is Mara\'s pottery class?"',
    }
    assert len(sample("answers", "--search", "pottery", "--wrong", "--json").json) == 1
    assert "no such answer" in sample("answers", "--search", "zebra").err


def test_units_are_what_the_memory_holds(sample: Cli) -> None:
    held = sample("units", "--json").json
    assert len({one["name"] for one in held}) == len(held)
    everything = sample("variables", "--kind", "MemoryUnit", "--limit", "0", "--json").json
    newest = {one["name"]: one["version"] for one in everything}
    assert {one["name"]: one["version"] for one in held}.items() <= newest.items()
    assert "Mara: I moved from my flat in Leeds to a cottage in Whitby." in sample("memory").out
    rows = list(csv.DictReader(io.StringIO(sample("units", "--format", "csv", "--limit", "2").out)))
    assert [row["id"] for row in rows] == [one["id"] for one in held[:2]]


def test_messages_are_listed_by_what_they_say(sample: Cli) -> None:
    shown = sample("messages", "--limit", "2")
    assert "Hello, nice to meet you! I live in a flat in Leeds." in shown.out
    assert "content" not in shown.out
    assert "more than 2" in shown.err


def test_a_path_has_two_ends(sample: Cli) -> None:
    told = sample("path", WRONG, code=2).err
    assert f"memtrace why {WRONG}" in told
    assert f"memtrace closure {WRONG}" in told


def test_what_was_not_chosen_of_some_words(sample: Cli) -> None:
    assert "pottery class" in sample("why-not", WRONG, "evenings at").out
    assert sample("why-not", WRONG, "zebra", "--json").json == []
