"""Running a recorded program again, in a process of its own."""

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
"""How settings begin that are the platform's, or say where to record to: a replayed program needs none of them."""
_PATIENCE = 5.0
_MOST_ERROR_CHARACTERS = 2000


class ReplayError(RuntimeError):
    """A program can't be run again; the message says why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one replay may take.

    Attributes:
        seconds: of time; then its process is ended.
        calls: live calls of models.
        cost: once this is spent on models, no further call is made.
        prices: of a million tokens, by ``input`` and ``output``; ``cost`` needs them.
    """

    seconds: float = 60.0
    calls: int | None = None
    cost: float | None = None
    prices: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Which answers are wanted: the variables of this name and kind in whose past the question is."""

    name: str
    kind: str
    question: str


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """A call of a replay: what it is known by, and the beginning of its arguments."""

    call: str
    given: str


@dataclass(frozen=True, slots=True)
class ReplayedOperation:
    """What an operation of a replay was, by content.

    Attributes:
        call: what its call is known by; None for one that is no call of a function.
        place: its module and function, without the line.
        used: role and hash of each value that it was given (as the platform hashes values: ``b2:`` and BLAKE2b-16).
        attributes: its numbers, and what else it says of itself.
    """

    call: str | None
    name: str
    place: str
    used: tuple[tuple[str, str], ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of a replay.

    Attributes:
        calls: in the order in which they began.
        operations: all operations, in the order in which they began.
        hits: how often each change was made.
        answers: what was asked for, oldest first.
        problems: why a change was not made, or a model was not asked.
        error: what the program raised.
        changed: modules whose source is not what it was when they were recorded.
        is_clock_kept: whether time went on from the moment of the recording.
        kept: names of the kept replies of models that were used.
        live: live calls of models; ``tokens`` and ``cost`` are what they used.
        seconds: how long it took.
        events: what was recorded, if that was wanted.
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
    """Runs a recorded program again, any number of times; a process waits beside this one until ``close``.

    Each run begins with the memory that a new process has, so that none sees what another did.

    Args:
        folder: what is kept of the trace (``memtrace.replay.folder_of``).
        program: ``module:function``; the default is the one that was recorded.
        python: the interpreter; the default is that of the recording.
        directory: where the program runs; the default is that of the recording.

    Raises:
        ValueError: nothing is kept there.
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
        """End the process, and remove what its runs wrote."""
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
            do: changes; none for a null replay.
            models: ``kept``: models are not asked, only their kept replies are given. ``mixed``: they are asked for
                what was not kept. ``fresh``: they are always asked.
            ask: which answers are wanted.
            fresh: names of kept replies that ``mixed`` asks for again.
            limits: what it may take.
            events: whether the recorded events are wanted.

        Raises:
            ReplayError: it took too long, or its process ended without an answer.
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
        """End the process and all that it started."""
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
        """The end of what the process wrote to standard error."""
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
        trace: the trace's id, or the folder of what is kept of it.
        do: what is done to some calls in place of what the program does.
        models: whose replies are given: see ``Replayer.run``.
        program: ``module:function``; the default is the one that was recorded.
        ask: which answers are wanted.
        limits: what it may take.

    Raises:
        ValueError: nothing is kept of the trace on this machine.
        ReplayError: it took too long, or its process ended without an answer.
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
