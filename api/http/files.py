"""Answers that are files.

Browsers don't show stored texts as pages, and large files are sent while they are written.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import BinaryIO, cast
from urllib.parse import quote

_BLOCK = 256 << 10
_LOOK_SECONDS = 0.02
_GZIP_LEVEL = 5
_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)
_MAX_DIGITS = 18

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def attachment(name: str) -> dict[str, str]:
    """Headers that make browsers save an answer as a file instead of showing it."""
    plain = _UNSAFE.sub("_", name)[:100].strip("._") or "file"
    named = f'attachment; filename="{plain}"'
    if plain != name:
        named += f"; filename*=UTF-8''{quote(name[:100].encode('utf-8', 'replace'), safe='')}"
    return {
        "Content-Disposition": named,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    }


def takes_gzip(accept_encoding: str) -> bool:
    """Whether a client accepts gzip, according to ``Accept-Encoding``."""
    for part in accept_encoding.lower().split(","):
        coding, *parameters = (piece.strip() for piece in part.split(";"))
        if coding in {"gzip", "x-gzip", "*"}:
            return not any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
    return False


def one_range(header: str | None, size: int) -> tuple[int, int] | None:
    """The first byte of a ``Range`` header, and the byte after its last.

    None for the whole content: the header is missing, or it may be ignored, as a header with several ranges may be.

    Raises:
        ValueError: the range is outside the content.
    """
    found = _RANGE.fullmatch((header or "").strip())
    if found is None or found[1] == found[2] == "" or max(map(len, found.groups())) > _MAX_DIGITS:
        return None
    if not found[1]:
        start, end = max(size - int(found[2]), 0), size
    else:
        start, end = int(found[1]), size
        if found[2]:
            if int(found[2]) < start:
                return None
            end = min(int(found[2]) + 1, size)
    if start >= end:
        raise ValueError(header)
    return start, end


async def streamed(write: Callable[[BinaryIO], Awaitable[None]]) -> AsyncIterator[bytes]:
    """Send the output of ``write`` while it writes. Unsent output waits on the disk, not in memory.

    An error of ``write`` cuts the answer off, so that no client takes a part for the whole.
    """
    with tempfile.TemporaryFile() as opened:
        file = cast(BinaryIO, opened)

        async def work() -> None:
            await write(file)
            file.flush()

        task = asyncio.create_task(work())
        sent = 0
        try:
            while True:
                is_whole = task.done()
                block = await asyncio.to_thread(os.pread, file.fileno(), _BLOCK, sent)
                if block:
                    sent += len(block)
                    yield block
                elif is_whole:
                    await task
                    return
                else:
                    await asyncio.wait({task}, timeout=_LOOK_SECONDS)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def from_file(file: BinaryIO) -> AsyncIterator[bytes]:
    """Send a whole file from its beginning, block by block, and close it."""
    with file:
        sent = 0
        while block := await asyncio.to_thread(os.pread, file.fileno(), _BLOCK, sent):
            sent += len(block)
            yield block


async def begun(blocks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same blocks, after waiting for the first: an error until then can still become an error response."""
    first = await anext(blocks, b"")

    async def all_of_them() -> AsyncIterator[bytes]:
        yield first
        async for block in blocks:
            yield block

    return all_of_them()


async def gzipped(blocks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Blocks of bytes, compressed with gzip on the way."""
    packer = zlib.compressobj(_GZIP_LEVEL, wbits=31)
    async for block in blocks:
        if packed := await asyncio.to_thread(packer.compress, block):
            yield packed
    yield packer.flush()
