"""Large answers are sent in windows: a slow client costs a file and one window of memory.

A store returns a value whole, because it is checked against its hash before the first byte is sent. The value is
written to a file without a name, and its memory is freed; the bytes of values in memory are bounded. Readers of the
same value share a file.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import BinaryIO, cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from schema.errors import StoreError

WINDOW_BYTES = 256 << 10
_HELD_BYTES = 96 << 20
"""Bytes of whole values on their way to files. A store needs about three times as much memory to assemble them."""


class Budget:
    """Bounds the bytes in memory; callers wait in order.

    A caller that needs more than the bound gets the whole budget.
    """

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def hold(self, size: int) -> AsyncIterator[None]:
        """Reserve some bytes for the length of a ``with`` block."""
        size = min(size, self._most)
        async with self._turn:
            while self._free < size:
                self._freed.clear()
                await self._freed.wait()
            self._free -= size
        try:
            yield
        finally:
            self._free += size
            self._freed.set()


@dataclass(eq=False, slots=True)
class _Copy:
    size: int
    file: asyncio.Task[BinaryIO]
    readers: int = 0


class Copies:
    """Files of large answers that are being read.

    Attributes:
        budget: the memory for answers on their way to files.
    """

    def __init__(self, most_bytes: int) -> None:
        """Make room for this many bytes."""
        self._most_bytes = most_bytes
        self.budget = Budget(_HELD_BYTES)
        self._copies: dict[Hashable, _Copy] = {}

    @property
    def waiting_bytes(self) -> int:
        """The bytes of all files."""
        return sum(copy.size for copy in self._copies.values())

    @asynccontextmanager
    async def open(self, key: Hashable, size: int, read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[BinaryIO]:
        """The file of an answer; it exists as long as it has a reader.

        Args:
            key: identifies the answer.
            size: bytes of the answer.
            read: returns the whole answer; called if the answer has no file yet.

        Raises:
            StoreError: the files would be too large together, or the disk is full.
        """
        copy = self._copies.get(key)
        if copy is None:
            if self._copies and self.waiting_bytes + size > self._most_bytes:
                raise StoreError(
                    f"answers that wait for their readers take {self.waiting_bytes:,} bytes: there is no room"
                )
            copy = self._copies[key] = _Copy(size, asyncio.create_task(self._fill(size, read)))
        # The task may hold the whole answer, and this frame lives as long as its reader.
        del read
        copy.readers += 1
        try:
            # Several readers wait for the task, so a reader that goes away must not cancel it.
            yield await asyncio.shield(copy.file)
        finally:
            copy.readers -= 1
            if copy.readers == 0:
                del self._copies[key]
                copy.file.add_done_callback(_close)
                copy.file.cancel()

    async def _fill(self, size: int, read: Callable[[], Awaitable[bytes]]) -> BinaryIO:
        async with self.budget.hold(size):
            data = await read()
            return await asyncio.to_thread(on_disk, [data])


class Windows(Response):
    """An answer that is sent window by window; a window is read after the client took the window before."""

    def __init__(
        self,
        copies: Copies,
        key: Hashable,
        size: int,
        read: Callable[[], Awaitable[bytes]],
        headers: Mapping[str, str],
        part: tuple[int, int] | None = None,
    ) -> None:
        """Make one; see ``Copies.open``.

        Args:
            copies: the files of answers.
            key: identifies the answer.
            size: bytes of the whole answer.
            read: returns the whole answer.
            headers: headers of the answer, without its length.
            part: the first byte to send, and the byte after the last; None sends everything, with status 200.
        """
        self.status_code = 200 if part is None else 206
        self.media_type = None
        self.background = None
        self._copies, self._key, self._size, self._read = copies, key, size, read
        self._start, self._end = part or (0, size)
        self.init_headers({**headers, "Content-Length": str(self._end - self._start)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        async with self._copies.open(self._key, self._size, self.__dict__.pop("_read")) as file:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            place = self._start
            while place < self._end:
                wanted = min(WINDOW_BYTES, self._end - place)
                block = await asyncio.to_thread(os.pread, file.fileno(), wanted, place)
                place += len(block)
                await send({"type": "http.response.body", "body": block, "more_body": place < self._end})


_IN_ONE_PIECE = 1 << 20


def in_windows(answer: Response, copies: Copies) -> Response:
    """The same answer, sent in windows if it is large."""
    if len(answer.body) <= _IN_ONE_PIECE or answer.status_code != HTTPStatus.OK:
        return answer
    data = bytes(answer.body)

    async def read() -> bytes:
        return data

    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    return Windows(copies, object(), len(data), read, headers)


def on_disk(blocks: Iterable[bytes]) -> BinaryIO:
    """A file without a name with these bytes; who reads the file closes it.

    Raises:
        StoreError: the disk is full, or can't be written.
    """
    try:
        file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115  (it outlives this)
        try:
            file.writelines(blocks)
            file.flush()
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise StoreError(f"{tempfile.gettempdir()}: an answer can't wait here: {error.strerror}") from error
    return file


def _close(filled: asyncio.Task[BinaryIO]) -> None:
    if not filled.cancelled() and filled.exception() is None:
        filled.result().close()
