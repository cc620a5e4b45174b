"""Strange bodies of requests: events that are joined, typed and compressed in right and wrong ways."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import zstandard
from hypothesis import strategies as st

from tests.fuzz.wire import in_traces, lines

LINES = "application/x-ndjson"
JSON = "application/json"


@dataclass(frozen=True)
class Request:
    """A request that sends events.

    Attributes:
        plain: the body before packing.
        pack: packs a body.
        kind: the content type.
        encoding: its content encoding; None names none.
    """

    plain: bytes
    pack: Callable[[bytes], bytes]
    kind: str
    encoding: str | None

    def body(self, token: str) -> bytes:
        """The encoded body, with traces named by ``token``."""
        return self.pack(in_traces(self.plain, token))


def requests() -> st.SearchStrategy[Request]:
    """Requests to `/v1/events`."""
    return st.builds(_request, lines(), _BODIES, _PACKED)


def _array(found: list[bytes]) -> bytes:
    return b"[" + b",".join(found) + b"]"


_BODIES = st.sampled_from(
    [(b"\n".join, LINES)] * 8
    + [(_array, JSON)] * 3
    + [
        (lambda found: b"\n\n\r\n".join(found) + b"\n", "application/ndjson; charset=utf-8"),
        (b"\r\n".join, LINES),
        (lambda found: found[0] if found else b"", JSON),
        (b"\n".join, JSON),
        (_array, LINES),
        (lambda found: b"\xef\xbb\xbf" + b"\n".join(found), LINES),
        (lambda found: _array(found) + b"\n" + b"\n".join(found), JSON),
        (lambda found: b"[" * 5000 + b"\n".join(found), JSON),
        (lambda found: b"\n" * 50_000 + b"\n".join(found), LINES),
        (b"\n".join, "text/plain"),
        (_array, "application/json5"),
        (b"\n".join, ""),
    ]
)


def _zstd(body: bytes) -> bytes:
    return zstandard.compress(body)


def _halved(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda body: pack(body)[: -max(1, len(pack(body)) // 3)]


def _joined(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda body: pack(body[: len(body) // 2]) + pack(body[len(body) // 2 :])


def _flipped(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def flip(body: bytes) -> bytes:
        packed = bytearray(pack(body))
        packed[len(packed) * 2 // 3] ^= 0x10
        return bytes(packed)

    return flip


def _same(body: bytes) -> bytes:
    return body


def _strange(name: str, pack: Callable[[bytes], bytes]) -> list[tuple[Callable[[bytes], bytes], str | None]]:
    return [
        (pack, name),
        (pack, name),
        (pack, name.upper()),
        (_halved(pack), name),
        (_joined(pack), name),
        (_flipped(pack), name),
        (lambda body: pack(body) + b"garbage", name),
        (lambda body: pack(pack(body)), name),
        (lambda body: pack(b"") * 40 + pack(body), name),
        (_same, name),
    ]


_PACKED = st.sampled_from(
    [(_same, None)] * 12
    + _strange("gzip", gzip.compress)
    + _strange("zstd", _zstd)
    + [(_same, "br"), (gzip.compress, "gzip, gzip"), (gzip.compress, "zstd"), (_zstd, None), (_same, "identity")]
)


def _request(found: list[bytes], shape: Any, packed: Any) -> Request:
    join, kind = shape
    pack, encoding = packed
    return Request(join(found), pack, kind, encoding)
