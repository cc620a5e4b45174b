"""Checks a compressed file before it is really unpacked, because a few bytes can unpack to terabytes.

The unpacked size is counted in small portions, which are not kept.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

import zstandard

from ingest.files.opening import DAMAGED, GZIP, XZ, ZSTD, ZSTD_STEP, Limited, limit_of
from store.runtime.processor_share import ProcessorShare

_MEMORY = 1 << 27
"""Most memory for unpacking, in bytes; a file that needs more is not checked here, but by its import."""

_MOST_MEMBERS = 1000
"""Largest number of gzip members, streams or frames in a file: a million empty ones would take minutes."""

_BLOCK = 256 << 10
_STEPS_A_PORTION = 50
"""Steps of the processor share per portion; a portion takes up to some milliseconds."""


def check_unpacked(raw: BinaryIO, name: str, max_bytes: int, max_ratio: int) -> None:
    """Check the unpacked size of a compressed file; see ``ingest.files.opening``.

    Files that are damaged, or need more memory to unpack, pass here; their import reports the error.

    Raises:
        UnpacksTooMuchError: the file unpacks to more than the limit.
    """
    head = raw.read(8)
    limit = limit_of(raw, max_bytes, max_ratio)
    raw.seek(0)
    assert limit is not None
    unpack = next((unpack for magic, unpack in _UNPACK.items() if head.startswith(magic)), None)
    if unpack is not None:
        count = Limited(None, name, *limit)
        with suppress(*DAMAGED, MemoryError):
            share = ProcessorShare()
            for portion in unpack(raw):
                share.step(_STEPS_A_PORTION)
                count.write(portion)


def _gunzip(raw: BinaryIO) -> Iterator[bytes]:
    rest = b""
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            rest = member.unconsumed_tail or rest or raw.read(_BLOCK)
            if not rest:
                return
            yield member.decompress(rest, _BLOCK)
            rest = b""
        rest = member.unused_data


def _unxz(raw: BinaryIO) -> Iterator[bytes]:
    rest = b""
    for _ in range(_MOST_MEMBERS):
        stream = lzma.LZMADecompressor(memlimit=_MEMORY)
        while not stream.eof:
            if stream.needs_input:
                rest = rest or raw.read(_BLOCK)
                if not rest:
                    return
            yield stream.decompress(rest, _BLOCK)
            rest = b""
        rest = stream.unused_data


def _unzstd(raw: BinaryIO) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_MEMORY)
    rest = memoryview(b"")
    for _ in range(_MOST_MEMBERS):
        frame = decompressor.decompressobj()
        while not frame.eof:
            rest = rest or memoryview(raw.read(_BLOCK))
            if not rest:
                return
            step = rest[:ZSTD_STEP]
            yield frame.decompress(step)
            rest = rest[len(step) - len(frame.unused_data) :]


_UNPACK: dict[bytes, Callable[[BinaryIO], Iterator[bytes]]] = {GZIP: _gunzip, XZ: _unxz, ZSTD: _unzstd}
