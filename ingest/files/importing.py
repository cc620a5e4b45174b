"""Imports files: finds the files that are meant, recognises their formats, and has them read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ingest.files.opening import STANDARD_INPUT, display_name, mapped, plain_name
from ingest.files.protocol import ImportReport, OpenFile, Progress
from ingest.files.registry import FORMATS, HEAD_BYTES, format_of_file
from schema.errors import InputError
from store.contract.protocol import GraphStore

_PACKED = ("", ".gz", ".xz", ".zst")


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The files that some paths name, in order. For a folder, these are the files in it whose names fit a format.

    Raises:
        InputError: a path does not exist, or a folder contains no such file.
    """
    patterns = [f"*{one.suffix}{packed}" for one in FORMATS for packed in _PACKED]
    found: list[Path] = []
    for path in paths:
        if path == STANDARD_INPUT or path.is_file():
            found.append(path)
        elif path.is_dir():
            inside = sorted({file for pattern in patterns for file in path.rglob(pattern) if file.is_file()})
            if not inside:
                raise InputError(str(path), "", f"holds no file of a trace ({', '.join(patterns)})")
            found.extend(inside)
        elif path.exists():
            raise InputError(str(path), "", "is neither a file nor a folder")
        else:
            raise InputError(str(path), "", "does not exist")
    return found


async def import_path(
    store: GraphStore,
    path: Path,
    timezone: str = "UTC",
    progress: Progress | None = None,
    max_bytes: int | None = None,
    max_ratio: int | None = None,
    is_upload: bool = False,
) -> ImportReport:
    """Import one file of any format, which is recognised by its first bytes; ``Path("-")`` is standard input.

    What is stored already stays as it is: importing a file again, or a longer stage of the same trace, only adds.

    Args:
        store: the store to write to.
        path: the file, plain or compressed (.gz, .xz, .zst).
        timezone: IANA name of the zone of the file's times, if they have none.
        progress: is called with the progress. If it raises an error before the file is written, the import ends and
            nothing is written.
        max_bytes: largest size of a compressed file when it is unpacked, and of all values that a file rebuilds; None
            means no limit.
        max_ratio: how many times its own size it may unpack to; see ``ingest.files.opening.mapped``.
        is_upload: whether the path is only where an upload waits, so that its name says nothing.

    Raises:
        InputError: the file is malformed, too large or of an unknown format, or its graph is already stored with other
            content; nothing was written.
    """
    opened_at = time.perf_counter()
    name = display_name(path)
    with ExitStack() as stack:
        data = await asyncio.to_thread(stack.enter_context, mapped(path, max_bytes, max_ratio))
        found = format_of_file(name, data[:HEAD_BYTES])
        called = None if is_upload or path == STANDARD_INPUT else plain_name(path)
        file = OpenFile(name, data, timezone, max_bytes, progress or _silent, opened_at, called)
        return await found.read(file, store)


def _silent(stage: str, done: int, total: int) -> None:
    """Report no progress."""
