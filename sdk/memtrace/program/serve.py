"""The process in which a program runs: it reads requests as lines of JSON, and writes a line for each.

Standard output is for these lines, so the program's own output goes to standard error. The process ends with its input.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

import memtrace
from memtrace.exporters.file import FileExporter
from memtrace.program.loading import ProgramError
from memtrace.program.running import Running
from memtrace.values import clean_text

_MOST_FRAMES = 6


def main() -> None:
    """Run the program that the first argument names until the input ends."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m memtrace.program MODULE:NAME")
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    with asyncio.Runner() as runner, ExitStack() as stack:
        acts = _Acts(Running(sys.argv[1], runner, stack))
        for line in sys.stdin.buffer:
            answers.write(to_json(acts.do(from_json(line)), inf_nan_mode="strings") + b"\n")


class _Acts:
    def __init__(self, running: Running) -> None:
        self._running = running

    def do(self, said: dict[str, Any]) -> dict[str, Any]:
        """Perform one request; an error of the program is returned as the answer."""
        acts: dict[str, Callable[..., dict[str, Any]]] = {
            "start": self._start,
            "add": self._add,
            "ask": self._ask,
            "judge": self._judge,
            "end": self._running.end,
        }
        try:
            return acts[said.pop("do")](**said)
        except ProgramError as error:
            return {"error": clean_text(str(error))}
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            return {"error": clean_text(f"{type(error).__name__}: {error}"), "trace": _trace_of(error)}

    def _start(self, events: str, folder: str, saved: str | None = None, **said: Any) -> dict[str, Any]:
        memtrace.configure(exporter=FileExporter(Path(events)))
        kept = None if saved is None else Path(saved)
        return {"prompts": self._running.begin(folder=Path(folder), saved=kept, **said)}

    def _add(self, **said: Any) -> dict[str, Any]:
        self._running.add(**said)
        return {}

    def _ask(self, **said: Any) -> dict[str, Any]:
        return {"answer": self._running.ask(**said)}

    def _judge(self, **said: Any) -> dict[str, Any]:
        self._running.judge(**said)
        return {}


def _trace_of(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
