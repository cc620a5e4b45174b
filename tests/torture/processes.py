"""Processes that can be killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx

from api.local_servers.neo4j import LocalNeo4j
from api.settings import Settings
from tests.nats_server import NatsServer
from tests.server.running import Place, certificates, command

_START_SECONDS = 300.0


class Part(Protocol):
    """Something that is killed."""

    name: str

    def start(self) -> None:
        """Start it, and wait until it answers."""

    def kill(self) -> None:
        """End it as a lost machine would."""


class Process:
    """A command of ours."""

    def __init__(
        self, name: str, arguments: list[str], environment: Mapping[str, str], folder: Path, said: str
    ) -> None:
        self.name = name
        self._arguments = arguments
        self._environment = dict(environment)
        self._said = said
        self._log = folder / f"{name}.log"
        self._log.touch()
        self._forgotten = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """Everything the process has logged, over all restarts, since ``forget_log``."""
        return self._log.read_bytes()[self._forgotten :].decode("utf-8", "replace")

    def forget_log(self) -> None:
        """Leave the lines so far out of ``log``."""
        self._forgotten = self._log.stat().st_size

    @property
    def memory(self) -> int:
        """The most bytes of memory that its process has had."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text("ascii")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    def start(self) -> None:
        """Start the process, and wait for its first log line."""
        before = len(self.log)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command(*self._arguments), env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + _START_SECONDS
        while self._said not in self.log[before:]:
            assert self._process.poll() is None, f"{self.name} ended: {self.log[before:][-3000:]}"
            assert time.monotonic() < deadline, f"{self.name} does not start: {self.log[before:][-3000:]}"
            time.sleep(0.05)

    def kill(self) -> None:
        """End it and its children."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> int:
        """Tell it to stop in order; its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(_START_SECONDS)


class Nats:
    """The broker."""

    name = "nats"

    def __init__(self, server: NatsServer) -> None:
        self._server = server

    def start(self) -> None:
        """Start it at the same port with the same streams."""
        self._server.start()

    def kill(self) -> None:
        """End it."""
        self._server.kill()


class Neo4j:
    """The store."""

    name = "neo4j"

    def __init__(self, local: LocalNeo4j) -> None:
        self._local = local

    def start(self) -> None:
        """Start it at the same port with the same data."""
        self._local.start(guarded=True)

    def kill(self) -> None:
        """End it."""
        self._local.stop(kill=True)


@dataclass(frozen=True)
class World:
    """All that runs.

    Attributes:
        place: the store.
        parts: what is killed.
        url: the server's.
        settings: to open the store and the queue with.
    """

    place: Place
    parts: Sequence[Part]
    url: str
    settings: Settings

    def part(self, name: str) -> Part:
        """The one with a name."""
        (found,) = [part for part in self.parts if part.name == name]
        return found

    def log_of(self, name: str) -> str:
        """The logs of all processes whose name starts with ``name``."""
        return "".join(part.log for part in self._processes() if part.name.startswith(name))

    def forget_logs(self) -> None:
        """Leave out of all logs what was written so far."""
        for part in self._processes():
            part.forget_log()

    def _processes(self) -> list[Process]:
        return [part for part in self.parts if isinstance(part, Process)]


def waits(url: str) -> int:
    """How many packets wait, as the server says; -1 where it can't."""
    try:
        page = httpx.get(f"{url}/metrics", timeout=5, verify=certificates()).text
    except httpx.HTTPError:
        return -1
    values = dict(line.rsplit(" ", 1) for line in page.splitlines() if line.startswith("memtrace_queue_"))
    return int(float(values["memtrace_queue_packets"])) if values.get("memtrace_queue_up") == "1.0" else -1
