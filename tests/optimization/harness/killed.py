"""Runs a command and kills it, with all its processes, at the n-th model call, or when a file appears."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tests.data import ROOT
from tests.llm_server import Answer, LlmServer, Request, Script

_SECONDS = 900.0


class Killed:
    """Runs a command against a scripted model.

    Attributes:
        server: the model.
        errors: standard error of the last run.
    """

    def __init__(self, script: Script) -> None:
        self.server = LlmServer()
        self.server.script(self._reply, repeat=True)
        self.errors = ""
        self._script = script
        self._kill_at: int | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self, command: Sequence[str], at_request: int | None = None, at_file: tuple[Path, str] | None = None
    ) -> int:
        """Run a command of ``memtrace``, and return its exit code.

        Args:
            command: the arguments.
            at_request: kill the command at the model call with this number, before the reply.
            at_file: kill the command when a folder has a file of this pattern.
        """
        self._kill_at = None if at_request is None else len(self.server.requests) + at_request
        own = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")},
            "MEMTRACE_LLM_BASE_URL": self.server.url,
            "MEMTRACE_LLM_MODEL": "reflecting",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "memtrace_platform", *command],
            cwd=ROOT,
            env=own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        if at_file is not None:
            threading.Thread(target=self._watch, args=(*at_file, self._process), daemon=True).start()
        _, errors = self._process.communicate(timeout=_SECONDS)
        self.errors = errors.decode()
        return self._process.returncode

    def _reply(self, request: Request) -> Answer:
        if len(self.server.requests) == self._kill_at:
            self._kill_at = None
            self._kill()
        return self._script if isinstance(self._script, Answer) else self._script(request)

    def _kill(self) -> None:
        """Kill the command's process group; its programs have separate groups, and end when their input is closed."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)

    def _watch(self, folder: Path, pattern: str, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            if any(folder.glob(pattern)):
                self._kill()
                return
            time.sleep(0.001)
