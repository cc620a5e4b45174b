"""Recorded programs are run again, with one call changed, in processes of their own."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter
from memtrace.replay import (
    Ask,
    Call,
    Do,
    Limits,
    PathSnapshot,
    Replayed,
    Replayer,
    ReplayError,
    SqliteSnapshot,
    ValueSnapshot,
    folder_of,
    place,
    run,
    state,
)

HERE = __name__
ASK = Ask("answer", "Answer", "What is the dog called?")


@dataclass
class Fact:
    """What a message says."""

    text: str
    place: int = 0


@memtrace.operation(kind="Extraction", each=True, output_name="fact")
def extract(message: str) -> list[Fact]:
    return [Fact(part) for part in message.split(" and ")]


@memtrace.operation(kind="Update", output=False)
def remember(notes: list[str], fact: Fact) -> None:
    with memtrace.mutation(notes, "notes"):
        notes.append(fact.text)


@memtrace.operation(kind="Retrieval")
async def search(question: str, notes: list[str], most: int = 2) -> list[str]:
    return [note for note in notes if "dog" in note][:most]


@memtrace.operation(kind="Generation", output="Answer", output_name="answer")
def answer(prompt: str) -> Iterator[str]:
    yield prompt.partition("\n")[0] + "."


@memtrace.operation(output="Prompt", output_name="prompt")
def write(question: str, notes: list[str]) -> str:
    return "\n".join([*notes, f"Question: {question}"])


async def program(message: str, times: int = 1) -> None:
    """Remember a message, and answer a question from it."""
    given = {"message": message, "times": times}
    async with memtrace.trace("agent", id="agent", program=f"{HERE}:program", input=given):
        notes: list[str] = []
        for fact in extract(memtrace.variable(message, kind="Message", name="m1")):
            remember(notes, fact)
        for _ in range(times):
            question = memtrace.variable(ASK.question, kind="Query", name="question")
            for _chunk in answer(write(question, await search(question, notes))):
                pass


def failing() -> None:
    """A program that goes wrong."""
    with memtrace.trace("failing", id="failing", program=f"{HERE}:failing"):
        raise RuntimeError("the disk is gone")


def random_answer() -> None:
    """A program that answers by chance."""
    with memtrace.trace("random", id="random", program=f"{HERE}:random_answer"):
        memtrace.variable(ASK.question, kind="Query", name="question")
        write(str(random.random()), [])


MEMORY: list[str] = []
FACTS: dict[str, Fact] = {}


def with_memory(folder: str) -> None:
    """A program whose memory was there before: in this module, in a folder and in a database."""
    with memtrace.trace("memory", id="memory", program=f"{HERE}:with_memory", input={"folder": folder}):
        state("list", ValueSnapshot(MEMORY))
        state("facts", ValueSnapshot(FACTS, dict[str, Fact]))
        own = Path(place(folder))
        with closing(sqlite3.connect(own / "notes.db")) as database, database:
            database.execute("INSERT INTO notes VALUES (?)", (f"{len(MEMORY)} {len(FACTS)}",))
            held = [text for (text,) in database.execute("SELECT text FROM notes ORDER BY rowid")]
        MEMORY.append("another")
        FACTS["new"] = Fact("new")
        question = memtrace.variable(ASK.question, kind="Query", name="question")
        for _ in answer(write(question, [*held, (own / "plain.txt").read_text()])):
            pass
        (own / "plain.txt").write_text("changed")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which this test's recordings keep data for replays."""
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "replay"))
    return tmp_path / "replay"


@pytest.fixture
async def agent(recorded: MemoryExporter, kept: Path) -> MemoryExporter:
    """The recorded program."""
    await program("The dog is Bo and the cat is Mia")
    return recorded


def said(found: Replayed) -> tuple[str, ...]:
    """What was answered, without the full stop."""
    return tuple(text.removesuffix(".") for text in found.answers)


def calls(name: str, trace: str = "agent") -> list[str]:
    """What the calls of a function are known by."""
    return [one.call for one in run(trace).calls if f":{name}#" in one.call]


def call(name: str) -> str:
    """What the only call of a function is known by."""
    (found,) = calls(name)
    return found


def begun(recorded: MemoryExporter) -> list[str]:
    """The names of the recorded operations, in order."""
    return [one["name"] for one in recorded.of("operationStarted")]


def tried(*changes: Do) -> Replayed:
    """The recorded program, run again with changes."""
    found = run("agent", changes, ask=ASK)
    assert found.error is None
    return found


