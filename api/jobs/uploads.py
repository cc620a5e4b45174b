"""Uploaded files that wait for their import: durable before anybody is told that they are there.

The name of a file says whose it is, for which job, and since when: ``<project>/<job>-<seconds>-<random>``. A server may
be killed between the file and its job; the name then tells that nobody needs the file.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote, urlsplit

from api.jobs.places import Bucket, Folder
from schema.errors import InputError
from store.open import default_values

if TYPE_CHECKING:
    from api.settings import Settings

_GRACE_SECONDS = 3600
_SUFFIX = "-uploads"


class Place(Protocol):
    """Where uploaded files lie."""

    async def put(self, name: str, blocks: AsyncIterator[bytes], limit: int | None) -> int:
        """Take a file in blocks, whole or not at all, and make it durable; its bytes.

        Raises:
            TooLargeError: there are more bytes than ``limit``.
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
            uri: ``file:///absolute/folder``, or a bucket; see ``store.objects``.

        Raises:
            InputError: the URI can't be understood.
            StoreError: the folder can't be made.
        """
        self._place: Place = Folder(uri) if urlsplit(uri).scheme == "file" else Bucket(uri)

    async def put(
        self, project_id: str, job_id: str, blocks: AsyncIterator[bytes], limit: int | None = None
    ) -> tuple[str, int]:
        """Take a file for a job, in blocks; its name and its bytes. When this returns, a crash loses nothing of it.

        Raises:
            TooLargeError: there are more bytes than ``limit``; nothing is kept.
        """
        name = f"{quote(project_id, safe='')}/{job_id}-{int(time.time())}-{secrets.token_hex(4)}"
        return name, await self._place.put(name, blocks, limit)

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
