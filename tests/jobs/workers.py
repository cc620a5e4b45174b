"""`memtrace worker` as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from tests.server.running import START_SECONDS, Place, command


class Worker:
    """A worker for the jobs of a project."""

    def __init__(self, place: Place, folder: Path, project: str, *options: str, **settings: object) -> None:
        self._log = folder / f"worker-{token_hex(4)}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command("--project", project, "worker", *options),
                env=place.variables(**settings),
                stdout=log,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert "runs jobs" in line, line + self.process.stderr.read()

    @property
    def log(self) -> list[dict[str, Any]]:
        """The whole lines of the log."""
        lines = self._log.read_text("utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def events(self, event: str) -> list[str]:
        """The jobs of all lines that say this."""
        return [line["job"] for line in self.log if line["event"] == event]

    def stop(self) -> int:
        """Tell it to stop in order; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """End it as a lost machine would."""
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Wait until it has ended; its exit code."""
        assert self.process.stderr is not None
        self.process.stderr.close()
        return self.process.wait(START_SECONDS)


@contextmanager
def working(place: Place, folder: Path, project: str, *options: str, **settings: object) -> Iterator[Worker]:
    """A worker, stopped at the end."""
    worker = Worker(place, folder, project, *options, **settings)
    try:
        yield worker
    finally:
        if worker.process.poll() is None:
            worker.stop()
