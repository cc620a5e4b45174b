"""Programs with an outside memory: a run begins with the memory's content, and restores the content at the end."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memtrace.program import Message, SavedProgram
from memtrace.replay import Do, Replayer, folder_of

from optimization.harness.child import ProgramFailed
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import Exact
from optimization.harness.plan import Plan
from optimization.harness.run import run
from store.contract.protocol import GraphStore
from tests.data import ROOT
from tests.llm_server import Answer, LlmServer, Request, fail, give
from tests.optimization.harness import miniatures
from tests.optimization.harness.programs import FactsAgent

BEFORE = '["It was here before."]'


class Shelved(FactsAgent):
    """Keeps its notes on a shelf beside the data set, which has notes before the run."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        super().__init__(user=user, prompts=prompts, folder=folder)
        self._place = Path(os.environ["SHELF"]) / f"{user}.json"
        if self._place.exists():
            self._facts = json.loads(self._place.read_text("utf-8"))

    def add(self, messages: Sequence[Message]) -> None:
        super().add(messages)
        self._place.write_text(json.dumps(self._facts), "utf-8")

    def save(self, path: Path) -> None:
        shutil.copy(self._place, path / "notes.json")

    async def restore(self, path: Path) -> None:
        shutil.copy(path / "notes.json", self._place)
        self._facts = json.loads(self._place.read_text("utf-8"))


class Half(FactsAgent):
    """Can save its memory, but not restore it."""

    def save(self, path: Path) -> None:
        """Do nothing."""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the programs' notes."""
    place = tmp_path / "notes"
    place.mkdir()
    monkeypatch.setenv("SHELF", str(place))
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "replay"))
    for user in ("nobody", "user 1", "user 2"):
        (place / f"{user}.json").write_text(BEFORE, "utf-8")
    return place


def plan(tmp_path: Path, llm: LlmServer, program: str) -> Plan:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in miniatures.lines()), "utf-8")
    urls = {"OPENAI_BASE_URL": llm.url}
    return Plan(program, read_dataset(path), Exact(), tmp_path / "run", directory=ROOT, models=urls)


def on(shelf: Path) -> list[str]:
    return [path.read_text("utf-8") for path in sorted(shelf.iterdir())]


async def test_what_a_stopped_run_left_there_is_gone_when_it_begins_again(
    tmp_path: Path, llm: LlmServer, store: GraphStore, shelf: Path
) -> None:
    whole = plan(tmp_path, llm, f"{__name__}:Shelved")
    stopped = await run(replace(whole, limits=replace(whole.limits, calls=8, parallel=1)), store)
    assert [one.error is None for one in stopped.users] == [True, False]
    first, second = json.loads((shelf / "user 1.json").read_text()), json.loads((shelf / "user 2.json").read_text())
    assert (len(first), len(second)) == (1, 3), "that of a finished user is as it was before"
    outcome = await run(whole, store)
    assert [answer.text for answer in outcome.users[1].answers] == ["Mia", "Lyon", "I do not know."]
    notes = [request.last for request in llm.requests if request.last.startswith("ANSWER")]
    assert all(max(Counter(text.splitlines()).values()) == 1 for text in notes), "nothing was remembered twice"
    assert on(shelf) == [BEFORE] * 3
    assert not list((tmp_path / "run" / "saved").iterdir())


async def test_replays_leave_it_as_it_was(tmp_path: Path, llm: LlmServer, store: GraphStore, shelf: Path) -> None:
    outcome = await run(plan(tmp_path, llm, f"{__name__}:Shelved"), store)
    (shelf / "user 1.json").write_text('["Later."]', "utf-8")
    with Replayer(folder_of(outcome.users[0].trace_id)) as replayer:
        again = replayer.run()
        assert (again.error, again.problems, again.live, len(again.kept)) == (None, (), 0, 6)
        changed = replayer.run([Do("tests.optimization.harness.programs:FactsAgent._extract", skip=True)], "mixed")
        assert (changed.error, changed.problems) == (None, ())
    assert on(shelf) == [BEFORE] * 3


async def test_one_method_without_the_other_is_refused(tmp_path: Path, llm: LlmServer, store: GraphStore) -> None:
    outcome = await run(plan(tmp_path, llm, f"{__name__}:Half"), store)
    assert {"a method save() and no restore(): both belong together" in str(one.error) for one in outcome.users} == {
        True
    }
    with pytest.raises(ProgramFailed, match="both belong together"):
        await run(
            replace(plan(tmp_path, llm, f"{__name__}:Half"), folder=tmp_path / "b", prompts={"answer": "x"}), store
        )


class System:
    """A memory system behind HTTP, with or without the requests that save it."""

    def __init__(self, *, can_save: bool) -> None:
        self.notes: dict[str, list[str]] = {}
        self.is_down = False
        self._can_save = can_save

    def answer(self, request: Request) -> Answer:
        act, notes = request.path.rpartition("/")[2], self.notes.setdefault(request.body["user"], [])
        if act == "add":
            notes += [one["text"] for one in request.body["messages"]]
            return give({})
        if act == "answer":
            return fail(503) if self.is_down else plain({"answer": f"{len(notes)} notes"})
        if act in {"save", "restore"} and self._can_save:
            notes[:] = request.body.get("saved", notes)
            return plain(notes)
        return fail(404)


def plain(document: Any) -> Answer:
    return Answer(json.dumps(document).encode())


@pytest.mark.parametrize("can_save", [True, False])
async def test_a_system_behind_http_is_restored_if_it_can(
    tmp_path: Path, llm: LlmServer, store: GraphStore, monkeypatch: pytest.MonkeyPatch, can_save: bool
) -> None:
    system = System(can_save=can_save)
    llm.script(system.answer, repeat=True)
    monkeypatch.setenv("MEMTRACE_PROGRAM_URL", llm.url)
    whole = plan(tmp_path, llm, "memtrace.program.adapters.http:HttpProgram")
    system.is_down = True
    assert all("503" in str(one.failed[0].error) for one in (await run(whole, store)).users)
    system.is_down = False
    outcome = await run(whole, store)
    expected = "3 notes" if can_save else "6 notes"
    assert {answer.text for answer in outcome.answers} == {expected}
    assert system.notes["user 1"] == ([] if can_save else [*system.notes["user 1"][:3]] * 2)


def test_the_protocol_is_recognised() -> None:
    assert issubclass(Shelved, SavedProgram)
    assert not issubclass(FactsAgent, SavedProgram)
