"""Child that records with ``memtrace`` and prints what that cost as JSON.

It runs in any interpreter that has pydantic, with ``sdk`` on its path: nothing else of the project may be imported.
Run: ``python recording_ours.py calls|kept|off|buffer|away COUNT FOLDER``
"""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memtrace
from memtrace.exporters.file import FileExporter

QUESTION = "What is the name of the user's dog?"
CONTEXT = "The user has a dog, which is called Bo. " * 10
BURST = 200
MESSAGE = "x" * 85
numbers = itertools.count()


@memtrace.operation(kind="Generation", output="Answer")
def answer(question: str, context: str) -> str:
    """The operation that is recorded: two inputs, one output."""
    return f"answer {next(numbers)} to {question}"


def calls(count: int, folder: Path) -> dict[str, float]:
    """Seconds that a call takes, while events are written to a file."""
    memtrace.configure(exporter=FileExporter(folder / "calls.ndjson"))
    bursts, threads = [], []
    with memtrace.trace():
        question = memtrace.variable(QUESTION, "Query", "question")
        context = memtrace.variable(CONTEXT, "Context", "context")
        total = time.process_time()
        for _ in range(0, count, BURST):
            began, used = time.perf_counter(), time.thread_time()
            for _ in range(BURST):
                answer(question, context)
            threads.append((time.thread_time() - used) / BURST)
            bursts.append((time.perf_counter() - began) / BURST)
            result = memtrace.flush(60)
        total = time.process_time() - total
    # start and end, two uses, the output and two derivations each; the trace and the two inputs
    assert (result.sent, result.dropped) == (7 * count + 3, 0), result
    median = statistics.median
    return {"wall": median(bursts), "thread": median(threads), "total": total / count}


def kept(count: int, folder: Path) -> dict[str, float]:
    """The cost of the same calls in a trace that is kept for replays, and in an ordinary trace.

    The cost in all threads includes the beginning of the trace.
    """
    os.environ["MEMTRACE_REPLAY"] = str(folder / "replay")
    memtrace.configure(exporter=FileExporter(folder / "kept.ndjson"))
    threads: dict[str | None, list[float]] = {None: [], "recording_ours:kept": []}
    total: dict[str | None, list[float]] = {program: [] for program in threads}
    chance = random.Random()  # a regular order meets other regular work, such as a search for garbage, on one side
    for _ in range(0, count, BURST):
        for program in chance.sample(list(threads), 2):
            whole = time.process_time()
            with memtrace.trace(program=program):
                question = memtrace.variable(QUESTION, "Query", "question")
                context = memtrace.variable(CONTEXT, "Context", "context")
                used = time.thread_time()
                for _ in range(BURST):
                    answer(question, context)
                threads[program].append((time.thread_time() - used) / BURST)
                assert memtrace.flush(60).dropped == 0
            total[program].append((time.process_time() - whole) / BURST)
    plain, keeping = map(statistics.median, threads.values())
    total_plain, total_kept = map(statistics.median, total.values())
    return {"plain": plain, "kept": keeping, "totalPlain": total_plain, "totalKept": total_kept}


def off(count: int, folder: Path) -> dict[str, float]:
    """Seconds that the same costs when recording is off, without the function itself."""

    def plain(question: str, context: str) -> str:
        return f"answer {next(numbers)} to {question}"

    def loop(fn: Callable[[str, str], str]) -> float:
        best = float("inf")
        for _ in range(200):
            began = time.perf_counter()
            for _ in range(1000):
                fn(QUESTION, CONTEXT)
            best = min(best, time.perf_counter() - began)
        return best / 1000

    def blocks() -> float:
        best = float("inf")
        for _ in range(200):
            began = time.perf_counter()
            for _ in range(1000):
                with memtrace.operation("answer", kind="Generation"):
                    pass
            best = min(best, time.perf_counter() - began)
        return best / 1000

    return {"decorated": max(0.0, loop(answer) - loop(plain)), "block": blocks()}


def buffer(count: int, folder: Path) -> dict[str, float]:
    """Seconds and bytes of a list that is changed some times, each time by a message."""
    path = folder / "buffer.ndjson"
    memtrace.configure(exporter=FileExporter(path))
    with memtrace.trace():
        messages: list[Any] = []
        began = time.perf_counter()
        for number in range(count):
            with memtrace.mutation(messages, "buffer"):
                messages.append(f"message {number} {MESSAGE}")
        seconds = time.perf_counter() - began
    assert memtrace.flush(600).dropped == 0
    return {"seconds": seconds, "bytes": path.stat().st_size, "rss": _peak()}


def away(count: int, folder: Path) -> dict[str, float]:
    """Growth of memory while the platform can't be reached: with the spool on disk, or without one."""
    from memtrace.exporters.http import HttpExporter

    spool = folder / "spool" if folder.name == "with-spool" else False
    memtrace.configure(exporter=HttpExporter("http://127.0.0.1:9", None, "p", spool=spool))
    before = 0.0
    with memtrace.trace():
        question = memtrace.variable(QUESTION, "Query", "question")
        context = memtrace.variable(CONTEXT, "Context", "context")
        for number in range(count):
            answer(question, context)
            if number == count // 10:
                before = _peak()
    after = _peak()
    result = memtrace.flush(60)
    return {"first": before, "last": after, "spooled": result.spooled, "dropped": result.dropped}


def _peak() -> float:
    """The most memory that this process has used, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # the system counts memory of the parent in that of a child
        line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM:"))
        return float(line.split()[1]) * 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(used if sys.platform == "darwin" else used * 1024)


if __name__ == "__main__":
    works = {"calls": calls, "kept": kept, "off": off, "buffer": buffer, "away": away}
    print(json.dumps(works[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))))
    memtrace.configure()
