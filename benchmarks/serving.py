"""`memtrace serve` as a process of its own, for benchmarks of the doors."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.context import ROOT
from store.open import Credentials

_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A store, and what the environment must say to reach it."""

    uri: str
    values: str | None = None
    credentials: Credentials | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of a process that works on it."""
        found = {"MEMTRACE_STORE": self.uri, "MEMTRACE_RATE_LIMIT": "10000000/minute", "MEMTRACE_LOG_LEVEL": "warning"}
        if self.values:
            found["MEMTRACE_VALUES"] = self.values
        if self.credentials:
            found["MEMTRACE_NEO4J_USER"] = self.credentials.user
            found["MEMTRACE_NEO4J_PASSWORD"] = self.credentials.password
        return found


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that listens, and a reader's key of one project; how long it took to listen."""

    url: str
    key: str
    pid: int
    start_seconds: float


@asynccontextmanager
async def serving(place: Place, project: str) -> AsyncIterator[Serving]:
    """Start the server, and stop it in order.

    Raises:
        RuntimeError: it does not start.
    """
    environment = {**os.environ, **place.environment}
    made = await _memtrace("keys", "create", "--json", "--project", project, environment=environment)
    output, errors = await made.communicate()
    if made.returncode:
        raise RuntimeError(f"no key could be made: {errors.decode(errors='replace')}")
    began = time.perf_counter()
    server = await _memtrace("serve", "--port", "0", environment=environment)
    assert server.stderr is not None
    assert server.stdout is not None
    drained = asyncio.create_task(server.stdout.read())
    try:
        async with asyncio.timeout(_START_SECONDS):
            while "listens on" not in (line := (await server.stderr.readline()).decode()):
                if not line:
                    raise RuntimeError("the server did not start")
        taken = time.perf_counter() - began
        yield Serving(line.rpartition(" ")[2].strip(), json.loads(output)["key"], server.pid, taken)
    finally:
        if server.returncode is None:
            server.terminate()
        await asyncio.gather(server.stderr.read(), drained, server.wait())


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
