"""Unpacking a request's body within a limit: a few bytes can unpack to terabytes."""

from __future__ import annotations

import zlib

import zstandard

from api.errors import TooLargeError
from schema.errors import InputError

ENCODINGS = ("identity", "gzip", "deflate", "zstd")
_LARGEST_WINDOW = 1 << 27
_MOST_MEMBERS = 32
"""Most members of a gzip body, or frames of a zstd body.

Each takes time to begin, so a million empty members take minutes.
"""
_STEP = 1024
_MOST_A_BYTE = 32 << 10
"""The most bytes that a byte of a zstd body can unpack to: 4 bytes are enough for a block of 128 KiB.

At most a quarter of the remaining limit is unpacked at a time, so that the limit also holds in memory.
"""


def inflate(body: bytes, encoding: str, limit: int) -> bytes:
    """Unpack a body.

    Args:
        body: the packed bytes.
        encoding: one of ``ENCODINGS``.
        limit: the most bytes after unpacking.

    Raises:
        TooLargeError: the body would unpack to more than ``limit``.
        InputError: the body is not valid in its encoding.
    """
    if encoding == "identity":
        return body
    try:
        if encoding == "gzip":
            found = _gunzip(body, limit + 1)
        else:
            found = _undeflate(body, limit + 1) if encoding == "deflate" else _unzstd(body, limit)
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise InputError("body", "", f"is no {encoding}: {error}") from None
    if len(found) > limit:
        raise TooLargeError("the unpacked body", limit)
    return found


def _gunzip(body: bytes, most: int) -> bytes:
    found = b""
    rest = body
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(wbits=31)
        found += member.decompress(rest, most - len(found))
        if not member.eof and len(found) < most:
            raise EOFError("it ends too early")
        rest = member.unused_data
        if not rest or len(found) >= most:
            return found
    raise EOFError(f"it has more than {_MOST_MEMBERS} members")


def _undeflate(body: bytes, most: int) -> bytes:
    """What HTTP calls deflate is one stream in zlib's format (RFC 9110, 8.4.1.2)."""
    stream = zlib.decompressobj()
    found = stream.decompress(body, most)
    if not stream.eof and len(found) < most:
        raise EOFError("it ends too early")
    if stream.unused_data:
        raise EOFError("it has more after its end")
    return found


def _unzstd(body: bytes, limit: int) -> bytes:
    found = bytearray()
    rest = memoryview(body)
    decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    for _ in range(_MOST_MEMBERS):
        frame = decompressor.decompressobj()
        while not frame.eof:
            if not rest:
                raise EOFError("it ends too early")
            step = rest[: min(_STEP, max(4, (limit - len(found)) // 4 // _MOST_A_BYTE))]
            found += frame.decompress(step)
            rest = rest[len(step) - len(frame.unused_data) :]
            if len(found) > limit:
                raise TooLargeError("the unpacked body", limit)
        if not rest:
            return bytes(found)
    raise EOFError(f"it has more than {_MOST_MEMBERS} frames")