async def test_calls_are_known_by_what_they_are_given(agent: MemoryExporter) -> None:
    null = tried()
    assert [one.name for one in null.operations] == begun(agent)
    assert [one.call for one in null.operations] == [one.call for one in null.calls]
    assert len({one.call for one in null.calls}) == len(null.calls)
    assert (said(null), null.hits, null.live) == (("The dog is Bo",), (), 0)
    assert {Call.parse(one.call).turn for one in null.calls} == {0}
    assert all(not one.get("attributes") for one in agent.of("operationStarted") if one["name"] != "search")
    (told,) = agent.of("trace")
    assert told["attributes"]["replay"]["program"] == f"{HERE}:program"
    assert told["attributes"]["replay"]["input"] == {"message": "The dog is Bo and the cat is Mia", "times": 1}


async def test_equal_calls_are_counted(recorded: MemoryExporter, kept: Path) -> None:
    await program("The dog is Bo", times=3)
    writes = calls("write")
    assert [Call.parse(one).turn for one in writes] == [0, 1, 2]
    second = run("agent", [Do(writes[1], output="The dog is Odo")], ask=ASK)
    assert said(second) == ("The dog is Bo", "The dog is Odo", "The dog is Bo")
    assert said(run("agent", [Do(f"{HERE}:write", output="All")], ask=ASK)) == ("All",) * 3


@pytest.mark.full
async def test_what_can_be_done_to_a_call(agent: MemoryExporter) -> None:
    facts = [{"text": "A dog called Odo"}, {"text": "no", "place": 2}]
    assert said(tried(Do(call("extract"), output=facts))) == ("A dog called Odo",)
    assert said(tried(Do(call("extract"), skip=True))) == (f"Question: {ASK.question}",)
    assert said(tried(Do(call("search"), inputs={"notes": ["dog 1", "dog 2", "dog 3"], "most": 3}))) == ("dog 1",)
    assert said(tried(Do(call("search"), add="more"))) == ("The dog is Bo",)
    assert said(tried(Do(call("write"), add="First", before="Bo"))) == ("First",)
    assert said(tried(Do(call("write"), add="Last", before="nothing that is there"))) == ("The dog is Bo",)
    assert said(tried(Do(call("answer"), prompt="Another prompt"))) == ("Another prompt",)
    assert said(tried(Do(call("answer"), add="and more"))) == ("The dog is Bo.\nand more",)
    assert said(tried(Do(call("answer"), output="Odo"))) == ("Odo",)
    assert said(tried(Do(call("search"), body=f"{HERE}:searched_otherwise"))) == ("The dog is Bo!",)
    forgets = tried(Do(f"{HERE}:remember", add="A dog that is put in"), Do(call("extract"), output=[]))
    assert (forgets.hits, said(forgets)) == ((0, 1), (f"Question: {ASK.question}",))
    assert said(tried(Do(f"{HERE}:remember", add="dog"))) == ("The dog is Bo",)


async def searched_otherwise(body: Any, *args: Any, **kwargs: Any) -> list[str]:
    """What the search finds, emphatically."""
    return [f"{found}!" for found in await body(*args, **kwargs)]


async def test_what_is_added_in_place(recorded: MemoryExporter, kept: Path) -> None:
    await program("The cat is Mia")
    found = tried(Do(call("remember"), add="The dog is Bo"))
    assert (said(found), found.problems) == (("The dog is Bo",), ())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"output": 3}, "Input should be a valid list"),
        ({"inputs": {"nothing": 3}}, "has no argument 'nothing'; it takes (message)"),
        ({"prompt": "x"}, "has no argument 'prompt'"),
        ({"add": "x"}, "a sentence can't be added to what it gives back: list[Fact]"),
        ({"body": "nowhere.at.all:f"}, "No module named 'nowhere'"),
        ({"body": f"{HERE}:nothing"}, "has no attribute 'nothing'"),
    ],
    ids=["output", "inputs", "prompt", "add", "module", "function"],
)
async def test_a_change_that_can_not_be_made_is_told(
    agent: MemoryExporter, change: dict[str, Any], problem: str
) -> None:
    found = tried(Do(call("extract"), **change))
    (told,) = found.problems
    assert problem in told
    assert said(found) == ("The dog is Bo",)


