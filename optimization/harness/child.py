"""Starts a program in a process of its own, and talks with the process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from schema.errors import MemTraceError

_SECRETS = ("MEMTRACE_API_KEY", "MEMTRACE_ENDPOINT", "MEMTRACE_INSTRUMENT", "MEMTRACE_NEO4J_PASSWORD", "MEMTRACE_STORE")
"""The platform's settings that are removed from a program's environment."""
_LONGEST_LINE = 64 << 20
_KEPT_LINES = 20
_PATIENCE = 5.0


class ProgramFailed(MemTraceError):  # noqa: N818 (it is what happened, not a mistake of the caller)
    """The program raised an error, took too long, or its process ended."""


class ProcessLost(ProgramFailed):
    """The program's process ended, or can't be used any more."""


class Child:
    """A program's process, as an asynchronous context manager; leaving the block ends the process and its children.

    Args:
        program: ``module:name``.
        python: the interpreter of the program's environment, which has the recorder installed.
        directory: working directory of the process.
        environment: additional environment variables.
    """

    def __init__(self, program: str, python: str, directory: Path, environment: Mapping[str, str]) -> None:
        self._program = program
        self._python = python
        self._directory = directory
        self._environment = environment
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)

    async def __aenter__(self) -> Self:
        own = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        try:
            self._process = await asyncio.create_subprocess_exec(
                self._python,
                "-m",
                "memtrace.program",
                self._program,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._directory,
                env={"PYTHONHASHSEED": "0", **own, **self._environment, "MEMTRACE_ENABLED": "1"},
                limit=_LONGEST_LINE,
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramFailed(f"{self._python} can't be started: {error.strerror}") from None
        self._errors = asyncio.create_task(self._read_errors())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        if error is None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _PATIENCE)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._errors.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._errors

    async def do(self, act: str, seconds: float, /, **said: Any) -> dict[str, Any]:
        """Send a command to the process, and return the reply.

        Args:
            act: ``start``, ``add``, ``ask``, ``judge`` or ``end``.
            seconds: time limit.
            said: parameters of the command.

        Raises:
            ProcessLost: the program took too long, or its process ended; the message says which.
            ProgramFailed: the program raised an error.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"do": act, **said}) + "\n"
        try:
            self._process.stdin.write(line.encode())
            await self._process.stdin.drain()
            answer = await asyncio.wait_for(self._process.stdout.readline(), seconds)
        except TimeoutError:
            raise ProcessLost(f"{self._program} took longer than {seconds:g} seconds to {act}") from None
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
        except ValueError:
            raise ProcessLost(f"{self._program} gave an answer of more than {_LONGEST_LINE:,} bytes") from None
        if not answer:
            code = await self._process.wait()
            await asyncio.sleep(0)
            last_lines = "".join(f"\n  {line}" for line in self._said)
            raise ProcessLost(f"the process of {self._program} ended with {code}{last_lines}")
        found: dict[str, Any] = json.loads(answer)
        if "error" in found:
            at = f" ({'; '.join(found['trace'])})" if found.get("trace") else ""
            raise ProgramFailed(f"{act}: {found['error']}{at}")
        return found

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while line := await self._process.stderr.readline():
            self._said.append(line.decode("utf-8", "replace").rstrip())


async def prompts_of(program: str, python: str, directory: Path, folder: Path, seconds: float) -> dict[str, str]:
    """The program's own prompts, by name.

    Args:
        program: ``module:name``.
        python: the interpreter of the program's environment.
        directory: working directory of the process.
        folder: an empty folder for the program's files.
        seconds: time limit for the start.

    Raises:
        ProgramFailed: the program can't be started.
    """
    async with Child(program, python, directory, {}) as child:
        found = await child.do("start", seconds, **beginning("nobody", "nobody", {}, folder, ()))
    prompts: dict[str, str] = found["prompts"]
    return prompts


def beginning(
    user: str, trace: str, prompts: Mapping[str, str], folder: Path, instruments: Sequence[str]
) -> dict[str, Any]:
    """The parameters of the command ``start``; ``folder`` will have ``events.ndjson`` and the program's ``files``."""
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    return {
        "user": user,
        "trace": trace,
        "prompts": dict(prompts),
        "folder": str(files),
        "events": str(folder / "events.ndjson"),
        "instruments": list(instruments),
    }
