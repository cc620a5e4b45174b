"""Calls the command line in tests, on stores with known contents."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.context import DEFAULT_PROJECT
from api.cli.main import command_line
from store.open import open_database
from tests.attribution.benchmark.sample import write_benchmark
from tests.factory import TraceBuilder

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "examples" / "sample" / "assistant.json"


# The tests may run with interrupts ignored, as in the background of a shell; processes inherit that.
_PROGRAM = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("api.cli.main", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Result:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON document on standard output."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Cli:
    """Calls commands on a store, in the process of the test."""

    store: str

    def __call__(self, *arguments: str | Path, input: bytes | None = None, code: int = 0) -> Result:  # noqa: A002
        """Call a command on this store, and check its exit code."""
        return self.plain("--store", self.store, *arguments, input=input, code=code)

    def plain(self, *arguments: str | Path, input: bytes | None = None, code: int = 0) -> Result:  # noqa: A002
        """Call a command without naming the store."""
        ran = CliRunner().invoke(command_line(), [str(argument) for argument in arguments], input=input)
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        result = Result(ran.exit_code, ran.stdout, ran.stderr)
        assert result.code == code, result
        return result

    def whatever(self, *arguments: str) -> Result:
        """Call a command on this store, whichever exit code it has."""
        ran = CliRunner().invoke(command_line(), ["--store", self.store, *arguments])
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return Result(ran.exit_code, ran.stdout, ran.stderr)

    def process(self, *arguments: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command as a process of its own, with its streams piped."""
        command = [sys.executable, "-c", _PROGRAM, *map(str, arguments), "--store", self.store]
        piped: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, **piped)


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder of its own, and no settings of the caller."""
    for name in [name for name in os.environ if name.startswith("MEMTRACE_")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Commands on a store that does not exist yet."""
    return Cli(f"sqlite:///{tmp_path / 'test.db'}")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Commands on a store with the sample, for reading only."""
    cli = Cli(f"sqlite:///{tmp_path_factory.mktemp('sample') / 'sample.db'}")
    cli("import", SAMPLE)
    return cli


@pytest.fixture
def stored(cli: Cli) -> Callable[[TraceBuilder], Cli]:
    """Writes a trace, and returns commands on its store."""

    def write(trace: TraceBuilder) -> Cli:
        async def write_it() -> None:
            async with await open_database(cli.store) as database:
                await trace.write(database.project(DEFAULT_PROJECT))

        asyncio.run(write_it())
        return cli

    return write


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Commands on a store with the sample, its annotations and verdicts of the free pass, for reading only."""
    folder = tmp_path_factory.mktemp("judged")
    cli = Cli(f"sqlite:///{folder / 'test.db'}")
    cli("import", write_benchmark(folder))
    cli("attribute", "--all")
    return cli
