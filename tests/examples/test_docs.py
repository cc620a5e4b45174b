"""The commands of docs/examples.md, run unchanged."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data import ROOT
from tests.examples.agents import AGENTS

_PAGE = (ROOT / "docs" / "examples.md").read_text("utf-8")
_ALONE, _WITH_A_SERVER = re.findall(r"^```bash\n(.*?)^```", _PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples in it, and ``python`` and ``memtrace`` on the path."""
    made = tmp_path_factory.mktemp("docs")
    (made / "examples").symlink_to(ROOT / "examples")
    (made / "bin").mkdir()
    for name, arguments in (("python", ""), ("memtrace", "-m api.cli.main ")):
        command = made / "bin" / name
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n')
        command.chmod(0o755)
    return made


def run(folder: Path, script: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    own["PATH"] = f"{folder / 'bin'}:{own['PATH']}"
    own["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "sdk")])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_agents_alone(folder: Path) -> None:
    output = run(folder, _ALONE)
    assert output.count("(right)") == sum(len(one.questions) for agent in AGENTS for one in agent.sessions) - 1
    assert output.count("WRONG, it is: a grammar school") == 1
    assert (folder / "graph.mmd").read_text("utf-8").startswith("flowchart LR\n")


@pytest.mark.full
def test_the_way_to_the_operation_at_fault(folder: Path) -> None:
    output = run(folder, _WITH_A_SERVER)
    assert "Failures recorded: 1" in output
    assert "Deletion error" in output
    assert "DeletionError" in (folder / "failures.json").read_text("utf-8")
