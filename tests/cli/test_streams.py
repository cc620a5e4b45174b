"""Standard output that is closed or full: said in one line, and never as an unexpected error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Cli

COMMANDS = [
    ["traces"],
    ["answers", "--json"],
    ["failures", "--format", "csv"],
    ["export", "assistant-sample"],
    ["--help"],
]


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.parametrize(
    ("target", "told"), [("&-", "standard output is closed"), ("/dev/full", "standard output can't be written")]
)
def test_output_that_can_not_be_written(sample: Cli, arguments: list[str], target: str, told: str) -> None:
    if target == "/dev/full" and not Path(target).exists():
        pytest.skip("this system has no full device")
    program = f'exec "$@" >{target}'
    where = [] if arguments == ["--help"] else ["--store", sample.store]
    ran = subprocess.run(
        ["sh", "-c", program, "sh", sys.executable, "-m", "api.cli.main", *arguments, *where],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert ran.returncode == 1
    assert [line for line in ran.stderr.splitlines() if line.startswith("error:")] == [
        line for line in ran.stderr.splitlines() if told in line
    ]
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr
