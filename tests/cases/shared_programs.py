"""Runs the programs that are kept outside of the project, and reads what was recorded of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import problems
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict
from ingest.events.feedback import Complaint, record_failure
from ingest.events.questions import questions_of
from schema.kinds import Status, VariableKind
from schema.models import Operation, Variable
from store.contract.protocol import GraphStore
from store.open import open_database
from store.shared.paging import elements
from tests.data import ROOT
from tests.environments import python

_FOUND = next((p / "shared" / "cases" for p in ROOT.parents if (p / "shared" / "cases").is_dir()), None)
IS_THERE = _FOUND is not None
ABSENT = "no programs beside the project: shared/cases is absent"
CASES = _FOUND or ROOT
MEMTRACE = Path(sys.executable).with_name("memtrace")


class Said(NamedTuple):
    """A verdict, the name of the blamed operation, and whether an Answer has the answer's words."""

    verdict: Verdict
    blamed: str | None
    answered: bool


async def verdict_on(store: GraphStore, words: str, gold: str) -> Said:
    """The verdict on the newest answer with these words."""
    made = await all_of(store, Variable)
    given = [one for one in made if one.kind in {VariableKind.RESPONSE, VariableKind.ANSWER} and words in one.preview]
    answer = given[-1]
    (asked,) = (await questions_of(store, [answer]))[answer.id]
    graph = await TraceGraph.load(store, answer.trace_id)
    failure = await record_failure(store, Complaint(asked.id, answer.id, (gold,)), "a test")
    verdict = await FlowPass().attribute(graph, failure)
    assert await problems(verdict, graph) == []
    blamed = graph.operations[verdict.operation_id].name if verdict.operation_id else None
    return Said(verdict, blamed, any(one.kind is VariableKind.ANSWER for one in given))


async def all_of(store: GraphStore, of: Any) -> list[Any]:
    """All elements of a class, such as ``Variable``, trace by trace."""
    return [one for trace in (await store.traces()).items for one in await elements(store, of, trace.id)]


async def count_traces(store: GraphStore) -> int:
    """The number of traces."""
    return len((await store.traces()).items)


async def still_running(store: GraphStore) -> list[str]:
    """Names of the operations whose end is not recorded."""
    return [one.name for one in await all_of(store, Operation) if one.status is Status.RUNNING]


def ask_store(path: Path, ask: Callable[[GraphStore], Any]) -> Any:
    """What a function finds in the SQLite store at a path."""

    async def asked() -> Any:
        async with await open_database(f"sqlite:///{path}") as database:
            return await ask(database.project("default"))

    return asyncio.run(asked())


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE")}


def recorded(case: str, environment: str, folder: Path) -> Path:
    """The store with what a program recorded, which ran beside its scripted model."""
    command = ["bash", CASES / "common" / "run.sh", case, python(environment), MEMTRACE]
    run_program(command, folder, WORK=str(folder))
    return folder / case / "t.db"


def run_program(command: list[Any], folder: Path, **settings: str) -> str:
    """The standard output of a program that ends without an error in a folder, without the caller's settings."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=_clean() | settings,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@contextmanager
def scripted(case: str, folder: Path) -> Iterator[str]:
    """The address of a case's scripted model, while it runs."""
    url = folder / "url"
    command = [sys.executable, CASES / "common" / "fake.py", url, CASES / case / "script.py"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL) as server:
        try:
            while not (url.exists() and url.read_text("utf-8")):
                assert server.poll() is None, "the scripted model ended"
                time.sleep(0.05)
            yield url.read_text("utf-8").strip()
        finally:
            server.terminate()
