"""`memtrace evaluate` is killed with all its processes, and goes on: the same graph in the end, nothing paid twice."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attribution.verdicts.stored import every_failure
from schema.models import Derivation, Operation, Variable
from store.open import open_database
from store.shared.paging import elements
from tests.optimization.harness import miniatures
from tests.optimization.harness.killed import Killed
from tests.optimization.harness.model import reply

PEOPLE = 2
CALLS = 6 * PEOPLE
_POINTS = sorted(random.Random(7).sample(range(1, CALLS), 2))
BOUNDARIES = ["run/users/*/answers.json", "run/users/*/recorded.ndjson"]


class Evaluation(Killed):
    """``memtrace evaluate`` over some people."""

    def __init__(self, folder: Path) -> None:
        super().__init__(reply)
        self.folder = folder
        people = [
            line | {"user": f"{line['user']} {number}"} for number in range(PEOPLE // 2) for line in miniatures.lines()
        ]
        (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in people), "utf-8")

    def evaluate(self, at_request: int | None = None, at_file: str | None = None) -> int:
        """Run the command; see ``Killed.run``."""
        command = [
            "--store", f"sqlite:///{self.folder}/graph.db", "evaluate",
            "tests.optimization.harness.programs:FactsAgent",
            "--dataset", str(self.folder / "cases.jsonl"), "--run", str(self.folder / "run"), "--judge", "exact",
            "--parallel", "1", "--model-url", f"OPENAI_BASE_URL={self.server.url}",
        ]  # fmt: skip
        return self.run(command, at_request, None if at_file is None else (self.folder, at_file))


async def graph(folder: Path) -> list[Any]:
    """The content of the graph, without ids and times."""
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
def killed(tmp_path: Path) -> Iterator[Evaluation]:
    one = Evaluation(tmp_path)
    one.server.start()
    yield one
    one.server.stop()


@pytest.fixture(scope="module")
async def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The graph of a run without kills."""
    one = Evaluation(tmp_path_factory.mktemp("undisturbed"))
    one.server.start()
    try:
        assert one.evaluate() == 0, one.errors
        assert len(one.server.requests) == CALLS
    finally:
        one.server.stop()
    return await graph(one.folder)


@pytest.mark.parametrize("point", _POINTS)
async def test_killed_while_a_model_is_asked(killed: Evaluation, expected: list[Any], point: int) -> None:
    assert killed.evaluate(at_request=point) == -signal.SIGKILL
    assert killed.evaluate() == 0, killed.errors
    assert await graph(killed.folder) == expected
    # Only the reply that was under way is asked for again: nobody had received it.
    asked = Counter(json.dumps(request.body, sort_keys=True) for request in killed.server.requests)
    assert sum(asked.values()) <= CALLS + 1
    assert len(asked) <= CALLS


@pytest.mark.parametrize("boundary", BOUNDARIES)
async def test_killed_at_the_boundary_of_a_stage(killed: Evaluation, expected: list[Any], boundary: str) -> None:
    assert killed.evaluate(at_file=boundary) in {-signal.SIGKILL, 0}
    assert killed.evaluate() == 0, killed.errors
    assert await graph(killed.folder) == expected
    assert len(killed.server.requests) <= CALLS + 1


async def test_killed_again_and_again(killed: Evaluation, expected: list[Any]) -> None:
    for _ in range(4):
        killed.evaluate(at_request=2)
    assert killed.evaluate() == 0, killed.errors
    assert await graph(killed.folder) == expected
    assert len(killed.server.requests) <= CALLS + 4
