"""Runs a recorded program again, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from pydantic_core import from_json, to_json

from memtrace.replay.do import Do
from memtrace.replay.keeping import folder_of, runs_of

Models = Literal["kept", "mixed", "fresh"]

_SETTINGS = ("MEMTRACE_API_KEY", "MEMTRACE_ENDPOINT", "MEMTRACE_LLM_", "MEMTRACE_NEO4J_")
"""Beginnings of environment variables that a replayed program does not get: settings of platform and exporter."""
_PATIENCE = 5.0
_MOST_ERROR_CHARACTERS = 2000


class ReplayError(RuntimeError):
    """A program can't be run again; the message says why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one replay.

    Attributes:
        seconds: of time; then the process is killed.
        calls: largest number of live calls of models.
        cost: once this is spent on models, no further call is made.
        prices: of a million tokens, by ``input`` and ``output``; needed for ``cost``.
    """

    seconds: float = 60.0
    calls: int | None = None
    cost: float | None = None
    prices: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The wanted answers: variables with this name and kind that depend on the question."""

    name: str
    kind: str
    question: str


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """A call of a replay: its identity, and the beginning of its arguments."""

    call: str
    given: str


@dataclass(frozen=True, slots=True)
class ReplayedOperation:
    """An operation of a replay, described by content.

    Attributes:
        call: the identity of the call; None for an operation that is no call of a function.
        place: module and function, without the line.
        used: role and hash of each argument (the platform's hash of values: ``b2:`` and BLAKE2b-16).
        attributes: the operation's attributes.
    """

    call: str | None
    name: str
    place: str
    used: tuple[tuple[str, str], ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay.

    Attributes:
        calls: in the order of their beginnings.
        operations: all operations, in the order of their beginnings.
        hits: the number of times that each change was made.
        answers: the values of the wanted answers, oldest first.
        problems: reasons why a change was not made, or a model was not asked.
        error: the error that the program raised.
        changed: modules whose source has changed since the recording.
        is_clock_kept: whether time went on from the moment of the recording.
        kept: names of the kept replies of models that were used.
        live: number of live calls of models; ``tokens`` and ``cost`` are their sums.
        seconds: duration of the replay.
        events: the recorded events, if wanted.
    """

    calls: tuple[ReplayedCall, ...]
    operations: tuple[ReplayedOperation, ...]
    hits: tuple[int, ...]
    answers: tuple[str, ...]
    problems: tuple[str, ...]
    error: str | None
    changed: tuple[str, ...]
    is_clock_kept: bool
    kept: frozenset[str]
    live: int
    tokens: int
    cost: float | None
    seconds: float
    events: tuple[dict[str, Any], ...] = field(default=(), repr=False)


class Replayer:
    """Runs a recorded program again, any number of times, in a child process that waits until ``close``.

    Each run begins with the memory of a new process, so that no run sees changes of another run.

    Args:
        folder: the folder of the trace (``memtrace.replay.folder_of``).
        program: ``module:function``; the default is the recorded program.
        python: the interpreter; the default is the interpreter of the recording.
        directory: the working directory; the default is the directory of the recording.

    Raises:
        ValueError: the folder has no recorded runs.
    """

    def __init__(
        self,
        folder: Path,
        program: str | None = None,
        python: str | None = None,
        directory: Path | str | None = None,
    ) -> None:
        self.folder = folder
        self._program = program
        first = runs_of(folder)[0]
        self._python = python or first.get("python") or sys.executable
        self._directory = str(directory or first.get("folder") or Path.cwd())
        seeds = first.get("seeds") or {}
        self._hash_seed = seeds.get("hash")
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch = Path(tempfile.mkdtemp(prefix="memtrace-replay-"))
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and remove the files of its runs."""
        self._stop()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def run(
        self,
        do: Sequence[Do] = (),
        models: Models = "kept",
        *,
        ask: Ask | None = None,
        fresh: Collection[str] = (),
        limits: Limits | None = None,
        events: bool = False,
    ) -> Replayed:
        """Run the program once.

        Args:
            do: changes; empty for a null replay.
            models: ``kept``: only kept replies of models are given. ``mixed``: models are asked if no reply was kept.
                ``fresh``: models are always asked.
            ask: the wanted answers.
            fresh: names of kept replies that ``mixed`` asks for again.
            limits: the limits of the run.
            events: whether the recorded events are wanted.

        Raises:
            ReplayError: the run took too long, or the process ended without an answer.
        """
        limits = limits or Limits()
        self._number += 1
        scratch = self._scratch / str(self._number)
        scratch.mkdir()
        out = scratch / "replayed.json"
        request = {
            "kept": str(self.folder),
            "program": self._program,
            "do": [one.as_json() for one in do],
            "models": models,
            "fresh": sorted(fresh),
            "ask": None if ask is None else {"name": ask.name, "kind": ask.kind, "question": ask.question},
            "limits": {"calls": limits.calls, "cost": limits.cost, "prices": limits.prices},
            "events": events,
            "scratch": str(scratch),
            "out": str(out),
        }
        try:
            ended = self._asked(to_json(request) + b"\n", limits.seconds)
            if not out.exists():
                raise ReplayError(f"the process of the replay ended with {ended} and no result{self._said()}")
            return _replayed(from_json(out.read_bytes()))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _asked(self, line: bytes, seconds: float) -> int:
        try:
            process = self._started()
        except OSError as error:
            raise ReplayError(f"{self._python} can't be started in {self._directory}: {error.strerror}") from None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except OSError:
            self._stop()
            raise ReplayError(f"the process of the replay can't be started{self._said()}") from None
        deadline = time.monotonic() + seconds
        answer = b""
        while not answer.endswith(b"\n"):
            left = deadline - time.monotonic()
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, left))
            if not ready:
                self._stop()
                raise ReplayError(f"it took longer than {seconds:g} seconds")
            part = os.read(process.stdout.fileno(), 65536)
            if not part:
                self._stop()
                raise ReplayError(f"the process of the replay ended{self._said()}")
            answer += part
        return int(from_json(answer)["exit"])

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            own = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}
            own["PYTHONHASHSEED"] = str(self._hash_seed) if self._hash_seed else "0"
            own["MEMTRACE_ENABLED"] = "1"
            with (self._scratch / "stderr").open("wb") as errors:
                self._process = subprocess.Popen(
                    [self._python, "-m", "memtrace.replay"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    cwd=self._directory,
                    env=own,
                    start_new_session=True,
                )
        return self._process

    def _stop(self) -> None:
        """Kill the process and its child processes."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(_PATIENCE)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _said(self) -> str:
        try:
            text = (self._scratch / "stderr").read_text("utf-8", "replace").strip()
        except OSError:
            return ""
        return f": {text[-_MOST_ERROR_CHARACTERS:]}" if text else ""


def run(
    trace: str | Path,
    do: Sequence[Do] = (),
    models: Models = "kept",
    *,
    program: str | None = None,
    ask: Ask | None = None,
    limits: Limits | None = None,
) -> Replayed:
    """Run the program of a recorded trace again, in a process of its own.

    Args:
        trace: the trace's id, or the trace's folder.
        do: changes of calls.
        models: as in ``Replayer.run``.
        program: ``module:function``; the default is the recorded program.
        ask: the wanted answers.
        limits: the limits of the run.

    Raises:
        ValueError: this machine keeps no data of the trace.
        ReplayError: the run took too long, or the process ended without an answer.
    """
    folder = trace if isinstance(trace, Path) else folder_of(trace)
    with Replayer(folder, program) as replayer:
        return replayer.run(do, models, ask=ask, limits=limits, events=True)


def _replayed(found: Mapping[str, Any]) -> Replayed:
    models = found["models"]
    return Replayed(
        calls=tuple(ReplayedCall(one["call"], one["given"]) for one in found["calls"]),
        operations=tuple(
            ReplayedOperation(
                one["call"],
                one["name"],
                one["place"],
                tuple(sorted((role, digest) for role, digest in one["used"])),
                one["attributes"],
            )
            for one in found["operations"]
        ),
        hits=tuple(found["hits"]),
        answers=tuple(found["answers"]),
        problems=tuple(found["problems"]),
        error=found["error"],
        changed=tuple(found["changed"]),
        is_clock_kept=found["clock"],
        kept=frozenset(models["kept"]),
        live=models["live"],
        tokens=models["tokens"],
        cost=models["cost"],
        seconds=found["seconds"],
        events=tuple(found["events"]),
    )
