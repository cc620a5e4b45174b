"""The example of the loop, from wrong answers to a better prompt and back, by the commands that a user types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from examples.better_prompts.agent import PROMPTS
from tests.data import ROOT


def test_the_example_of_better_prompts(tmp_path: Path) -> None:
    folder = tmp_path / "better"
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    done = subprocess.run(
        [sys.executable, "-m", "examples.better_prompts", str(folder)],
        cwd=ROOT,
        env=own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "4 of 8 answers right" in done.stderr
    assert "**Accepted.**" in done.stdout
    assert "List all facts in the message of {speaker}, as a JSON list of sentences." in done.stdout
    files = {file.name.removesuffix(".txt"): file.read_text("utf-8") for file in (folder / "prompts").glob("*.txt")}
    assert files == PROMPTS  # rolled back
