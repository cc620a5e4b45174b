"""`memtrace serve` as a process of its own, for benchmarks of GraphQL and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.context import ROOT
from store.open import Credentials

_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A store, and what the environment must say to reach it."""

    uri: str
    values: str | None = None
    credentials: Credentials | None = None
    more: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of a process that works on it."""
        found = {"MEMTRACE_STORE": self.uri, "MEMTRACE_RATE_LIMIT": "10000000/minute", "MEMTRACE_LOG_LEVEL": "warning"}
        if self.values:
            found["MEMTRACE_VALUES"] = self.values
        if self.credentials:
            found["MEMTRACE_NEO4J_USER"] = self.credentials.user
            found["MEMTRACE_NEO4J_PASSWORD"] = self.credentials.password
        return found | dict(self.more)


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that listens, a key of one project, and how long the server took until it listened."""

    url: str
    key: str
    pid: int
    start_seconds: float


@asynccontextmanager
async def serving(place: Place, project: str, role: str = "reader") -> AsyncIterator[Serving]:
    """Start the server, and stop it in order.

    Raises:
        RuntimeError: it does not start.
    """
    environment = {**os.environ, **place.environment}
    key = await make_key(place, project, role)
    began = time.perf_counter()
    async with _running(environment, "listens on", "serve", "--port", "0") as (pid, line):
        taken = time.perf_counter() - began
        yield Serving(line.rpartition(" ")[2].strip(), key, pid, taken)


async def make_key(place: Place, project: str, role: str) -> str:
    """A new key of a project.

    Raises:
        RuntimeError: it can't be made.
    """
    environment = {**os.environ, **place.environment}
    made = await _memtrace("keys", "create", "--json", "--role", role, "--project", project, environment=environment)
    output, errors = await made.communicate()
    if made.returncode:
        raise RuntimeError(f"no key could be made: {errors.decode(errors='replace')}")
    key: str = json.loads(output)["key"]
    return key


@asynccontextmanager
async def working(place: Place) -> AsyncIterator[int]:
    """Start a worker, and stop it in order; its process.

    Raises:
        RuntimeError: it does not start.
    """
    async with _running({**os.environ, **place.environment}, "writes events", "worker") as (pid, _):
        yield pid


@asynccontextmanager
async def _running(environment: Mapping[str, str], said: str, *arguments: str) -> AsyncIterator[tuple[int, str]]:
    """A running process and its first line of output; stopped cleanly at the end."""
    process = await _memtrace(*arguments, environment=environment)
    assert process.stderr is not None
    assert process.stdout is not None
    drained = asyncio.create_task(process.stdout.read())
    try:
        async with asyncio.timeout(_START_SECONDS):
            while said not in (line := (await process.stderr.readline()).decode()):
                if not line:
                    raise RuntimeError(f"memtrace {arguments[0]} did not start")
        yield process.pid, line
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.gather(process.stderr.read(), drained, process.wait())


async def _memtrace(*arguments: str, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "api.cli.main",
        *arguments,
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
