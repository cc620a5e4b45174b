"""Packs: many values compressed together, so that text repeated in successive values is stored once.

A memory system rewrites its buffers with each message, and writes whole ranked lists for each question: 200 MB of
values may hold 1 MB of text. A pack holds values end to end, at most ``PACK_BYTES``, as one zstd frame (RFC 8878) with
long-distance matching over the whole pack. The bound keeps reading a single value cheap: the whole pack has to be
decompressed.
"""

from __future__ import annotations

import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from types import TracebackType
from typing import Self

import zstandard

from schema.errors import CorruptValueError
from schema.ids import hash_value

PACK_BYTES = 8 << 20
_LARGEST_WINDOW_LOG = 27
_SPOOL_BYTES = 64 << 20
_WAITING_PACKS = 2


@dataclass(frozen=True, slots=True)
class PackEntry:
    """The place of a value in the decompressed pack."""

    value_hash: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A finished pack.

    Attributes:
        id: BLAKE2b-16 of the values' hashes, in hexadecimal: equal values in equal order give equal ids.
        data: the zstd frame.
        raw_size: bytes when decompressed.
    """

    id: str
    data: bytes
    raw_size: int
    entries: tuple[PackEntry, ...]


class PackWriter:
    """Collects values into packs. Compression runs in a thread; finished packs wait in a spooled file.

    A context manager: the packs exist until the end of the ``with`` block.
    """

    def __init__(self, known: set[str] | None = None) -> None:
        """Skip values whose hash is in ``known``, because they are stored."""
        self._known = known or set()
        self._seen = set(self._known)
        self._values: list[bytes] = []
        self._entries: list[PackEntry] = []
        self._size = 0
        self._workers = ThreadPoolExecutor(1, "pack")
        self._running: deque[tuple[Future[bytes], int, tuple[PackEntry, ...]]] = deque()
        self._spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115  (closed on exit)
        self._finished: list[tuple[int, int, int, tuple[PackEntry, ...]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)
        self._spool.close()

    def add(self, value_hash: str, data: bytes) -> None:
        """Add a value, unless its hash was added before."""
        if value_hash in self._seen:
            return
        self._seen.add(value_hash)
        if self._values and self._size + len(data) > PACK_BYTES:
            self._close_pack()
        self._entries.append(PackEntry(value_hash, self._size, len(data)))
        self._values.append(data)
        self._size += len(data)

    def add_all(self, values: Mapping[str, bytes]) -> None:
        """Add values by hash, and finish all packs; waits for the compression."""
        for value_hash, data in values.items():
            self.add(value_hash, data)
        self._finish()

    @property
    def hashes(self) -> set[str]:
        """The hashes of all added values."""
        return self._seen - self._known

    def packs(self) -> Iterator[Pack]:
        """All packs, in the order of their values. Afterwards no value can be added."""
        self._finish()
        for position, length, raw_size, entries in self._finished:
            self._spool.seek(position)
            yield Pack(_pack_id(entries), self._spool.read(length), raw_size, entries)

    def _finish(self) -> None:
        if self._values:
            self._close_pack()
        while self._running:
            self._collect()

    def _close_pack(self) -> None:
        values, entries, size = self._values, tuple(self._entries), self._size
        self._values, self._entries, self._size = [], [], 0
        while len(self._running) >= _WAITING_PACKS:
            self._collect()
        self._running.append((self._workers.submit(_compress, values, size), size, entries))

    def _collect(self) -> None:
        future, raw_size, entries = self._running.popleft()
        data = future.result()
        position = self._spool.seek(0, 2)
        self._spool.write(data)
        self._finished.append((position, len(data), raw_size, entries))


def _compress(values: list[bytes], size: int) -> bytes:
    parameters = zstandard.ZstdCompressionParameters.from_level(
        1, window_log=min(max(size - 1, 1 << 10).bit_length(), _LARGEST_WINDOW_LOG), enable_ldm=size > 1 << 16
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress(b"".join(values))


def _pack_id(entries: tuple[PackEntry, ...]) -> str:
    return blake2b("".join(entry.value_hash for entry in entries).encode(), digest_size=16).hexdigest()


class PackCache:
    """The most recently read packs, decompressed: the next requested value is often in the same pack."""

    def __init__(self, capacity: int = 2) -> None:
        """Make an empty cache for up to ``capacity`` packs."""
        self._capacity = capacity
        self._packs: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def get(self, pack_id: str) -> bytes | None:
        """A pack's values, end to end; None if the pack is not in the cache."""
        with self._lock:
            whole = self._packs.pop(pack_id, None)
            if whole is not None:
                self._packs[pack_id] = whole
        return whole

    def put(self, pack_id: str, whole: bytes) -> None:
        """Keep a pack; the least recently used pack is dropped."""
        with self._lock:
            self._packs[pack_id] = whole
            while len(self._packs) > self._capacity:
                del self._packs[next(iter(self._packs))]


def cut(whole: bytes, entry: PackEntry) -> bytes:
    """A value of a decompressed pack, checked against its hash.

    Raises:
        CorruptValueError: the pack is damaged.
    """
    return verified(whole[entry.offset : entry.offset + entry.size], entry.value_hash)


def cut_all(whole: bytes, entries: Iterable[PackEntry]) -> dict[str, bytes]:
    """Values of a decompressed pack, by hash, each checked.

    Raises:
        CorruptValueError: the pack is damaged.
    """
    return {entry.value_hash: cut(whole, entry) for entry in entries}


def read_all(data: bytes, entries: list[PackEntry]) -> Iterator[tuple[PackEntry, bytes]]:
    """Values of a compressed pack, each checked against its hash.

    Raises:
        CorruptValueError: the pack is damaged.
    """
    whole = decompress(data, entries[0].value_hash)
    for entry in entries:
        yield entry, cut(whole, entry)


def decompress(data: bytes, value_hash: str) -> bytes:
    """A pack's values, end to end.

    Args:
        data: the zstd frame.
        value_hash: for the error, the hash of the requested value.

    Raises:
        CorruptValueError: the pack is damaged.
    """
    try:
        return zstandard.ZstdDecompressor(max_window_size=1 << _LARGEST_WINDOW_LOG).decompress(data)
    except (zstandard.ZstdError, MemoryError) as error:
        # A damaged header may announce any size.
        raise CorruptValueError(value_hash) from error


def verified(value: bytes, value_hash: str) -> bytes:
    """Check a value against a hash, and return the value.

    Raises:
        CorruptValueError: the value has another hash.
    """
    if hash_value(value) != value_hash:
        raise CorruptValueError(value_hash)
    return value
