"""Reading and writing files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from api.cli.errors import complain
from schema.errors import MemTraceError


def complaining(errors: list[MemTraceError]) -> Callable[[Path, MemTraceError], None]:
    """Returns a function that prints what is wrong with a file and collects the error."""

    def fail(path: Path, error: MemTraceError) -> None:
        errors.append(error)
        complain(str(error))

    return fail


def graph_files(paths: Sequence[Path], fail: Callable[[Path, MemTraceError], None]) -> list[Path]:
    """The graph files in all paths; ``fail`` is called for each path without a graph file."""
    from ingest.files.registry import find_files

    files: list[Path] = []
    for path in paths:
        try:
            files.extend(find_files([path]))
        except MemTraceError as error:
            fail(path, error)
    return files


def read_file(name: str) -> bytes:
    """The bytes of a file; ``-`` is standard input.

    Raises:
        MemTraceError: the file can't be read.
    """
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise MemTraceError(f"{name} can't be read: {error.strerror or error}") from error


@contextmanager
def whole_file(output: Path | None) -> Iterator[BinaryIO]:
    """Opens a file for writing, which appears under its name only when it is complete.

    Raises:
        MemTraceError: the file can't be written.
    """
    if output is None or str(output) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    import secrets

    file = Path(os.path.realpath(output))
    is_stream = file.exists() and not file.is_file()
    part = file if is_stream else file.with_name(f".{file.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("wb" if is_stream else "xb") as out:
            yield out
            if not is_stream:
                out.flush()
                os.fsync(out.fileno())
        if not is_stream:
            part.replace(file)
    except OSError as error:
        raise MemTraceError(f"{output} can't be written: {error.strerror or error}") from error
    finally:
        if not is_stream:
            part.unlink(missing_ok=True)
