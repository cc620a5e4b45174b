"""The last lines of `memtrace run`: the number of recorded traces, their store, and the commands that list them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from api.cli.context import Target
from api.cli.run_ended import put_in_store
from tests.cli.conftest import Cli
from tests.queue.sets import event_line

pytestmark = pytest.mark.asyncio


def _answer(trace: str, said: str, second: int) -> list[bytes]:
    def event(type_: str, **fields: object) -> bytes:
        return event_line(type_, trace, second, **fields)

    text = {"version": 0, "mediaType": "text/plain"}
    return [
        event("trace", name=trace),
        event("variable", variable="q", name="question", kind="Query", value="Which dog?", **text),
        event("operationStarted", operation="o", name="answer", kind="Generation"),
        event("used", operation="o", variable="q", position=0),
        event("variable", variable="a", name="answer", kind="Answer", operation="o", value=said, **text),
        event("operationEnded", operation="o", status="ok"),
    ]


def _file(folder: Path, name: str, lines: list[bytes]) -> Path:
    path = folder / f"{name}.ndjson"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def _commands(told: str) -> list[list[str]]:
    """The commands in some lines."""
    return [shlex.split(one) for one in re.findall(r"(?<=memtrace )[^;\n]+", told)]


@pytest.mark.parametrize("store", [None, "other store.db"])
@pytest.mark.parametrize("project", [None, "pets"])
async def test_the_told_commands_work_on_the_same_store_and_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cli: Cli, store: str | None, project: str | None
) -> None:
    place = Target(store=store, project=project)
    await put_in_store(place, [_file(tmp_path, "one", _answer("t", "Bo", 1))])
    recorded, last, question = capsys.readouterr().err.splitlines()
    assert recorded == f"MemTrace recorded 1 trace, 1 operation, 2 variables, 1 answer in {place.store_uri}."
    assert last.endswith(": Bo")
    options = [*(["--store", store] if store else []), *(["--project", project] if project else [])]
    fail, answers = _commands(question)
    assert fail == [*options, "fail", last.split()[4].rstrip(":"), "the right answer"]
    assert answers == [*options, "answers"]


async def test_a_recording_without_an_answer_leads_to_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cli: Cli
) -> None:
    lines = [line for line in _answer("t", "Bo", 1) if b'"Answer"' not in line]
    await put_in_store(Target(project="pets"), [_file(tmp_path, "one", lines)])
    recorded, lacks, seen = capsys.readouterr().err.splitlines()
    assert ", 0 answers in " in recorded
    check, trace = _commands(lacks)[0], _commands(seen)[0]
    assert (check[:3], trace[:3]) == (["--project", "pets", "check"], ["--project", "pets", "trace"])
    assert check[3] == trace[3]


async def test_all_files_are_stored_and_each_bad_line_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cli: Cli
) -> None:
    stray = event_line("used", "ann", 9, operation="o", variable="nothing", position=1)
    first = _file(tmp_path, "one", [*_answer("ann", "Snow, said last.", 9), stray, stray])
    second = _file(tmp_path, "two", _answer("bob", "Rain.", 5))
    await put_in_store(Target(), [first, second])
    bad, recorded, last, _ = capsys.readouterr().err.splitlines()
    assert bad.startswith(f"error: {first}: line 7: ")
    assert bad.endswith("; what else is in the file is stored")
    assert "recorded 2 traces, 2 operations, 4 variables, 2 answers in" in recorded
    assert last.endswith(": Snow, said last.")


async def test_what_a_store_cannot_take_is_kept_with_a_command_for_all_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cli: Cli
) -> None:
    files = [_file(tmp_path, name, _answer("t", "Bo", 1)) for name in ("one", "two words")]
    store = str(tmp_path / "no-folder" / "team.db")
    await put_in_store(Target(store, "a bucket", "pets"), files)
    error, kept = capsys.readouterr().err.splitlines()
    assert error.startswith("error: ")
    options = ["--store", store, "--values", "a bucket", "--project", "pets"]
    assert _commands(kept) == [[*options, "import", *map(str, files)]]
    assert all(file.exists() for file in files)


async def test_a_file_that_is_no_recording_is_told_and_not_blamed_on_the_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cli: Cli
) -> None:
    file = _file(tmp_path, "one", [*_answer("t", "Bo", 1), b"[]"])
    await put_in_store(Target(), [file])
    error, kept = capsys.readouterr().err.splitlines()
    assert str(file) in error
    assert "store" not in kept
    assert _commands(kept) == [["import", str(file)]]


@pytest.mark.parametrize("traces", [1, 3])
async def test_calls_that_nothing_ties_together_lead_to_one_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], traces: int
) -> None:
    lines = []
    for number in range(traces):
        name = f"call {number}"
        lines += [event_line("trace", name, number, name=name, attributes={"program": "app.py"})]
        lines += _answer(name, "Bo", number + 1)[1:]
    attributes = {"program": "app.py", "store": "qdrant"}
    lines += [event_line("trace", "memory", 9, name="memory", attributes=attributes)]
    place = Target(project="pets")
    await put_in_store(place, [_file(tmp_path, "one", lines)], ["python", "my app.py"])
    told = capsys.readouterr().err
    again = "memtrace --project pets run --one-trace -- python 'my app.py'"
    assert ("3 of the 4 traces hold calls that nothing ties to the others" in told) is (traces == 3)
    assert told.endswith(f"{again}\n") is (traces == 3)
