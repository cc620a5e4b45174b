"""Objects by name, in object storage or in a folder, through ``obstore``, with errors in plain words.

Messages of ``obstore`` are not shown to users, because they contain signed addresses and answers of the server.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from schema.errors import DiskFullError, InputError, StoreError
from store.runtime.private_files import FILE_MODE, has_room, make_folders

if TYPE_CHECKING:
    from obstore.store import RetryConfig

_RETRIES = 5
_RETRY_SECONDS = 30
_ANSWER_SECONDS = 4.0
"""The time until an answer to a read begins, with all tries. Somebody may wait; who writes has ``_RETRY_SECONDS``."""
_PART_BYTES = 8 << 20
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


@dataclass(frozen=True, slots=True)
class Listed:
    """An object as listed.

    Attributes:
        size: bytes.
        state: changes when the object is replaced.
    """

    name: str
    size: int
    state: str


class Objects:
    """Objects at a place: ``file:///dir``, ``s3://``, ``gs://`` or ``az://``."""

    def __init__(self, uri: str, what: str = "values") -> None:
        """Open a place, without a request to a server. A missing folder is made.

        Args:
            uri: ``file:///absolute/folder``, ``s3://bucket/prefix``, ``gs://bucket/prefix`` or ``az://container/prefix``.
                Settings and keys come from the environment, under the names that ``obstore`` documents:
                ``AWS_ENDPOINT_URL``, ``AWS_ALLOW_HTTP``, ``AWS_REGION``, ``AWS_ACCESS_KEY_ID``,
                ``AWS_SECRET_ACCESS_KEY``, ...
            what: the setting that names the place, for errors.

        Raises:
            InputError: the URI or a setting can't be understood.
            StoreError: the folder can't be made.
        """
        self._what = what
        parts = urlsplit(uri)
        self.place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._root: Path | None = None
        if parts.scheme not in {"file", "s3", "gs", "az"}:
            raise self._bad("is neither file:///folder nor s3://bucket/prefix (nor gs://, az://)")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise self._bad("keys and settings do not belong here: they come from the environment")
        if parts.scheme == "file":
            if parts.netloc or not parts.path.startswith("/"):
                raise self._bad("write file:///absolute/folder")
            self._root = Path(unquote(parts.path))
            self._store: ObjectStore = self._open_folder(self._root)
        else:
            _check_endpoints()
            self._store = self._open_bucket(uri)

    def _open_folder(self, root: Path) -> ObjectStore:
        try:
            make_folders(root)
            return LocalStore(str(root))
        except (BaseError, OSError) as error:
            raise StoreError(f"{self._what} at {self.place}: {_reason(error)}") from None
        except ValueError:
            raise self._bad("is no name of a folder") from None

    def _open_bucket(self, uri: str) -> ObjectStore:
        retries: RetryConfig = {"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)}
        try:
            return from_url(uri, retry_config=retries)
        except (BaseError, ValueError) as error:
            raise self._bad(str(error).partition("\n")[0]) from None

    def _bad(self, problem: str) -> InputError:
        return InputError(self._what, self.place, problem)

    async def put(self, name: str, data: bytes) -> None:
        """Write an object durably, whole or not at all; an object of the same name is replaced."""
        with self._plain_errors():
            if self._root is not None:
                await asyncio.to_thread(make_folders, (self._root / name).parent, self._root)
            await obstore.put_async(self._store, name, data, use_multipart=False)
            if self._root is not None:
                await asyncio.to_thread(_make_durable, self._root / name, self._root)

    async def put_file(self, name: str, file: BinaryIO) -> None:
        """Write a file of any size as an object, in parts; the object exists whole or not at all."""
        with self._plain_errors():
            if self._root is not None:
                await asyncio.to_thread(make_folders, (self._root / name).parent, self._root)
            await obstore.put_async(self._store, name, file)
            if self._root is not None:
                await asyncio.to_thread(_make_durable, self._root / name, self._root)

    async def get_file(self, name: str, file: BinaryIO) -> bool:
        """Copy an object of any size into a file, part by part; returns False if the object does not exist."""
        with self._plain_errors(), suppress(FileNotFoundError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                found = await obstore.get_async(self._store, name)
            async for part in found.stream(_PART_BYTES):
                await asyncio.to_thread(file.write, part)
            return True
        return False

    async def get(self, name: str) -> bytes | None:
        """A whole object; None if it does not exist."""
        with self._plain_errors(), suppress(FileNotFoundError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await obstore.get_async(self._store, name)
            found = await answer.bytes_async()
            # Copying a large object would block the event loop.
            return bytes(found) if len(found) < _PART_BYTES else await asyncio.to_thread(bytes, found)
        return None

    async def get_range(self, name: str, start: int, end: int) -> bytes | None:
        """A part of an object; None if the object does not exist."""
        with self._plain_errors(), suppress(FileNotFoundError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                return bytes(await obstore.get_range_async(self._store, name, start=start, end=end))
        return None

    async def list(self, folder: str | None = None) -> AsyncIterator[Listed]:
        """The objects in a folder, or all."""
        with self._plain_errors():
            chunks = aiter(obstore.list(self._store, folder))
            while True:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    return
                for item in chunk:
                    yield Listed(item["path"], item["size"], item["e_tag"] or item["last_modified"].isoformat())

    async def check_room(self) -> None:
        """Check that the disk has room, if the place is a folder.

        Raises:
            DiskFullError: the disk is full.
        """
        if self._root is not None:
            with self._plain_errors():
                if not await asyncio.to_thread(has_room, self._root):
                    raise DiskFullError(f"{self._what} at {self.place}: the disk is full")

    async def delete(self, folder: str) -> None:
        """Delete a folder with its content."""
        with self._plain_errors():
            if self._root is not None:
                # This also deletes unfinished files of killed writers, which ``list`` does not show.
                await asyncio.to_thread(_delete_folder, self._root / folder)
                return
            while names := [item.name async for item in self.list(folder)]:
                # If another process deletes the same objects, some storages stop at the first missing object.
                with suppress(FileNotFoundError):
                    await obstore.delete_async(self._store, names)

    async def delete_object(self, name: str) -> None:
        """Delete an object, if it exists."""
        with self._plain_errors(), suppress(FileNotFoundError):
            await obstore.delete_async(self._store, name)

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            kind = DiskFullError if self._is_full() else StoreError
            raise kind(f"{self._what} at {self.place}: {_reason(error)}") from None

    def _is_full(self) -> bool:
        with suppress(OSError):
            return self._root is not None and not has_room(self._root)
        return False


def _check_endpoints() -> None:
    """Check the endpoints of S3 in the environment, because ``obstore`` panics on a malformed address.

    Raises:
        InputError: an endpoint is malformed, or is without TLS while ``AWS_ALLOW_HTTP`` is not set.
    """
    is_plain_allowed = os.environ.get("AWS_ALLOW_HTTP", "").lower() in {"1", "true", "on", "yes", "y"}
    for name in _ENDPOINTS:
        address = os.environ.get(name)
        if address is None:
            continue
        if not re.fullmatch(r"https?://[\w.:\[\]-]+(/[^\s?#]*)?", address, re.ASCII):
            raise InputError(name, "", "is no address such as https://host:port")
        if address.startswith("http:") and not is_plain_allowed:
            raise InputError(name, "", "is without TLS: AWS_ALLOW_HTTP=true allows that")


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "the storage does not answer"
    text = str(error)
    if code := re.search(r"<Code>(\w+)</Code>", text):
        return f"the storage answers {code[1]}"
    if "169.254.169.254" in text or "metadata.google.internal" in text:
        return "no credentials for the storage are in the environment"
    if status := re.search(r"status code: (\d+)", text):
        return f"the storage answers with HTTP status {status[1]}"
    if kind := re.search(r"HttpError \{\s*kind: (\w+)", text):
        return f"the storage can't be reached ({kind[1]})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if system := re.search(r": ([^:\n]+) \(os error \d+\)", text):
        return system[1]
    return f"the storage can't be used ({type(error).__name__})"


def _make_durable(file: Path, root: Path) -> None:
    """Wait until a file and its folders up to ``root`` are on the disk."""
    for path in (file, *(folder for folder in file.parents if folder.is_relative_to(root))):
        if path.is_dir() and os.name == "nt":
            continue
        descriptor = os.open(path, os.O_RDWR if path == file else os.O_RDONLY)
        try:
            if path == file:
                path.chmod(FILE_MODE)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _delete_folder(folder: Path) -> None:
    while folder.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
