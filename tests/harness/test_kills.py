"""`memtrace evaluate` is killed with all its processes, and goes on: the same graph in the end, nothing paid twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from attribution.lookup import every_failure
from schema.models import Derivation, Operation, Variable
from store.open import open_database
from store.paging import elements
from tests.data import FULL, ROOT
from tests.harness import miniatures
from tests.harness.model import reply
from tests.llm_server import Answer, LlmServer, Request

CALLS = 12
_POINTS = sorted(random.Random(7).sample(range(1, CALLS), 8 if FULL else 2))
BOUNDARIES = ["users/*/events.ndjson", "users/*/answers.json", "users/*/recorded.ndjson", "../graph.db-wal"]
_SECONDS = 300.0


class Killed:
    """The command, which is killed at the n-th request of a model, or when a file appears."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path
        self.server = LlmServer()
        self.server.script(self._reply, repeat=True)
        self._kill_at: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        cases = tmp_path / "cases.jsonl"
        cases.write_text("".join(json.dumps(line) + "\n" for line in miniatures.lines()), "utf-8")

    def _reply(self, request: Request) -> Answer:
        if len(self.server.requests) == self._kill_at:
            self._kill_at = None
            self._kill()
        return reply(request)

    def _kill(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)

    def run(self, at_request: int | None = None, at_file: str | None = None) -> int:
        """Run the command to its end, which may come early; its exit code."""
        self._kill_at = None if at_request is None else len(self.server.requests) + at_request
        command = [
            sys.executable, "-m", "memtrace_platform", "--store", f"sqlite:///{self.folder}/graph.db", "evaluate",
            "tests.harness.programs:FactsAgent", "--dataset", str(self.folder / "cases.jsonl"),
            "--run", str(self.folder / "run"), "--judge", "exact", "--parallel", "1",
            "--model-url", f"OPENAI_BASE_URL={self.server.url}", "--json",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        if at_file is not None:
            threading.Thread(target=self._watch, args=(at_file, self._process), daemon=True).start()
        out, errors = self._process.communicate(timeout=_SECONDS)
        self.out, self.errors = out.decode(), errors.decode()
        return self._process.returncode

    def _watch(self, pattern: str, process: subprocess.Popen[bytes]) -> None:
        folder = self.folder / "run" if not pattern.startswith("../") else self.folder
        while process.poll() is None:
            if any(folder.glob(pattern.removeprefix("../"))):
                self._kill()
                return
            time.sleep(0.001)


async def graph(folder: Path) -> list[Any]:
    """All that the graph says, without ids and times."""
    async with await open_database(f"sqlite:///{folder}/graph.db") as database:
        store = database.project("default")
        found: Counter[Any] = Counter()
        for trace in (await store.traces()).items:
            variables = {one.id: one for one in await elements(store, Variable, trace.id)}
            named = {
                id_: (one.kind, one.name, one.version, one.occurrence, one.value) for id_, one in variables.items()
            }
            found.update(("variable", *named[id_], one.right) for id_, one in variables.items())
            found.update(("operation", one.name, one.kind) for one in await elements(store, Operation, trace.id))
            for edge in await elements(store, Derivation, trace.id):
                found["edge", named[edge.source], named[edge.target], edge.kind] += 1
        for failure in await every_failure(store, None):
            found["failure", failure.question, failure.prediction, failure.gold_answers] += 1
        return sorted(found.items(), key=repr)


@pytest.fixture
def killed(tmp_path: Path) -> Any:
    one = Killed(tmp_path)
    one.server.start()
    yield one
    one.server.stop()


@pytest.fixture(scope="module")
async def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The graph of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    one = Killed(folder)
    one.server.start()
    try:
        assert one.run() == 0, one.errors
        assert len(one.server.requests) == CALLS
    finally:
        one.server.stop()
    return await graph(folder)


@pytest.mark.parametrize("point", _POINTS)
async def test_killed_while_a_model_is_asked(killed: Killed, expected: list[Any], point: int) -> None:
    assert killed.run(at_request=point) == -signal.SIGKILL
    assert killed.run() == 0, killed.errors
    assert await graph(killed.folder) == expected
    # Only the reply that was under way is asked for again: nobody had received it.
    asked = Counter(json.dumps(request.body, sort_keys=True) for request in killed.server.requests)
    assert sum(asked.values()) <= CALLS + 1
    assert len(asked) <= CALLS


@pytest.mark.parametrize("boundary", BOUNDARIES if FULL else BOUNDARIES[1:3])
async def test_killed_at_the_boundary_of_a_stage(killed: Killed, expected: list[Any], boundary: str) -> None:
    assert killed.run(at_file=boundary) in {-signal.SIGKILL, 0}
    assert killed.run() == 0, killed.errors
    assert await graph(killed.folder) == expected
    assert len(killed.server.requests) <= CALLS + 1


async def test_killed_again_and_again(killed: Killed, expected: list[Any]) -> None:
    for _ in range(4):
        killed.run(at_request=2)
    assert killed.run() == 0, killed.errors
    assert await graph(killed.folder) == expected
    assert len(killed.server.requests) <= CALLS + 4
