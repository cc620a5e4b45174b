"""Large answers, sent in windows: a client that reads slowly, or not at all, costs a file and one window of memory.

A store gives a value in one piece, because it is checked against its hash before anybody sees a byte of it. The piece
is written to a file without a name, and freed; the bytes of such pieces that are in memory at a time are limited.
Readers of the same value share one file.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from schema.errors import StoreError

WINDOW_BYTES = 256 << 10
_HELD_BYTES = 96 << 20
"""Bytes of whole pieces on their way to files. A store needs about three times as much to assemble them."""


class Budget:
    """Limits the bytes that are held at a time; callers wait in turn.

    A caller that wants more than the limit gets all of it.
    """

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def hold(self, size: int) -> AsyncIterator[None]:
        """Hold some bytes until this is left."""
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
    """Large answers that wait on the disk for those who read them."""

    def __init__(self, most_bytes: int) -> None:
        """Make room for this many bytes."""
        self._most_bytes = most_bytes
        self._budget = Budget(_HELD_BYTES)
        self._copies: dict[Hashable, _Copy] = {}

    @property
    def waiting_bytes(self) -> int:
        """How many wait."""
        return sum(copy.size for copy in self._copies.values())

    @asynccontextmanager
    async def open(self, key: Hashable, size: int, read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[BinaryIO]:
        """The file of an answer; it is there as long as somebody reads it.

        Args:
            key: says which answer this is.
            size: its bytes.
            read: gives all of it; called where no file of it is there.

        Raises:
            StoreError: too many bytes wait, or the disk can't take them.
        """
        copy = self._copies.get(key)
        if copy is None:
            if self._copies and self.waiting_bytes + size > self._most_bytes:
                raise StoreError(
                    f"answers that wait for their readers take {self.waiting_bytes:,} bytes: there is no room"
                )
            copy = self._copies[key] = _Copy(size, asyncio.create_task(self._fill(size, read)))
        # It may hold the whole answer, and this frame lives as long as its reader.
        del read
        copy.readers += 1
        try:
            # Others wait for it too: one that goes away does not end it.
            yield await asyncio.shield(copy.file)
        finally:
            copy.readers -= 1
            if copy.readers == 0:
                del self._copies[key]
                copy.file.add_done_callback(_close)
                copy.file.cancel()

    async def _fill(self, size: int, read: Callable[[], Awaitable[bytes]]) -> BinaryIO:
        async with self._budget.hold(size):
            data = await read()
            return await asyncio.to_thread(_write, data)


class Windows(Response):
    """An answer that is sent window by window, each when the client has taken the last one."""

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
            copies: where it waits.
            key: says which answer this is.
            size: its bytes, of the whole.
            read: gives the whole.
            headers: of the answer, without its length.
            part: the first byte that is sent and the one after the last; None sends all, with status 200.
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


def _write(data: bytes) -> BinaryIO:
    try:
        file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115  (it outlives this)
        try:
            file.write(data)
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
