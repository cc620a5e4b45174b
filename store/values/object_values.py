"""A value store in object storage or in a folder, which the servers and workers of a team share.

Each pack is one object, ``<project>/<trace>/<pack>.pack``: the zstd frame, then an index of the values inside (JSON),
then the length of the index in 8 bytes. The name is a hash of the values inside, so a repeated write overwrites its own
objects. No other list of the objects is stored.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
from typing_extensions import override

from schema.errors import CorruptValueError, StoreError
from schema.ids import ID_LENGTH, hash_value
from store.values.contract import ValueStore
from store.values.objects import Listed, Objects
from store.values.packs import Pack, PackCache, PackEntry, cut_all, decompress, read_all

_FOOTER_BYTES = 8
_SUFFIX = ".pack"
_INDEX_GUESS_BYTES = 64 << 10
_PARALLEL = 8
_REMEMBERED_TRACES = 16


@dataclass(frozen=True, slots=True)
class _Contents:
    """The content of a trace's folder when last listed.

    Attributes:
        packs: the index of each pack.
        damaged: names of the objects whose index can't be read.
        places: the pack and the place in the pack, by hash of the value.
    """

    packs: dict[Listed, list[PackEntry]] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    places: dict[str, tuple[Listed, PackEntry]] = field(default_factory=dict)


class ObjectValues(ValueStore):
    """Packs of values as objects."""

    def __init__(self, uri: str) -> None:
        """Open the place that a URI names; see ``Objects`` for arguments and errors."""
        self._objects = Objects(uri)
        self._traces: OrderedDict[str, _Contents] = OrderedDict()
        self._packs = PackCache()

    @override
    async def put(self, project_id: str, trace_id: str, packs: Iterable[Pack]) -> None:
        """Store packs; an existing pack is written again, which repairs a damaged pack."""
        folder = _folder(project_id, trace_id)
        iterator = iter(packs)
        while (pack := await asyncio.to_thread(next, iterator, None)) is not None:
            index = msgspec.json.encode([(entry.value_hash, entry.offset, entry.size) for entry in pack.entries])
            body = pack.data + index + len(index).to_bytes(_FOOTER_BYTES, "big")
            await self._objects.put(f"{folder}/{pack.id}{_SUFFIX}", body)

    @override
    async def hashes(self, project_id: str, trace_id: str) -> set[str]:
        return set((await self._look(_folder(project_id, trace_id))).places)

    @override
    async def get(self, project_id: str, trace_id: str, value_hash: str) -> bytes:
        return (await self.get_many(project_id, trace_id, [value_hash]))[value_hash]

    @override
    async def get_many(self, project_id: str, trace_id: str, hashes: Collection[str]) -> dict[str, bytes]:
        folder = _folder(project_id, trace_id)
        remembered = self._traces.get(folder)
        if remembered is not None and all(value_hash in remembered.places for value_hash in hashes):
            # Other processes delete and repair packs: on an error, list the folder again.
            with suppress(CorruptValueError):
                return await self._find(remembered, hashes)
        return await self._find(await self._look(folder), hashes)

    @override
    async def scan(self, project_id: str, trace_id: str) -> AsyncIterator[tuple[str, bytes]]:
        contents = await self._look(_folder(project_id, trace_id))
        if contents.damaged:
            raise StoreError(f"values at {self._objects.place}: {contents.damaged[0]} is damaged")
        for listed, entries in contents.packs.items():
            body = await self._objects.get(listed.name)
            if body is not None:
                for entry, value in await asyncio.to_thread(_read_all, body, entries):
                    yield entry.value_hash, value

    @override
    async def delete(self, project_id: str, trace_id: str) -> None:
        folder = _folder(project_id, trace_id)
        await self._objects.delete(folder)
        self._traces.pop(folder, None)

    @override
    async def size(self) -> int:
        return sum([listed.size async for listed in self._objects.list() if listed.name.endswith(_SUFFIX)])

    @override
    async def check_room(self) -> None:
        await self._objects.check_room()

    @override
    async def check(self) -> None:
        """Writes an object, reads it back and deletes it."""
        name, content = f"memtrace-check-{secrets.token_hex(8)}", b"check"
        await self._objects.put(name, content)
        if await self._objects.get(name) != content:
            raise StoreError(f"values at {self._objects.place}: what was written can't be read back")
        await self._objects.delete_object(name)

    async def _find(self, contents: _Contents, hashes: Iterable[str]) -> dict[str, bytes]:
        wanted: dict[Listed, list[PackEntry]] = {}
        for value_hash in hashes:
            if value_hash not in contents.places:
                raise CorruptValueError(value_hash)
            listed, entry = contents.places[value_hash]
            wanted.setdefault(listed, []).append(entry)
        found: dict[str, bytes] = {}
        for listed, entries in wanted.items():
            whole = await self._whole_pack(listed, entries[0].value_hash)
            found |= await asyncio.to_thread(cut_all, whole, entries)
        return found

    async def _whole_pack(self, listed: Listed, value_hash: str) -> bytes:
        """A decompressed pack. The error for a damaged or missing pack names the value ``value_hash``."""
        key = f"{listed.name} {listed.state}"
        whole = self._packs.get(key)
        if whole is None:
            body = await self._objects.get(listed.name)
            if body is None:
                raise CorruptValueError(value_hash)
            whole = await asyncio.to_thread(_unpacked, body, value_hash)
            self._packs.put(key, whole)
        return whole

    async def _look(self, folder: str) -> _Contents:
        """List a trace's folder, and read the indexes of packs that were not listed before."""
        found = [item async for item in self._objects.list(folder) if item.name.endswith(_SUFFIX)]
        found.sort(key=lambda item: item.name)
        remembered = self._traces.get(folder, _Contents())
        slots = asyncio.Semaphore(_PARALLEL)

        async def read(listed: Listed) -> list[PackEntry] | None:
            if listed in remembered.packs:
                return remembered.packs[listed]
            async with slots:
                return await self._read_index(listed)

        contents = _Contents()
        for listed, entries in zip(found, await asyncio.gather(*map(read, found)), strict=True):
            if entries is None:
                contents.damaged.append(listed.name)
                continue
            contents.packs[listed] = entries
            contents.places.update((entry.value_hash, (listed, entry)) for entry in entries)
        self._traces[folder] = contents
        self._traces.move_to_end(folder)
        while len(self._traces) > _REMEMBERED_TRACES:
            self._traces.popitem(last=False)
        return contents

    async def _read_index(self, listed: Listed) -> list[PackEntry] | None:
        """The index of a pack; None if the index is damaged, empty if the pack was deleted."""
        size = listed.size
        tail = await self._objects.get_range(listed.name, max(0, size - _INDEX_GUESS_BYTES), size) if size else b""
        if tail is None:
            return []  # deleted since it was listed
        length = int.from_bytes(tail[-_FOOTER_BYTES:], "big") + _FOOTER_BYTES
        if len(tail) < length <= size:
            tail = await self._objects.get_range(listed.name, size - length, size) or b""
        try:
            rows = msgspec.json.decode(tail[-length:-_FOOTER_BYTES], type=list[tuple[str, int, int]])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return [PackEntry(*row) for row in rows]


def _frame(body: bytes) -> bytes:
    """The zstd frame in the object of a pack."""
    return body[: max(0, len(body) - int.from_bytes(body[-_FOOTER_BYTES:], "big") - _FOOTER_BYTES)]


def _unpacked(body: bytes, value_hash: str) -> bytes:
    return decompress(_frame(body), value_hash)


def _read_all(body: bytes, entries: list[PackEntry]) -> list[tuple[PackEntry, bytes]]:
    return list(read_all(_frame(body), entries)) if entries else []


def _folder(project_id: str, trace_id: str) -> str:
    """The folder of a trace. Project names and malformed ids are hashed, because they could contain any characters."""
    is_id = len(trace_id) == ID_LENGTH and all(character in "0123456789abcdef" for character in trace_id)
    return f"{_safe(project_id)}/{trace_id if is_id else _safe(trace_id)}"


def _safe(text: str) -> str:
    return hash_value(text.encode("utf-8", "surrogatepass")).partition(":")[2]
