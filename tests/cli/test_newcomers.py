"""Command lines that newcomers typed do what the newcomers meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SAMPLE, Cli

WRONG = "7a7b5616"  # the answer of the failure 02df014d
UPDATE = "74199103"  # the update that lost the day
UNIT = "memory-unit-12"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(str(tmp_path_factory.mktemp("newcomers") / "team.db"))
    cli("import", SAMPLE)
    cli("attribute", "--all")
    return cli


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (f"impact {UPDATE}", f"closure {UPDATE} --direction forward"),
        (f"impact {UPDATE} --json", f"closure {UPDATE} --direction forward --json"),
        (f"graph {WRONG} --depth 1", f"closure {WRONG} --max-hops 1"),
        (f"closure {UPDATE} --forward", f"closure {UPDATE} --direction forward"),
        ("nodes last", "operations last"),
        (f"node {UPDATE}", f"show {UPDATE}"),
        (f"unit {UNIT} versions", f"versions {UNIT}"),
        (f"operation {UPDATE} closure", f"closure {UPDATE}"),
        ("answers --thread assistant-sample", "answers --trace assistant-sample"),
        (f"why {WRONG} --raw", f"why {WRONG}"),
        ("why last --alternatives", "why last"),
        ("failures --unverified", "failures --unlabelled"),
        (f"memory --at {WRONG}", f"units --at {WRONG}"),
        (f"memory {WRONG}", f"units --at {WRONG}"),
        ("why all", "attribute --all"),
        ("blame last", "blame --trace last"),
        ("traces --search mara", "traces mara"),
        ("answers --verdict update", "answers --type UpdateError"),
    ],
)
def test_what_was_typed_gives_what_was_meant(sample: Cli, typed: str, meant: str) -> None:
    expected = sample(*meant.split())
    assert expected.out
    assert sample(*typed.split()).out == expected.out


def test_a_failure_taken_back_by_an_option(sample: Cli) -> None:
    # The failures of the sample are a judge's, which nobody can take back.
    assert "can be withdrawn" in sample("fail", "--undo", WRONG, "--yes", code=4).err


def test_what_the_memory_held_at_a_moment(sample: Cli) -> None:
    def held(*at: str) -> dict[str, int]:
        return {one["name"]: one["version"] for one in sample("units", *at, "--json").json}

    at_the_end = held()
    assert at_the_end[UNIT] == 2
    assert held("--at", "last") == at_the_end
    made = sample("versions", UNIT, "--json").json
    before = held("--at", made[0]["operationId"])
    assert before[UNIT] == 1
    assert len(before) < len(at_the_end)
    message = sample("messages", "--json").json[0]["id"]
    assert held("--at", message) == {}
    assert "no variable, operation or failure" in sample("units", "--at", "zebra", code=3).err


def test_an_id_beside_searched_words_is_a_place(sample: Cli) -> None:
    everywhere = sample("search", "pottery", "--json").json
    for id_ in (WRONG, UPDATE, "02df014d"):
        found = sample("search", "pottery", id_, "--json")
        assert found.json == everywhere != []
        assert f"{id_} is of the kind" in found.err
        assert "its trace 53341c53." in found.err
    assert sample("search", "7a7b5616", "--json").err == ""


def test_the_verdict_that_counts_is_a_member_of_a_failure(sample: Cli) -> None:
    for failure in sample("failures", "--json").json:
        assert failure["verdict"] == failure["verdicts"][-1]["errorType"]
        assert failure["verdict"] is not None


def test_failures_with_a_verdict_of_a_person(sample: Cli) -> None:
    assert sample("failures", "--labelled", "--json").json == []
    everything = len(sample("failures", "--json").json)
    sample("verdict", WRONG, "--type", "UpdateError", "--operation", UPDATE, "--reason", "It lost the day.")
    (judged,) = sample("failures", "--labelled", "--json").json
    assert judged["answerId"].startswith(WRONG)
    assert len(sample("failures", "--unlabelled", "--json").json) == everything - 1


def test_a_unit_is_not_wrong_but_has_a_history(sample: Cli) -> None:
    told = sample("why", UNIT, code=4).err
    assert "memtrace versions c6764584" in told
    assert "ambiguous" not in told
    assert sample("closure", "c6764584", "--direction", "forward", "--kind", "Answer").out


def test_the_texts_of_two_answers_say_that_they_are_texts(sample: Cli) -> None:
    told = sample("memory", "diff", WRONG, "bbcdc006").err
    assert f"memtrace units --at {WRONG}; memtrace units --at bbcdc006" in told
    assert sample("diff", f"{UNIT}@1", f"{UNIT}@2").err == ""


def test_chosen_columns(sample: Cli) -> None:
    everything = sample("failures", "--json").json
    table = sample("failures", "--fields", "id,question,verdict", "--csv").out.splitlines()
    assert table[0] == "id,question,verdict"
    assert table[1:] == [f"{one['id']},{one['question']},{one['verdict']}" for one in everything]
    assert sample("failures", "--columns", "ID,Question,verdict").out.splitlines() == table
    found = sample("answers", "--columns=question, id", "--json").json
    assert [list(one) for one in found] == [["question", "id"]] * 8
    for form in ("--csv", "--json"):
        told = sample("answers", "--columns", "questions", form, code=2).err
        assert "no column 'questions': did you mean question?" in told
    assert "needs the names" in sample("answers", "--columns", "--json", code=2).err
    assert sample("answers", "--json").json != found


def test_json_with_an_object_a_line(sample: Cli, tmp_path: Path) -> None:
    everything = sample("answers", "--json").json
    for said in (["--jsonl"], ["--format", "jsonl"], ["--format=jsonl"], ["-f", "jsonl"]):
        assert [json.loads(line) for line in sample("answers", *said).out.splitlines()] == everything
    sample("answers", "-o", tmp_path / "a.jsonl", "--columns", "id")
    lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [{"id": one["id"]} for one in everything]
    assert sample("answers", "zebra", "--jsonl").out == ""


def test_answers_of_an_error_type(sample: Cli) -> None:
    (found,) = sample("answers", "--type", "UpdateError", "--json").json
    assert found["id"].startswith(WRONG)
    assert "There is no such answer" in sample("answers", "--type", "DeletionError").err


def test_operations_that_failed_and_a_list_as_a_file(
    sample: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no such operations" in sample("operations", "--failed").err
    assert sample("summary", WRONG).out.startswith("# Why answers were wrong")
    monkeypatch.chdir(tmp_path)
    sample("export", "failures.csv")
    assert len((tmp_path / "failures.csv").read_text("utf-8").splitlines()) == 4


def test_a_picture_is_drawn_or_the_command_that_draws_it_is_named(sample: Cli, tmp_path: Path) -> None:
    file = tmp_path / "past.svg"
    sample("spine", WRONG, "-o", file)
    drawn = file.read_text("utf-8")
    assert drawn.startswith("<svg")
    sample("spine", WRONG, "--svg", file)
    assert file.read_text("utf-8") == drawn
    assert "Mara's pottery class" in sample("graph", WRONG, "-o", file).err
    assert file.read_text("utf-8") == drawn
    other = tmp_path / "other.png"
    told = sample("graph", WRONG, "-o", other, code=2).err
    assert f"memtrace spine {WRONG} --svg {other.with_suffix('.svg')}" in told
    assert not other.exists()


def test_the_prompt_of_the_last_answer_is_not_that_of_a_judge(sample: Cli) -> None:
    found = sample("prompt", "last", "--json").json
    assert (found["kind"], found["name"]) == ("Prompt", "question-answering-prompt")
