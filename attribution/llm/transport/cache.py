"""A cache of replies, by a hash of everything that they depend on."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from memtrace.folders import make_private_folder

from schema.errors import StoreError

_DIGEST_BYTES = 32


def content_hash(*parts: str) -> str:
    """SHA-256 over some texts.

    The length of each text is hashed, too, so that different lists have different hashes.
    """
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(b"%d:%b" % (len(data), data))
    return state.hexdigest()


def default_folder() -> Path:
    """The default folder of replies, in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("memtrace", appauthor=False) / "replies"


class Cache(Protocol):
    """Keeps replies by key. The reply of a key never changes; what is known of a model does."""

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The cached replies, by key."""
        ...

    async def put(self, key: str, body: bytes) -> None:
        """Store a reply, in place of an earlier one with this key."""
        ...


class FileCache:
    """Keeps replies in a folder, one file each, which only its owner can read; several processes may share it.

    A file appears whole or not at all, and begins with the hash of the rest; a damaged file counts as missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The cached replies, by key."""
        return await asyncio.to_thread(self._read, keys)

    async def put(self, key: str, body: bytes) -> None:
        """Store a reply."""
        await asyncio.to_thread(self._write, key, body)

    def _read(self, keys: Sequence[str]) -> dict[str, bytes]:
        found = {}
        for key in keys:
            path = self._path(key)
            if path.is_file():
                data = self._bytes(path)
                digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
                if hashlib.sha256(body).digest() == digest:
                    found[key] = body
        return found

    def _write(self, key: str, body: bytes) -> None:
        path = self._path(key)
        try:
            make_private_folder(path.parent)
            descriptor, temporary = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(hashlib.sha256(body).digest() + body)
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StoreError(f"{self.folder}: a reply can't be kept: {error.strerror}") from error

    def _bytes(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise StoreError(f"{self.folder}: a reply that was kept can't be read: {error.strerror}") from error

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key
