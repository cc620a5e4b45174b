"""Uploaded files that wait for their import: durable before anybody is told that they are there.

The name of a file says whose it is, for which job, and since when: ``<project>/<job>-<seconds>-<random>``. A server may
be killed between the file and its job; the name then tells that nobody needs the file.
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
"""Files that are looked at at a time: it takes a processor, and memory."""
_SUFFIX = "-uploads"


class UploadStorage(Protocol):
    """Where uploaded files lie."""

    async def put(self, name: str, blocks: AsyncIterator[bytes], limit: int | None, look: Look | None = None) -> int:
        """Take a file in blocks, whole or not at all, and make it durable; its bytes.

        Raises:
            TooLargeError: there are more bytes than ``limit``; or what ``look`` raises.
        """
        ...

    def fetch(self, name: str) -> AbstractAsyncContextManager[Path | None]:
        """The file under a path of this machine; None where there is none."""
        ...

    async def delete(self, name: str) -> None:
        """Delete a file; nothing happens where there is none."""
        ...

    def names(self) -> AsyncIterator[str]:
        """The names of all files."""
        ...

    async def drop_parts(self) -> None:
        """Delete what killed servers have left half written."""
        ...


class Uploads:
    """The files of all projects. Servers and workers of one team share the place."""

    def __init__(self, uri: str) -> None:
        """Open the place; a folder is made where it is missing.

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
        """Take a file for a job, in blocks; its name and its bytes. When this returns, a crash loses nothing of it.

        Args:
            project_id: whose it is.
            job_id: which job needs it.
            blocks: the file.
            limit: its bytes at most.
            unpacked: to how many bytes it may unpack at most, and to how many times its own size.

        Raises:
            TooLargeError: there are more bytes, or it unpacks to more; nothing is kept.
        """
        name = f"{_folder(project_id)}/{job_id}-{int(time.time())}-{secrets.token_hex(4)}"
        look = None if unpacked is None else partial(self._look, unpacked)
        return name, await self._place.put(name, blocks, limit, look)

    async def _look(self, unpacked: tuple[int, int], file: BinaryIO) -> None:
        await asyncio.get_running_loop().run_in_executor(self._lookers, _check, file, *unpacked)

    def fetch(self, name: str) -> AbstractAsyncContextManager[Path | None]:
        """The file under a path of this machine, for as long as it is needed; None where there is none."""
        return self._place.fetch(name)

    async def delete(self, name: str) -> None:
        """Delete a file; nothing happens where there is none."""
        await self._place.delete(name)

    async def clean(
        self, is_needed: Callable[[str, str, str], Awaitable[bool]], grace_seconds: int = _GRACE_SECONDS
    ) -> None:
        """Delete what is left of killed servers: parts of files, and files that no job needs.

        Args:
            is_needed: is asked of files that have been there for a while: project, job and name.
            grace_seconds: that while. Between a file and its job there is a moment.
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
    """A folder's name for a project, from which ``unquote`` makes the project's again; it never leads elsewhere."""
    return quote(project_id, safe="").replace(".", "%2E")


def uploads_uri(settings: Settings) -> str:
    """Where uploads lie: as the settings say, else beside the SQLite file or beside the values.

    Raises:
        InputError: values lie in a bucket as a whole, so that nothing is beside them.
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
