"""What the folder of a run keeps, and which run may go on in it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from optimization.harness.datasets.model import Conversation, Dataset, Message, Question, Session
from optimization.harness.folder import RunFolder, opened, write
from optimization.harness.judging import F1, Exact, Judgement
from optimization.harness.plan import Answer, Plan, UserRun
from schema.errors import InputError

USER = "Ada Ö/1"
QUESTIONS = tuple(Question(f"q{number}", f"Question {number}?", ("gold",)) for number in (1, 2))
TALK = Conversation(USER, (Session("s", (Message("m", "Ada", "I like tea."),)),), QUESTIONS)
RUN = UserRun(
    USER,
    "",
    (
        Answer(QUESTIONS[0], "tea", Judgement(True, 1.0, "the same word")),
        Answer(QUESTIONS[1], "ä\n", Judgement(False, 0.25)),
    ),
    None,
    calls=3,
    tokens=40,
)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan("module:program", Dataset("lines", (TALK,)), Exact(), tmp_path / "run")


def test_a_finished_user_is_read_as_written(plan: Plan) -> None:
    with opened(plan) as folder:
        assert folder.finished(TALK) is None
        begun = folder.begin(USER)
        (begun / "events.ndjson").write_text("an event\n")
        assert folder.finished(TALK) is None
        folder.saved(USER).mkdir(parents=True)
        recorded = folder.finish(RUN)
        assert (recorded.name, recorded.read_text()) == ("recorded.ndjson", "an event\n")
        assert sorted(one.name for one in begun.iterdir()) == ["answers.json", "recorded.ndjson"]
        assert not folder.saved(USER).exists()
    with opened(plan) as again:
        assert again.finished(TALK) == (recorded, replace(RUN, trace_id=folder.trace_id(USER)))
        assert again.finished(replace(TALK, user="other")) is None


def test_an_unfinished_user_begins_in_an_empty_folder(plan: Plan) -> None:
    with opened(plan) as folder:
        (folder.begin(USER) / "events.ndjson").write_text("an event\n")
        assert list(folder.begin(USER).iterdir()) == []


def test_users_have_folders_of_their_own(plan: Plan) -> None:
    folder = RunFolder(plan, "0a1b2c3d")
    users = ["a b", "a-b", "a/b", "a", "é", "ü", "x" * 300, "x" * 299, "..", "\ud800"]
    for place in (folder.of, folder.replies, folder.saved):
        found = {place(user) for user in users}
        assert len(found) == len(users)
        assert len({one.parent for one in found}) == 1
        assert max(len(one.name) for one in found) == 69
    assert folder.of("a b").name.startswith("a-b-")
    assert len({folder.of("a").parent, folder.replies("a").parent, folder.saved("a").parent}) == 3
    elsewhere = RunFolder(replace(plan, replies=plan.folder / "kept"), "0a1b2c3d")
    assert elsewhere.replies("a").parent == plan.folder / "kept"


def test_the_trace_of_a_user_is_named_by_run_and_user(plan: Plan) -> None:
    folder = RunFolder(plan, "0a1b2c3d")
    assert folder.trace_id("ada") == "run-0a1b2c3d/ada"
    assert folder.trace_id("x" * 300) == f"run-0a1b2c3d/{'x' * 187}"


def test_a_run_goes_on_with_its_id(plan: Plan) -> None:
    with opened(plan) as folder:
        first = folder.id
    with opened(plan) as folder:
        assert folder.id == first
    about = json.loads((plan.folder / "run.json").read_text())
    assert (about["id"], about["fingerprint"], about["program"]) == (first, plan.fingerprint(), "module:program")


@pytest.mark.parametrize(
    "change",
    [
        {"program": "module:other"},
        {"judge": F1()},
        {"prompts": {"answer": "new"}},
        {"dataset": Dataset("lines", (replace(TALK, questions=QUESTIONS[:1]),))},
    ],
    ids=["program", "judge", "prompts", "dataset"],
)
def test_another_run_is_refused(plan: Plan, change: dict[str, object]) -> None:
    with opened(plan):
        pass
    before = (plan.folder / "run.json").read_bytes()
    with pytest.raises(InputError, match="this folder holds another run"), opened(replace(plan, **change)):  # type: ignore[arg-type]
        pass
    assert (plan.folder / "run.json").read_bytes() == before


@pytest.mark.parametrize("change", [{"users": [USER]}, {"is_kept": False}, {"instruments": ["all"]}])
def test_a_run_goes_on_with_other_limits_and_users(plan: Plan, change: dict[str, object]) -> None:
    with opened(plan) as folder:
        first = folder.id
    with opened(replace(plan, **change)) as folder:  # type: ignore[arg-type]
        assert folder.id == first


def test_a_folder_is_open_once(plan: Plan) -> None:
    with opened(plan), pytest.raises(InputError, match="a run is under way in this folder"), opened(plan):
        pass


def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    write(file, {"a": "ä"})
    assert file.read_text("utf-8") == '{\n "a": "ä"\n}\n'

    def fail(_descriptor: int) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no room"):
        write(file, {"a": "b"})
    assert json.loads(file.read_text("utf-8")) == {"a": "ä"}
