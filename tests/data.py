"""Recorded traces of real memory systems: not part of the project, for their text's licence is CC BY-NC."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "examples" / "sample" / "assistant.json"


def data_folder() -> Path | None:
    """The folder of recorded traces: ``MEMTRACE_TEST_DATA``, else ``shared/data`` beside the project or above it."""
    named = os.environ.get("MEMTRACE_TEST_DATA")
    if named:
        return Path(named)
    return next((p / "shared" / "data" for p in ROOT.parents if (p / "shared" / "data" / "traces").is_dir()), None)


def trace_files(*folders: str) -> list[Path]:
    """Graph files of the named folders of the data, sorted; empty without the data."""
    data = data_folder()
    return [] if data is None else sorted(path for name in folders for path in (data / name).rglob("*.json.zst"))


needs_data = pytest.mark.skipif(
    data_folder() is None, reason="no recorded traces: set MEMTRACE_TEST_DATA to a folder that holds traces/"
)
