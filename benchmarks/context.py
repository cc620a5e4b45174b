"""What all benchmarks work with: folders, sizes, a Neo4j server, and child processes that are measured alone."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.generator import FULL, QUICK, Shape
from benchmarks.neo4j_server import ServerSource

ROOT = Path(__file__).resolve().parent.parent
_RUNS, _QUICK_RUNS = 5, 2
_QUICK_FILES = 2


class UnavailableError(Exception):
    """Something that a measurement needs is not available; says what and why."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where the benchmarks find and keep their data, and how large they are.

    Attributes:
        data: folder with ``traces/``; without the folder, benchmarks on recorded traces are skipped.
        cache: folder for what is kept between runs.
        quick: small sizes and few runs, to see that all works.
        server: where a Neo4j comes from.
    """

    data: Path
    cache: Path
    quick: bool
    server: ServerSource

    @property
    def runs(self) -> int:
        """How often each contender runs."""
        return _QUICK_RUNS if self.quick else _RUNS

    @property
    def shape(self) -> Shape:
        """The generated store."""
        return QUICK if self.quick else FULL

    def graph_files(self) -> list[Path]:
        """The recorded graph files; only the smallest ones in quick runs."""
        found = sorted((self.data / "traces").glob("*.json*"))
        return sorted(found, key=lambda file: file.stat().st_size)[:_QUICK_FILES] if self.quick else found

    def no_files(self) -> str:
        """Why nothing is measured with recorded files."""
        return f"there are no recorded graph files in {self.data / 'traces'} (name their folder with --data)"

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder on the disk of the cache; the system's own temporary folder may be in memory."""
        with tempfile.TemporaryDirectory(prefix="run-", dir=self.cache) as folder:
            yield Path(folder)


def say(text: str) -> None:
    """Tell what is going on, on standard error."""
    print(text, file=sys.stderr, flush=True)


def plain_name(file: Path) -> str:
    """``mem0_locomo-1`` of ``mem0_locomo-1.json.zst``."""
    return file.name.partition(".json")[0]


async def run_child(*arguments: str | Path) -> Any:
    """Run a process to its end, and return its output, parsed as JSON.

    Raises:
        RuntimeError: it failed.
    """
    child = await asyncio.create_subprocess_exec(
        *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await child.communicate()
    if child.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))} failed:\n{errors.decode(errors='replace')}")
    return json.loads(output)


async def run_module(name: str, *arguments: str | Path) -> Any:
    """Run a module of this package in a fresh interpreter."""
    return await run_child(sys.executable, "-m", f"benchmarks.{name}", *arguments)
