"""The list of file formats, one line each, and the import of a file in any of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ingest.files.opening import STANDARD_INPUT, display_name, fault, mapped, plain_name
from ingest.files.protocol import Format, ImportReport, OpenFile, Progress, WritableFormat
from ingest.files.smartcomment.format import Smartcomment
from ingest.files.wire.format import WireEvents
from schema.errors import InputError
from schema.models import Trace
from store.contract.protocol import GraphStore

FORMATS: tuple[Format, ...] = (
    Smartcomment(),
    WireEvents(),
)

HEAD_BYTES = 64 << 10
"""Number of bytes from which the format of a file is recognised."""


def format_of_file(name: str, head: bytes) -> Format:
    """The format of a file.

    Args:
        name: the name of the file in messages.
        head: its first ``HEAD_BYTES``, unpacked.

    Raises:
        InputError: no format recognises the file.
    """
    for one in FORMATS:
        if one.recognises(head):
            return one
    if found := fault(head):
        raise InputError(name, *found)
    known = ", ".join(one.name for one in FORMATS)
    raise InputError(name, "", f"is of no format that is known ({known})")


def format_of_trace(trace: Trace) -> WritableFormat:
    """The format of a trace's source, for an export.

    Raises:
        InputError: the format has no export.
    """
    for one in FORMATS:
        if one.source == trace.source and isinstance(one, WritableFormat):
            return one
    raise InputError(f"trace {trace.external_id}", "", f"was recorded by {trace.source}, which has no file format")


_PACKED = ("", ".gz", ".xz", ".zst")


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The files at some paths, in order; a folder stands for the files in it whose names fit a format.

    Raises:
        InputError: a path does not exist, or no name in a folder fits a format.
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
    """Import one file; the first bytes show the format. ``Path("-")`` is standard input.

    Stored elements stay unchanged: importing a file again, or a longer stage of the same trace, only adds.

    Args:
        store: the store to write to.
        path: the file, plain or compressed (.gz, .xz, .zst).
        timezone: IANA name of the zone of times without a zone.
        progress: called with the progress. If it raises an error before the file is written, the import ends and
            nothing is written.
        max_bytes: largest unpacked size of a compressed file, and of all values that a file rebuilds; None means no
            limit.
        max_ratio: largest ratio of unpacked to compressed size; see ``ingest.files.opening.mapped``.
        is_upload: whether the path is a temporary copy of an upload, whose name is meaningless.

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
