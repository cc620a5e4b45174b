"""Opens a file, plain or compressed (.gz, .xz, .zst), by path or from standard input, as one block of mapped memory.

Compressed files and standard input are first copied into a nameless temporary file: the operating system can drop
mapped pages again, but not a copy in memory. The first bytes ("head") of a file tell its format, see ``first_keys``.
"""

from __future__ import annotations

import gzip
import json
import lzma
import mmap
import re
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
_ENDINGS = (".zst", ".xz", ".gz", ".json", ".ndjson", ".jsonl")
FREE_BYTES = 16 << 20
"""Every compressed file may unpack to this size, because small files with repeated texts compress very well."""

_LARGEST_WINDOW = 1 << 31
GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
DAMAGED = (gzip.BadGzipFile, lzma.LZMAError, zstandard.ZstdError, zlib.error, EOFError)
_NO_MEMORY = "not enough memory"
"""Part of zstandard's error message for a frame that needs too much memory."""

_BLOCK = 1 << 20
_ZSTD_BLOCK = 64 << 10
ZSTD_STEP = 1 << 10
"""Compressed bytes per step of unpacking; a step gives at most 32 MiB, since 4 bytes may give 128 KiB."""


class UnpacksTooMuchError(InputError):
    """A compressed file unpacks to more than its limit.

    Attributes:
        limit: largest unpacked size in bytes.
        why: reason for the limit; empty if the limit is the same for all files.
    """

    def __init__(self, source: str, limit: int, why: str) -> None:
        self.limit = limit
        self.why = why
        super().__init__(source, "", f"unpacks to more than the limit of {limit:,} bytes{why}")


@contextmanager
def mapped(path: Path, max_bytes: int | None = None, max_ratio: int | None = None) -> Iterator[mmap.mmap]:
    """The unpacked bytes of a file; the first bytes, not the name, show the compression.

    Args:
        path: the file, or standard input.
        max_bytes: largest unpacked size of a compressed file; None means no limit.
        max_ratio: largest ratio of unpacked to compressed size, for results over ``FREE_BYTES``; None means no limit.

    Raises:
        InputError: the file can't be read, is empty or damaged, or unpacks to more than its limit.
    """
    name = display_name(path)
    try:
        with _raw(path) as raw, _unpacked(raw, name, max_bytes, max_ratio) as plain:
            plain.seek(0, 2)
            if plain.tell() == 0:
                raise InputError(name, "", "the file is empty")
            mapping = mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
            yield mapping
    except OSError as error:
        raise InputError(name, "", error.strerror or str(error)) from error


def display_name(path: Path) -> str:
    """The name of a file in messages."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def plain_name(path: Path) -> str:
    """The name of a file without folder and without endings of format and compression."""
    name = path.name
    for suffix in _ENDINGS:
        name = name.removesuffix(suffix)
    return name


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


class Limited:
    """Counts bytes up to a limit, and writes them to a file if there is one."""

    def __init__(self, file: BinaryIO | None, name: str, max_bytes: int, why: str) -> None:
        self._file = file
        self._name = name
        self._max_bytes = max_bytes
        self._why = why
        self._taken = 0

    def write(self, data: bytes) -> int:
        """Count and write bytes.

        Raises:
            UnpacksTooMuchError: all bytes together exceed the limit.
        """
        self._taken += len(data)
        if self._taken > self._max_bytes:
            raise UnpacksTooMuchError(self._name, self._max_bytes, self._why)
        return len(data) if self._file is None else self._file.write(data)


def limit_of(raw: BinaryIO, max_bytes: int | None, max_ratio: int | None) -> tuple[int, str] | None:
    """The largest unpacked size of a file in bytes, and the reason in words; None if there is no limit."""
    if max_ratio is not None:
        by_ratio = max(FREE_BYTES, max_ratio * raw.seek(0, 2))
        if max_bytes is None or by_ratio < max_bytes:
            return by_ratio, f" for one that is so small (at most {max_ratio:,} times its size)"
    return None if max_bytes is None else (max_bytes, "")


@contextmanager
def _unpacked(raw: BinaryIO, name: str, max_bytes: int | None, max_ratio: int | None) -> Iterator[BinaryIO]:
    head = raw.read(8)
    limit = limit_of(raw, max_bytes, max_ratio)
    raw.seek(0)
    if not head.startswith((GZIP, XZ, ZSTD)):
        yield raw
        return
    with tempfile.TemporaryFile() as plain:
        try:
            file = cast(BinaryIO, plain)
            _unpack(raw, head, file if limit is None else Limited(file, name, *limit))
        except DAMAGED as error:
            if _NO_MEMORY in str(error):
                raise MemoryError from error
            raise InputError(name, "", f"the compressed file is damaged or cut off ({error})") from error
        plain.flush()
        yield cast(BinaryIO, plain)


def _unpack(raw: BinaryIO, head: bytes, plain: BinaryIO | Limited) -> None:
    if head.startswith(ZSTD):
        _unpack_zstd(raw, plain)
    elif head.startswith(GZIP):
        with gzip.GzipFile(fileobj=raw) as reader:
            shutil.copyfileobj(reader, plain, _BLOCK)
    else:
        with lzma.LZMAFile(raw) as reader:
            shutil.copyfileobj(reader, plain, _BLOCK)


def _unpack_zstd(raw: BinaryIO, plain: BinaryIO | Limited) -> None:
    """Unpack frame by frame: only zstandard's ``decompressobj`` tells a complete frame from one that was cut off."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    frame = decompressor.decompressobj()
    rest = memoryview(b"")
    while rest or (rest := memoryview(raw.read(_ZSTD_BLOCK))):
        if frame.eof:
            frame = decompressor.decompressobj()
        step = rest[:ZSTD_STEP]
        plain.write(frame.decompress(step))
        rest = rest[len(step) - len(frame.unused_data) :]
    if not frame.eof:
        raise EOFError("its end is missing")


_SCANNER = json.JSONDecoder()
_SPACE = re.compile(r"\s*")


def first_keys(head: bytes) -> list[str]:
    """The keys of the JSON object at the beginning of a file, as far as the head shows them; else an empty list.

    The last key's value may be cut off.
    """
    text = head.decode("utf-8", "ignore")
    place = _after_space(text, 0)
    keys: list[str] = []
    opening = "{"
    while text.startswith(opening, place):
        try:
            key, place = _SCANNER.raw_decode(text, _after_space(text, place + 1))
            place = _after_space(text, place)
            if not isinstance(key, str) or not text.startswith(":", place):
                break
            keys.append(key)
            _, place = _SCANNER.raw_decode(text, _after_space(text, place + 1))
        except (ValueError, RecursionError):
            break
        place = _after_space(text, place)
        opening = ","
    return keys


def fault(head: bytes) -> tuple[str, str] | None:
    """Position and reason of a JSON error in the head; None if the file may be JSON."""
    text = head.decode("utf-8", "replace")
    try:
        _SCANNER.raw_decode(text, _after_space(text, 0))
    except json.JSONDecodeError as error:
        # The head may end inside a string, which is no fault: the error's position is then the string's beginning.
        is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        return None if is_cut else (f"line {error.lineno}, column {error.colno}", f"is not JSON ({error.msg})")
    except RecursionError:
        return "", "is nested too deeply"
    return None


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()