@pytest.mark.parametrize("change", [{}, {"output": 1, "skip": True}, {"prompt": "a", "inputs": {}}])
def test_one_thing_is_done(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be one of output"):
        Do("m:f", **change)


@pytest.mark.parametrize("text", ["", "m:f", "m:f#a", "#a.0", "m:f#a.x"])
def test_what_names_no_call(text: str) -> None:
    with pytest.raises(ValueError, match="names no call"):
        Call.parse(text)


def test_a_program_that_fails_says_so(recorded: MemoryExporter, kept: Path) -> None:
    with pytest.raises(RuntimeError):
        failing()
    assert run("failing").error == "RuntimeError: the disk is gone"


def test_what_was_not_kept_can_not_be_replayed(kept: Path) -> None:
    with pytest.raises(ValueError, match="nothing is kept there"):
        run("never")


async def test_a_damaged_file_is_named(agent: MemoryExporter) -> None:
    path = folder_of("agent") / "runs.jsonl"
    whole = path.read_bytes()
    for text, problem in ((whole[:-5] + b"\n", "line 1: damaged"), (whole + b"{}\n", "line 2: no run")):
        path.write_bytes(text)
        with pytest.raises(ValueError, match=problem):
            run("agent")


async def test_a_replay_that_takes_too_long_is_ended(agent: MemoryExporter) -> None:
    with Replayer(folder_of("agent")) as replayer:
        with pytest.raises(ReplayError, match=r"longer than 0\.001 seconds"):
            replayer.run(limits=Limits(seconds=0.001))
        assert said(replayer.run(ask=ASK)) == ("The dog is Bo",)


def test_another_random_state_gives_another_answer(recorded: MemoryExporter, kept: Path) -> None:
    random_answer()
    (drawn,) = [one["value"] for one in recorded.of("variable") if one["value"].startswith("0.")]
    (again,) = run("random").calls
    assert drawn in again.given


def test_two_forks_leave_the_memory_and_each_other_as_they_were(
    recorded: MemoryExporter, kept: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plain.txt").write_text("plain")
    (folder / ".lock").touch()
    MEMORY[:], FACTS["old"] = ["one"], Fact("old", 3)
    open_for_ever = sqlite3.connect(folder / "notes.db")  # its last write is in a file beside the database
    open_for_ever.execute("PRAGMA journal_mode = WAL")
    open_for_ever.execute("CREATE TABLE notes (text TEXT)")
    open_for_ever.execute("INSERT INTO notes VALUES ('before')")
    open_for_ever.commit()
    with_memory(str(folder))
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "notes.db-shm"}
    saved = {path: path.read_bytes() for path in kept.rglob("*") if path.is_file()}
    with Replayer(folder_of("memory")) as replayer:
        whole = [replayer.run(ask=ASK, events=True) for _ in range(2)]
    for one in whole:
        assert (one.error, said(one)) == (None, ("before",))
        assert [c.name for c in one.operations] == begun(recorded)
        notes = next(e["value"] for e in one.events if e["type"] == "variable" and e["name"] == "prompt")
        assert notes.splitlines()[:3] == ["before", "1 1", "plain"]
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "notes.db-shm"} == after
    assert {path: path.read_bytes() for path in kept.rglob("*") if path.is_file()} == saved
    open_for_ever.close()
    assert (MEMORY, list(FACTS)) == (["one", "another"], ["old", "new"])


def test_snapshots_put_back_what_was_saved(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (x)")
        saved = tmp_path / "sqlite"
        saved.mkdir()
        SqliteSnapshot(database).save(saved)
        database.execute("INSERT INTO t VALUES (1)")
        database.commit()
        SqliteSnapshot(database).restore(saved)
        assert database.execute("SELECT * FROM t").fetchall() == []
    fact = Fact("old", 1)
    saved = tmp_path / "object"
    saved.mkdir()
    ValueSnapshot(fact).save(saved)
    fact.text = "new"
    ValueSnapshot(fact).restore(saved)
    assert fact == Fact("old", 1)
    saved, path = tmp_path / "nothing", tmp_path / "not yet"
    saved.mkdir()
    PathSnapshot(path).save(saved)
    path.write_text("later")
    PathSnapshot(path).restore(saved)
    assert not path.exists()
    with pytest.raises(ValueError, match="serialize"):
        ValueSnapshot([object()]).save(saved)


def test_outside_of_a_kept_trace_nothing_is_done(recorded: MemoryExporter, kept: Path, tmp_path: Path) -> None:
    with memtrace.trace("plain", id="plain"):
        assert place(tmp_path) == tmp_path
        state("x", ValueSnapshot(MEMORY))
        assert memtrace.replay.model_url("http://model/v1") == "http://model/v1"
        write("a question", [])
    assert not kept.exists()
    assert "attributes" not in recorded.of("operationStarted")[0]


def test_masked_traces_are_not_kept(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    memtrace.configure(exporter=MemoryExporter(), redact=memtrace.redact.emails)
    try:
        with caplog.at_level(logging.WARNING, "memtrace"), pytest.raises(RuntimeError):
            failing()
    finally:
        memtrace.configure(exporter=MemoryExporter())
    assert "masks are configured" in caplog.text
    assert not kept.exists()


def test_what_is_kept_is_for_its_user_only(recorded: MemoryExporter, kept: Path) -> None:
    random_answer()
    folder = folder_of("random")
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "runs.jsonl").stat().st_mode & 0o077 == 0
    assert json.loads((folder / "runs.jsonl").read_text())["program"] == f"{HERE}:random_answer"
