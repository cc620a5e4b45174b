"""`memtrace verdict` and `memtrace labels`: people's verdicts, recorded by hand and from files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.cli.context import DEFAULT_PROJECT
from store.open import open_database
from tests.attribution.benchmark.sample import SAMPLE, truth
from tests.cli.conftest import Cli
from tests.contract.samples import assistant
from tests.factory import TraceBuilder


@pytest.fixture
def notes(stored: Callable[[TraceBuilder], Cli]) -> Cli:
    return stored(assistant(DEFAULT_PROJECT))


def failure_of(cli: Cli) -> str:
    (failure,) = cli("failures", "--json").json
    return str(failure["id"])


def people(cli: Cli) -> list[dict[str, Any]]:
    """The verdicts of people."""
    given = [verdict for failure in cli("failures", "--json").json for verdict in failure["verdicts"]]
    return [verdict for verdict in given if verdict["method"] == "human"]


def test_a_verdict_has_a_history_and_can_be_undone(notes: Cli) -> None:
    failure = failure_of(notes)
    assert notes("verdict", failure, "--history", "--json").json == []
    for reason in ("first", "second"):
        notes("verdict", failure, "--type", "AnnotationError", "--reason", reason, "--author", "Ada")
    changes = notes("verdict", failure, "--history", "--json").json
    assert [(one["number"], one["changedBy"], one["verdict"]["reason"]) for one in changes] == [
        (1, "Ada", "first"),
        (2, "Ada", "second"),
    ]
    undone = notes("verdict", failure, "--undo", "--author", "Ada", "--json").json
    assert undone["verdict"]["reason"] == "first"
    (kept,) = people(notes)
    assert (kept["id"], kept["reason"]) == (undone["id"], "first")
    shown = notes("verdict", failure, "--history").out
    assert "undone by command line" in shown
    assert notes("verdict", failure, "--undo", "--author", "Ada", "--json").json["verdict"] is None
    assert people(notes) == []
    assert "nothing of 'Ada' to undo" in notes("verdict", failure, "--undo", "--author", "Ada", code=4).err
    assert asyncio.run(_audit(notes))[:2] == [("undoVerdict", "command line")] * 2
    for wrong in (["--history", "--undo"], ["--undo", "--reason", "x"], ["--type", "AnnotationError"], []):
        notes("verdict", failure, *wrong, code=2)


async def _audit(cli: Cli) -> list[tuple[str, str]]:
    async with await open_database(cli.store) as database:
        return [(entry.action, entry.actor) for entry in (await database.records(DEFAULT_PROJECT).audit()).items]


def test_a_verdict_by_hand(notes: Cli) -> None:
    said = ("--type", "updateerror", "--operation", "update", "--reason", "it kept Oslo", "--author", "Ada")
    also = ("--also", "ResponseError:answer", "--also", "annotationerror")
    verdict = notes("verdict", failure_of(notes)[:10], *said, *also, "--json").json
    assert (verdict["errorType"], verdict["method"], verdict["author"]) == ("UpdateError", "human", "Ada")
    assert (verdict["operationExternalId"], verdict["questionExternalId"]) == ("update", "question")
    assert (verdict["reason"], verdict["confidence"]) == ("it kept Oslo", None)
    assert [one["errorType"] for one in verdict["candidates"]] == ["ResponseError", "AnnotationError"]
    (kept,) = people(notes)
    assert kept.items() <= verdict.items()
    assert asyncio.run(_audit(notes)) == [("recordVerdict", "command line")]
    notes("verdict", failure_of(notes), "--type", "AnnotationError", "--reason", "so", "--author", "Ada")
    assert [(one["errorType"], one["operationId"]) for one in people(notes)] == [("AnnotationError", None)]
    shown = notes("verdict", failure_of(notes), "--type", "UpdateError", "--operation", "update", "--reason", "so")
    assert "Update error" in shown.out
    assert {one["author"] for one in people(notes)} == {"Ada", "command line"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--type", "UpdatError", "--operation", "update"], 2, "did you mean UpdateError?"),
        (["--type", "ResponseError", "--operation", "answer", "--also", "nonsense:update"], 2, "--also: 'nonsense'"),
        (["--type", "UpdateError"], 4, "UpdateError needs the operation at fault"),
        (["--type", "LLMAsAJudgeError", "--operation", "update"], 4, "LLMAsAJudgeError takes no operation"),
        (["--type", "UpdateError", "--operation", "nothing"], 3, "'nothing'"),
        (["--type", "UpdateError", "--operation", "update", "--also", "ResponseError"], 4, "also: ResponseError needs"),
        (["--type", "UpdateError", "--operation", "update", "--author", "flow"], 4, "'flow' is a method"),
    ],
)
def test_a_verdict_that_cannot_be_is_refused(notes: Cli, arguments: list[str], code: int, words: str) -> None:
    failed = notes("verdict", failure_of(notes), *arguments, "--reason", "so", code=code)
    assert words in failed.err
    assert people(notes) == []


def test_a_verdict_needs_a_failure_and_a_reason(notes: Cli) -> None:
    notes("verdict", "0123456789", "--type", "AnnotationError", "--reason", "so", code=3)
    assert "--reason" in notes("verdict", failure_of(notes), "--type", "AnnotationError", code=2).err


def lines() -> list[dict[str, Any]]:
    """Lines of a label file: the true causes of the sample's wrong answers. Each line names its trace by the file."""
    return [
        {
            "trace": "assistant",
            "query_id": record["query_id"],
            "prediction_id": record["prediction_id"],
            "primary": {"type": record["final_error_type"], "op": record["final_op_id"]},
            "also": [],
            "several": False,
            "agreed": True,
            "sure": 0.9,
            "why": "because",
        }
        for record in truth()["failures"]
    ]


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_labels_come_back_and_go_on(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    file = written(tmp_path / "labels.jsonl", lines())
    assert cli("labels", "import", file, "--author", "Ada", "--json").json == {
        "imported": 3,
        "unchanged": 0,
        "unmatched": [],
    }
    before = people(cli)
    assert "3 labels imported, 3 of them unchanged" in cli("labels", "import", file, "--author", "Ada").out
    assert people(cli) == before
    assert asyncio.run(_audit(cli)) == [("importLabels", "command line")]
    result = cli("labels", "export", "-")
    by_question = {line["query_id"]: line for line in lines()}
    assert {line["query_id"]: line for line in read(result.out)} == {
        key: line | {"author": "Ada"} for key, line in by_question.items()
    }
    cli("labels", "export", tmp_path / "out.jsonl")
    other = Cli(f"sqlite:///{tmp_path / 'other.db'}")
    other("import", SAMPLE)
    assert other("labels", "import", tmp_path / "out.jsonl", "--json").json["imported"] == 3
    assert other("labels", "export", "-").out == result.out
    scored = other("benchmark", SAMPLE, "--labels", tmp_path / "out.jsonl", "--json").json["metrics"]
    assert (scored["primary"], scored["accepted"]) == (1, 1)
    other("attribute", "--all")
    assert other("agreement", "flow", "Ada", "--json").json["jointKappa"] == 1


def test_labels_of_standard_input(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    written(tmp_path / "labels.jsonl", lines())
    data = (tmp_path / "labels.jsonl").read_bytes()
    assert cli("labels", "import", "-", "--json", input=b"\xef\xbb\xbf\n" + data).json["imported"] == 3
    assert {one["author"] for one in people(cli)} == {"command line"}


def test_what_cannot_be_matched_is_listed(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    first, second, third = lines()
    records = [first | {"trace": "elsewhere"}, second, third | {"primary": {"type": "UpdateError", "op": "op-none"}}]
    result = cli("labels", "import", written(tmp_path / "labels.jsonl", records), "--json")
    assert result.json["imported"] == 1
    assert [(one["line"], one["missing"]) for one in result.json["unmatched"]] == [(1, "trace"), (3, "operation")]
    assert "line 1: no trace is called 'elsewhere'" in result.err
    assert "2 labels could not be matched" in result.err
    assert len(people(cli)) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2"),
        ("[]", "line 2"),
        ('{"query_id": "q"}', "line 2: primary: Field required"),
        (json.dumps(lines()[0] | {"primary": {"type": "UpdatError", "op": "x"}}), "did you mean UpdateError?"),
        (json.dumps(lines()[0] | {"sure": 1.5}), "line 2: sure"),
        (json.dumps(lines()[1]), "line 2: line 1 is about the same failure"),
    ],
)
def test_a_line_that_is_no_label_refuses_the_file(cli: Cli, tmp_path: Path, line: str, words: str) -> None:
    cli("import", SAMPLE)
    file = tmp_path / "labels.jsonl"
    file.write_text(f"{json.dumps(lines()[1])}\n{line}\n")
    result = cli("labels", "import", file, code=4)
    assert words in result.err
    assert str(file) in result.err
    assert people(cli) == []
    assert asyncio.run(_audit(cli)) == []


def test_every_bad_line_is_named(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    file = tmp_path / "labels.jsonl"
    file.write_text("{\n\n{}\n[]\n")
    assert "line 3, 4" in cli("labels", "import", file, code=4).err
    assert "can't be read" in cli("labels", "import", tmp_path / "none.jsonl", code=4).err


def test_an_export_of_nothing_is_an_empty_file(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    cli("labels", "export", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == b""
