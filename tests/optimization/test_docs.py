"""Runs the examples of docs/replay.md."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_replay import OVERWRITE, recorded_in
from tests.data import ROOT
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "replay.md"


def environment(folder: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    own["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "sdk"), str(folder)])
    own["MEMTRACE_REPLAY"] = str(folder / "replay")
    return own


def test_the_program_is_recorded_and_runs_again(tmp_path: Path) -> None:
    (program,) = blocks(PAGE, "python")
    (tmp_path / "my_agent.py").write_text(program)
    own = environment(tmp_path) | {"XDG_STATE_HOME": str(tmp_path)}
    script = (
        "import my_agent; my_agent.program(['I have a dog.'], 'How many?'); import memtrace; "
        "found = memtrace.replay.run('notes', ask=memtrace.replay.Ask('answer', 'Answer', 'How many?')); "
        "skipped = memtrace.replay.run('notes', [memtrace.replay.Do('my_agent:remember', skip=True)], "
        "ask=memtrace.replay.Ask('answer', 'Answer', 'How many?')); "
        "print(found.answers, skipped.answers, found.error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=own, capture_output=True, text=True, check=False
    )
    assert done.stdout == "('1 notes',) ('0 notes',) None\n", done.stderr


@pytest.mark.full
def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (commands,) = blocks(PAGE, "bash")
    own = environment(tmp_path)
    monkeypatch.setenv("MEMTRACE_REPLAY", own["MEMTRACE_REPLAY"])
    monkeypatch.chdir(ROOT)
    store = f"sqlite:///{tmp_path / 'docs.db'}"
    recorded_in(Cli(store), OVERWRITE)
    command = tmp_path / "memtrace"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m api.cli.main --store "{store}" "$@"\n')
    command.chmod(0o755)
    own["PATH"] = f"{tmp_path}:{own['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands], cwd=ROOT, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("1 proved, 0 refuted, 0 unsettled.") == 2
