"""Keeps the data for replays of a trace on this machine.

Each trace has a folder that only its user can read, with the runs (program, input, clock, seeds), the replies of
models, and the memory at the beginning.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from memtrace.exporters.spool import state_directory
from memtrace.folders import make_private_folder
from memtrace.mistakes import MistakeError, shown
from memtrace.values import plain_tree

MAX_SHOWN_INPUT = 20_000
"""Largest input, in bytes, that is sent with the trace; a larger input is only in the folder."""
MAX_BYTES = 1_000_000_000
"""Of the folders of all traces together."""
_RUNS = "runs.jsonl"

_has_room = False


def root() -> Path:
    """The folder of all traces: ``MEMTRACE_REPLAY``, or a folder in the user's state folder."""
    said = os.environ.get("MEMTRACE_REPLAY")
    return Path(said) if said else state_directory() / "replay"


def folder_of(trace_id: str) -> Path:
    """The folder of a trace; it may not exist."""
    return root() / blake2b(trace_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def runs_of(folder: Path) -> list[dict[str, Any]]:
    """The runs of a trace's folder, oldest first.

    Raises:
        ValueError: the folder has no runs, or the file is damaged.
    """
    path = folder / _RUNS
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        raise ValueError(f"{folder}: nothing is kept there") from None
    runs: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            run = from_json(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: damaged: {error}") from None
        if not isinstance(run, dict) or not {"program", "input"} <= run.keys():
            raise ValueError(f"{path}, line {number}: no run: it has no program and input")
        runs.append(run)
    return runs


def begin(trace_id: str, program: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the beginning of a run: program, input, clock and seeds.

    Returns:
        The attribute ``replay`` of the trace.

    Raises:
        ValueError: the program is not written ``module:function``.
    """
    module, _, function = program.partition(":")
    if not module or not function or "<locals>" in function or module == "__main__":
        raise MistakeError(
            f"program must be module:function, and importable by that name, got {shown(program)}; what is defined in "
            "the script that runs has to move into a module"
        )
    source = source_hash(module)
    run = {
        "trace": trace_id,
        "program": program,
        "input": plain_tree(given),
        "source": source,
        "clock": time.time_ns(),
        "seeds": {"random": random.getstate(), "hash": os.environ.get("PYTHONHASHSEED")},
        "python": sys.executable,
        "folder": str(Path.cwd()),
    }
    folder = folder_of(trace_id)
    if not _has_room and not folder.exists():
        _make_room(folder.parent)
    make_private_folder(folder)
    line = to_json(run) + b"\n"
    descriptor = os.open(folder / _RUNS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(line)
    told = {name: run[name] for name in ("program", "source", "clock")}
    if len(to_json(run["input"])) <= MAX_SHOWN_INPUT:
        told["input"] = run["input"]
    return told


def _make_room(parent: Path) -> None:
    """Remove the folders of the oldest traces, once a process, until all folders take at most ``MAX_BYTES``."""
    global _has_room  # noqa: PLW0603 (once a process)
    if _has_room or not parent.exists():
        return
    _has_room = True
    sizes = {
        one: sum(path.stat().st_size for path in one.rglob("*") if path.is_file())
        for one in sorted(parent.iterdir(), key=lambda one: one.stat().st_mtime)
    }
    total = sum(sizes.values())
    for one, size in sizes.items():
        if total <= MAX_BYTES:
            return
        shutil.rmtree(one, ignore_errors=True)
        total -= size


def source_hash(module: str) -> str | None:
    """SHA-256 of a module's source; None for a module without a file."""
    loaded = sys.modules.get(module)
    path = getattr(loaded, "__file__", None)
    if path is None:
        spec = find_spec(module)
        path = None if spec is None else spec.origin
    try:
        return None if path is None else _hash_of(path, _changed(path))
    except OSError:
        return None


def _changed(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 (takes a quarter of the time of Path's)
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=256)
def _hash_of(path: str, _changed: tuple[int, int]) -> str:
    """SHA-256 of a file, cached until the file changes."""
    return sha256(Path(path).read_bytes()).hexdigest()
