"""Storage of uploaded files: a folder, or a bucket."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import unquote, urlsplit

from api.errors import TooLargeError
from schema.errors import InputError, StoreError
from store.runtime.private_files import FILE_MODE, make_folders
from store.values.objects import Objects

try:
    import fcntl
except ImportError:  # Windows does not delete open files, so no lock is needed
    fcntl = None  # type: ignore[assignment]

Look = Callable[[BinaryIO], Awaitable[None]]
"""Checks a whole file before it is kept; if it raises an error, the file is not kept."""

_BLOCK = 1 << 20
_PART = ".part"
_NOT_HERE = frozenset({"", ".", ".."})


class Folder:
    """A folder. A file gets its name when it is whole and on the disk."""

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        if parts.netloc or not parts.path.startswith("/") or parts.query or parts.fragment:
            raise InputError("uploads", uri, "write file:///absolute/folder")
        self._root = Path(unquote(parts.path))
        try:
            make_folders(self._root)
        except OSError as error:
            raise self._unusable(error) from None

    async def put(self, name: str, blocks: AsyncIterator[bytes], limit: int | None, look: Look | None = None) -> int:
        """See ``UploadStorage.put``."""
        path = self._path(name)
        part = path.with_name(path.name + _PART)
        try:
            file = await asyncio.to_thread(_begin, part)
            try:
                with file:
                    size = await _write(file, blocks, limit)
                    if look is not None:
                        await look(file)
                    await asyncio.to_thread(_finish, file, path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._unusable(error) from None
        return size

    @asynccontextmanager
    async def fetch(self, name: str) -> AsyncIterator[Path | None]:
        """See ``UploadStorage.fetch``."""
        path = self._path(name)
        yield path if await asyncio.to_thread(path.is_file) else None

    async def delete(self, name: str) -> None:
        """See ``UploadStorage.delete``."""
        try:
            await asyncio.to_thread(self._path(name).unlink, missing_ok=True)
        except OSError as error:
            raise self._unusable(error) from None

    async def names(self) -> AsyncIterator[str]:
        """See ``UploadStorage.names``."""
        for path in await asyncio.to_thread(self._files):
            if not path.name.endswith(_PART):
                yield path.relative_to(self._root).as_posix()

    async def drop_parts(self) -> None:
        """See ``UploadStorage.drop_parts``."""

        def drop() -> None:
            for path in self._files():
                if path.name.endswith(_PART):
                    _drop_if_left(path)

        await asyncio.to_thread(drop)

    def _path(self, name: str) -> Path:
        folder, _, file = name.partition("/")
        if folder in _NOT_HERE or file in _NOT_HERE or "/" in file or "\0" in name:
            raise InputError("uploads", name, "no upload has such a name")
        return self._root / folder / file

    def _files(self) -> list[Path]:
        return sorted(path for path in self._root.glob("*/*") if path.is_file())

    def _unusable(self, error: OSError) -> StoreError:
        return StoreError(f"uploads at {self._root.as_uri()}: {error.strerror or error}")


class Bucket:
    """Object storage. Files are written to this machine's disk first, so that a bucket has only whole files."""

    def __init__(self, uri: str) -> None:
        self._objects = Objects(uri, "uploads")

    async def put(self, name: str, blocks: AsyncIterator[bytes], limit: int | None, look: Look | None = None) -> int:
        """See ``UploadStorage.put``."""
        with tempfile.TemporaryFile() as opened:
            file = cast(BinaryIO, opened)
            size = await _write(file, blocks, limit)
            if look is not None:
                await look(file)
            file.flush()
            file.seek(0)
            await self._objects.put_file(name, file)
        return size

    @asynccontextmanager
    async def fetch(self, name: str) -> AsyncIterator[Path | None]:
        """See ``UploadStorage.fetch``."""
        with tempfile.NamedTemporaryFile(prefix="memtrace-") as file:
            is_there = await self._objects.get_file(name, cast(BinaryIO, file))
            file.flush()
            yield Path(file.name) if is_there else None

    async def delete(self, name: str) -> None:
        """See ``UploadStorage.delete``."""
        await self._objects.delete_object(name)

    async def names(self) -> AsyncIterator[str]:
        """See ``UploadStorage.names``."""
        async for item in self._objects.list():
            yield item.name

    async def drop_parts(self) -> None:
        """See ``UploadStorage.drop_parts``: the spooled file of a killed server had no name, so it is gone."""


async def _write(file: BinaryIO, blocks: AsyncIterator[bytes], limit: int | None) -> int:
    size = 0
    waiting = bytearray()
    async for block in blocks:
        size += len(block)
        if limit is not None and size > limit:
            raise TooLargeError("the file", limit)
        waiting += block
        if len(waiting) >= _BLOCK:
            await asyncio.to_thread(file.write, waiting)
            waiting = bytearray()
    await asyncio.to_thread(file.write, waiting)
    return size


def _begin(part: Path) -> BinaryIO:
    part.parent.mkdir(exist_ok=True, mode=0o700)
    file = open(part, "x+b", opener=lambda path, flags: os.open(path, flags, FILE_MODE))  # noqa: SIM115
    if fcntl is not None:
        # The system releases a lock when its process ends, even by a kill. A part that can be locked was therefore left
        # behind.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _finish(file: BinaryIO, path: Path) -> None:
    """Give a file its name after its data are on the disk, and wait until the name is on the disk too."""
    file.flush()
    os.fsync(file.fileno())
    if os.name == "nt":
        file.close()
    Path(file.name).replace(path)
    if os.name == "nt":
        return
    for folder in (path.parent, path.parent.parent):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _drop_if_left(part: Path) -> None:
    try:
        with part.open("rb") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink(missing_ok=True)
    except (BlockingIOError, FileNotFoundError, PermissionError):
        return  # another process is writing the file, or has just finished
