"""`memtrace optimize` is killed while a model is asked, and goes on: the same outcome, and nothing is paid twice."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.optimization.harness.killed import Killed
from tests.optimization.loop_program import PROMPTS, both, cases, reflecting

_PEOPLE = 16
_CALLS = 121
"""Model calls of a run without kills: 8 gate conversations twice, 14 evaluations of the search, a reflection."""

_POINTS = (20, 65)
"""A call that is paid before the search, and one in it."""


class Optimization(Killed):
    """``memtrace optimize`` in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(both(reflecting))
        self.folder = folder
        (folder / "prompts").mkdir()
        for name, text in PROMPTS.items():
            (folder / "prompts" / f"{name}.txt").write_text(text, "utf-8")
        lines = [json.dumps(line) + "\n" for line in cases(_PEOPLE)]
        (folder / "cases.jsonl").write_text("".join(lines), "utf-8")

    def optimize(self, at_request: int | None = None) -> int:
        """Run the command; see ``Killed.run``."""
        command = [
            "--store", f"sqlite:///{self.folder}/graph.db", "optimize", "tests.optimization.loop_program:Agent",
            "--cases", str(self.folder / "cases.jsonl"), "--prompts", str(self.folder / "prompts"),
            "--run", str(self.folder / "run"), "--judge", "exact", "--margin", "0.35", "--parallel", "1",
            "--model-url", f"OPENAI_BASE_URL={self.server.url}",
        ]  # fmt: skip
        return self.run(command, at_request)

    def outcome(self) -> dict[str, Any]:
        """The result, without the costs of this start of the command."""
        said: dict[str, Any] = json.loads((self.folder / "run" / "found.json").read_text("utf-8"))
        return {name: value for name, value in said.items() if name not in {"calls", "tokens", "cost"}}


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Optimization]:
    one = Optimization(tmp_path)
    one.server.start()
    yield one
    one.server.stop()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of a run without kills."""
    one = Optimization(tmp_path_factory.mktemp("undisturbed"))
    one.server.start()
    try:
        assert one.optimize() == 0, one.errors
        assert len(one.server.requests) == _CALLS
        first = one.outcome()
        assert first["gate"]["accepted"]
        assert one.optimize() == 0, one.errors  # once more is free, and gives the same
        assert len(one.server.requests) == _CALLS
        assert one.outcome() == first
    finally:
        one.server.stop()
    return first


@pytest.mark.parametrize("point", _POINTS)
def test_killed_while_a_model_is_asked(killed: Optimization, expected: dict[str, Any], point: int) -> None:
    assert killed.optimize(at_request=point) == -signal.SIGKILL
    assert killed.optimize() == 0, killed.errors
    assert killed.outcome() == expected
    assert len(killed.server.requests) <= _CALLS + 1  # one more for the call during the kill
