"""Values in object storage, or in a folder: what a team shares between its servers and workers.

Each pack is one object, ``<project>/<trace>/<pack>.pack``: the zstd frame, then an index of the values inside (JSON),
then the length of the index in 8 bytes. An object is put whole or not at all, and its name follows from its content,
so a write that is tried again finds its own objects, and no other record of them is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec
import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from schema.errors import CorruptValueError, InputError, StoreError
from schema.ids import hash_value
from store.packs import Pack, PackCache, PackEntry, cut, decompress, read_all

T = TypeVar("T")

_FOOTER_BYTES = 8
_SUFFIX = ".pack"
_INDEX_GUESS_BYTES = 64 << 10
_PARALLEL = 8


class ObjectValues:
    """Implements ``store.values.ValueStore`` over ``obstore``: ``file:///dir``, ``s3://``, ``gs://``, ``az://``."""

    def __init__(self, uri: str) -> None:
        """Nothing is opened yet. S3 settings come from the environment (``AWS_ENDPOINT_URL``, ``AWS_REGION``, ...).

        Raises:
            InputError: the URI is of no kind that is known.
        """
        self._uri = uri
        self._store = _open(uri)
        # Places of values by trace: an object never changes, so what was read of it stays true.
        self._indexes: dict[str, dict[str, PackEntry]] = {}
        self._pack_of: dict[tuple[str, str], str] = {}
        self._packs = PackCache()

    async def put(self, project_id: str, trace_id: str, packs: Iterable[Pack]) -> None:
        """See ``ValueStore.put``."""
        iterator = iter(packs)
        while (pack := await asyncio.to_thread(next, iterator, None)) is not None:
            index = msgspec.json.encode([(entry.value_hash, entry.offset, entry.size) for entry in pack.entries])
            body = pack.data + index + len(index).to_bytes(_FOOTER_BYTES, "big")
            path = f"{_folder(project_id, trace_id)}/{pack.id}{_SUFFIX}"
            try:
                await self._call(obstore.put_async(self._store, path, body, mode="create"))
            except AlreadyExistsError:
                continue

    async def hashes(self, project_id: str, trace_id: str) -> set[str]:
        """See ``ValueStore.hashes``."""
        await self._read_indexes(project_id, trace_id)
        folder = _folder(project_id, trace_id)
        return {value_hash for where, value_hash in self._pack_of if where == folder}

    async def get(self, project_id: str, trace_id: str, value_hash: str) -> bytes:
        """See ``ValueStore.get``."""
        address = (_folder(project_id, trace_id), value_hash)
        if address not in self._pack_of:
            await self._read_indexes(project_id, trace_id)
        path = self._pack_of.get(address)
        if path is None:
            raise CorruptValueError(value_hash)
        entry = self._indexes[path][value_hash]
        whole = self._packs.get(path)
        if whole is None:
            whole = await asyncio.to_thread(decompress, await self._frame(path), value_hash)
            self._packs.put(path, whole)
        return cut(whole, entry)

    async def scan(self, project_id: str, trace_id: str) -> AsyncIterator[tuple[str, bytes]]:
        """See ``ValueStore.scan``."""
        await self._read_indexes(project_id, trace_id)
        folder = _folder(project_id, trace_id)
        for path in sorted(path for path in self._indexes if path.startswith(folder + "/")):
            data = await self._frame(path)
            for entry, value in read_all(data, list(self._indexes[path].values())):
                yield entry.value_hash, value

    async def delete(self, project_id: str, trace_id: str) -> None:
        """See ``ValueStore.delete``."""
        folder = _folder(project_id, trace_id)
        paths = await self._list(folder)
        if paths:
            await self._call(obstore.delete_async(self._store, paths))
        for path in [path for path in self._indexes if path.startswith(folder + "/")]:
            del self._indexes[path]
        for address in [address for address in self._pack_of if address[0] == folder]:
            del self._pack_of[address]

    async def size(self) -> int:
        """See ``ValueStore.size``."""
        return sum([item["size"] async for item in self._objects(None)])

    async def check(self) -> None:
        """See ``ValueStore.check``: an object is put, read and deleted."""
        path = ".memtrace-check"
        await self._call(obstore.put_async(self._store, path, b"check"))
        result = await self._call(obstore.get_async(self._store, path))
        if bytes(await result.bytes_async()) != b"check":
            raise StoreError(f"values at {self._place()}: what was written can't be read back")
        await self._call(obstore.delete_async(self._store, path))

    async def _read_indexes(self, project_id: str, trace_id: str) -> None:
        """Read the indexes of packs that are new since the last time."""
        folder = _folder(project_id, trace_id)
        new = [path for path in await self._list(folder) if path not in self._indexes]
        slots = asyncio.Semaphore(_PARALLEL)

        async def read(path: str) -> None:
            async with slots:
                entries = await self._read_index(path)
            self._indexes[path] = {entry.value_hash: entry for entry in entries}
            for entry in entries:
                self._pack_of.setdefault((folder, entry.value_hash), path)

        await asyncio.gather(*(read(path) for path in new))

    async def _read_index(self, path: str) -> list[PackEntry]:
        size = (await self._call(obstore.head_async(self._store, path)))["size"]
        start = max(0, size - _INDEX_GUESS_BYTES)
        tail = bytes(await self._call(obstore.get_range_async(self._store, path, start=start, end=size)))
        length = int.from_bytes(tail[-_FOOTER_BYTES:], "big")
        if length + _FOOTER_BYTES > size:
            raise StoreError(f"values at {self._place()}: {path} is damaged")
        if length + _FOOTER_BYTES > len(tail):
            start = size - length - _FOOTER_BYTES
            tail = bytes(await self._call(obstore.get_range_async(self._store, path, start=start, end=size)))
        try:
            rows = msgspec.json.decode(tail[-length - _FOOTER_BYTES : -_FOOTER_BYTES], type=list[tuple[str, int, int]])
        except msgspec.DecodeError as error:
            raise StoreError(f"values at {self._place()}: {path} is damaged") from error
        return [PackEntry(*row) for row in rows]

    async def _frame(self, path: str) -> bytes:
        """A pack's zstd frame."""
        result = await self._call(obstore.get_async(self._store, path))
        body = bytes(await self._call(result.bytes_async()))
        length = int.from_bytes(body[-_FOOTER_BYTES:], "big")
        return body[: len(body) - length - _FOOTER_BYTES]

    async def _list(self, folder: str) -> list[str]:
        return [item["path"] async for item in self._objects(folder)]

    async def _objects(self, folder: str | None) -> AsyncIterator[Any]:
        try:
            async for chunk in obstore.list(self._store, folder):
                for item in chunk:
                    if item["path"].endswith(_SUFFIX):
                        yield item
        except (BaseError, OSError) as error:
            raise self._unreachable(error) from error

    async def _call(self, call: Any) -> Any:
        try:
            return await call
        except AlreadyExistsError:
            raise
        except FileNotFoundError as error:
            raise StoreError(f"values at {self._place()}: an object is gone") from error
        except (BaseError, OSError) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> StoreError:
        return StoreError(f"values at {self._place()} can't be reached or used ({type(error).__name__})")

    def _place(self) -> str:
        parts = urlsplit(self._uri)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _folder(project_id: str, trace_id: str) -> str:
    """A folder of its own for each trace; the project's name stands in it as a hash, for it may hold anything."""
    return f"{hash_value(project_id.encode()).partition(':')[2]}/{trace_id}"


def _open(uri: str) -> ObjectStore:
    parts = urlsplit(uri)
    if parts.scheme == "file":
        if parts.netloc or not parts.path.startswith("/"):
            raise InputError("values", "", f"{uri!r}: write file:///absolute/folder")
        folder = Path(unquote(parts.path))
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return LocalStore(str(folder))
    if parts.scheme not in {"s3", "gs", "az"}:
        raise InputError("values", "", f"{uri!r} is neither file:///folder nor s3://bucket/prefix (nor gs://, az://)")
    return from_url(uri)
