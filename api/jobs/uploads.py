"""Uploaded files before their import. A file is durable before its upload is acknowledged.

The name of a file has the project, the job and the time: ``<project>/<job>-<seconds>-<random>``. A server may be killed
after storing the file and before storing the job. The name then shows that nobody needs the file.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol
from urllib.parse import quote, unquote, urlsplit

from api.errors import TooLargeError
from api.jobs.places import Bucket, Folder, Look
from schema.errors import InputError
from store.open import default_values

if TYPE_CHECKING:
    from api.settings import Settings

_GRACE_SECONDS = 3600
_LOOKERS = 2
"""The most files that are checked at a time: a check needs a processor and memory."""
_SUFFIX = "-uploads"


class UploadStorage(Protocol):
    """A storage of uploaded files."""

    async def put(self, name: str, blocks: AsyncIterator[bytes], limit: int | None, look: Look | None = None) -> int:
        """Store a file from blocks, whole or not at all, and make it durable; returns its number of bytes.

        Raises:
            TooLargeError: the file has more bytes than ``limit``. Errors of ``look`` are raised, too.
        """
        ...

    def fetch(self, name: str) -> AbstractAsyncContextManager[Path | None]:
        """A path of this machine with the file; None if the file does not exist."""
        ...

    async def delete(self, name: str) -> None:
        """Delete a file if it exists."""
        ...

    def names(self) -> AsyncIterator[str]:
        """The names of all files."""
        ...

    async def drop_parts(self) -> None:
        """Delete half-written files of killed servers."""
        ...


class Uploads:
    """The files of all projects. Servers and workers of a team share a storage."""

    def __init__(self, uri: str) -> None:
        """Open the storage; a missing folder is made.

        Args:
            uri: ``file:///absolute/folder``, or a bucket; see ``store.values.objects``.

        Raises:
            InputError: the URI can't be understood.
            StoreError: the folder can't be made.
        """
        self._lookers = ThreadPoolExecutor(_LOOKERS, "looking")
        self._place: UploadStorage = Folder(uri) if urlsplit(uri).scheme == "file" else Bucket(uri)

    async def put(
        self,
        project_id: str,
        job_id: str,
        blocks: AsyncIterator[bytes],
        limit: int | None = None,
        unpacked: tuple[int, int] | None = None,
    ) -> tuple[str, int]:
        """Store a file for a job; returns its name and its number of bytes. Afterwards a crash can't lose the file.

        Args:
            project_id: the project.
            job_id: the job that needs the file.
            blocks: the file's bytes in blocks.
            limit: the most bytes.
            unpacked: the most bytes after unpacking, and the most times its own size.

        Raises:
            TooLargeError: the file has more bytes, or unpacks to more; it is not kept.
        """
        name = f"{_folder(project_id)}/{job_id}-{int(time.time())}-{secrets.token_hex(4)}"
        look = None if unpacked is None else partial(self._look, unpacked)
        return name, await self._place.put(name, blocks, limit, look)

    async def _look(self, unpacked: tuple[int, int], file: BinaryIO) -> None:
        await asyncio.get_running_loop().run_in_executor(self._lookers, _check, file, *unpacked)

    def fetch(self, name: str) -> AbstractAsyncContextManager[Path | None]:
        """A path of this machine with the file, for the length of a ``with`` block; None if the file does not exist."""
        return self._place.fetch(name)

    async def delete(self, name: str) -> None:
        """Delete a file if it exists."""
        await self._place.delete(name)

    async def clean(
        self, is_needed: Callable[[str, str, str], Awaitable[bool]], grace_seconds: int = _GRACE_SECONDS
    ) -> None:
        """Delete the remains of killed servers: parts of files, and files that no job needs.

        Args:
            is_needed: called for files older than ``grace_seconds``, with project, job and name.
            grace_seconds: the age of a file from which it may be deleted. A job is stored shortly after its file.
        """
        await self._place.drop_parts()
        async for name in self._place.names():
            project, _, rest = name.partition("/")
            job_id, _, since = rest.rpartition("-")[0].rpartition("-")
            if not since.isdecimal() or int(since) > time.time() - grace_seconds:
                continue
            if not await is_needed(unquote(project), job_id, name):
                await self._place.delete(name)
            await asyncio.sleep(0)


def _check(file: BinaryIO, max_bytes: int, max_ratio: int) -> None:
    from ingest.files.inflation_check import check_unpacked
    from ingest.files.opening import UnpacksTooMuchError

    file.flush()
    file.seek(0)
    try:
        check_unpacked(file, "", max_bytes, max_ratio)
    except UnpacksTooMuchError as error:
        raise TooLargeError("what the file unpacks to", error.limit, error.why) from None


def _folder(project_id: str) -> str:
    """A safe folder name for a project; ``unquote`` turns it back into the project's name."""
    return quote(project_id, safe="").replace(".", "%2E")


def uploads_uri(settings: Settings) -> str:
    """The URI of the storage: from the settings, else beside the SQLite file or beside the values.

    Raises:
        InputError: values fill a whole bucket, so that no place is beside them.
    """
    if settings.uploads is not None:
        return settings.uploads
    if settings.values is None and settings.store.startswith("sqlite:///"):
        path = Path(settings.store.removeprefix("sqlite:///")).absolute()
        return path.with_name(path.name + _SUFFIX).as_uri()
    values = (settings.values or default_values()).rstrip("/")
    if not urlsplit(values).path.strip("/"):
        raise InputError("settings", "uploads", "say where uploads wait: the values take the whole bucket")
    return values + _SUFFIX
