"""Opening a graph file: plain, .gz, .xz or .zst, by path or from standard input, as one block of mapped memory.

What is not a plain file is first unpacked into a temporary file without a name: mapped pages can be dropped again,
a copy in memory could not.
"""

from __future__ import annotations

import gzip
import lzma
import mmap
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from schema.errors import InputError

STANDARD_INPUT = Path("-")
_LARGEST_WINDOW = 1 << 31
_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 20
_ZSTD_BLOCK = 16 << 10
"""A block may unpack to some thousand times its size."""


@contextmanager
def mapped(path: Path, max_bytes: int | None = None) -> Iterator[mmap.mmap]:
    """The unpacked bytes of a file. What is compressed, and how, is told by its first bytes, not by its name.

    Args:
        path: the file, or standard input.
        max_bytes: the most that a compressed file may unpack to; None is no limit.

    Raises:
        InputError: it can't be read, is empty, is damaged, or unpacks to more than it may.
    """
    name = display_name(path)
    try:
        with _raw(path) as raw, _unpacked(raw, name, max_bytes) as plain:
            plain.seek(0, 2)
            if plain.tell() == 0:
                raise InputError(name, "", "the file is empty")
            mapping = mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
            yield mapping
    except OSError as error:
        raise InputError(name, "", error.strerror or str(error)) from error


def display_name(path: Path) -> str:
    """How messages name a file."""
    return "standard input" if path == STANDARD_INPUT else str(path)


@contextmanager
def _raw(path: Path) -> Iterator[BinaryIO]:
    if path != STANDARD_INPUT:
        with path.open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy, _BLOCK)
        copy.seek(0)
        yield cast(BinaryIO, copy)


class _Limited:
    """Takes bytes for a file up to a limit."""

    def __init__(self, file: BinaryIO, name: str, max_bytes: int) -> None:
        self._file = file
        self._name = name
        self._max_bytes = max_bytes
        self._taken = 0

    def write(self, data: bytes) -> int:
        """Write on.

        Raises:
            InputError: that would be more than may be.
        """
        self._taken += len(data)
        if self._taken > self._max_bytes:
            raise InputError(self._name, "", f"unpacks to more than the limit of {self._max_bytes:,} bytes")
        return self._file.write(data)


@contextmanager
def _unpacked(raw: BinaryIO, name: str, max_bytes: int | None) -> Iterator[BinaryIO]:
    head = raw.read(8)
    raw.seek(0)
    if not head.startswith((_GZIP, _XZ, _ZSTD)):
        yield raw
        return
    with tempfile.TemporaryFile() as plain:
        try:
            file = cast(BinaryIO, plain)
            _unpack(raw, head, file if max_bytes is None else _Limited(file, name, max_bytes))
        except (gzip.BadGzipFile, lzma.LZMAError, zstandard.ZstdError, zlib.error, EOFError) as error:
            raise InputError(name, "", f"the compressed file is damaged or cut off ({error})") from error
        plain.flush()
        yield cast(BinaryIO, plain)


def _unpack(raw: BinaryIO, head: bytes, plain: BinaryIO | _Limited) -> None:
    if head.startswith(_ZSTD):
        _unpack_zstd(raw, plain)
    elif head.startswith(_GZIP):
        with gzip.GzipFile(fileobj=raw) as reader:
            shutil.copyfileobj(reader, plain, _BLOCK)
    else:
        with lzma.LZMAFile(raw) as reader:
            shutil.copyfileobj(reader, plain, _BLOCK)


def _unpack_zstd(raw: BinaryIO, plain: BinaryIO | _Limited) -> None:
    """Frame by frame: only this interface tells a frame that ended from one that was cut off."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    frame = decompressor.decompressobj()
    rest = b""
    while block := rest or raw.read(_ZSTD_BLOCK):
        if frame.eof:
            frame = decompressor.decompressobj()
        plain.write(frame.decompress(block))
        rest = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise EOFError("its end is missing")
