"""A child process that calls functions for this process.

Threads share one interpreter: a function that computes for a second delays the event loop again and again. In a process
of its own it delays nothing, its memory can be bounded, and the memory goes back to the system.
"""

from __future__ import annotations

import asyncio
import pickle
from asyncio.subprocess import Process
from collections.abc import Callable
from typing import Any, TypeVar

from api.processes.children import GONE, heard, kill, send, start_child
from schema.errors import StoreError

T = TypeVar("T")

_ENDED = "the process that worked on this request has ended; send the request again"


class Helper:
    """A child that does one piece of work at a time. It starts with the first piece."""

    def __init__(self, memory_bytes: int) -> None:
        """Prepare it.

        Args:
            memory_bytes: bound on the child's memory. Work that needs more raises ``MemoryError``. Only Linux keeps it.
        """
        self._memory_bytes = memory_bytes
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._is_closed = False

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Call a module's function in the child, and return its result. Errors of the function are raised.

        If the call is cancelled, the child is killed. The next call starts another child.

        Raises:
            StoreError: the child was killed meanwhile.
        """
        async with self._turn:
            if self._is_closed:
                raise StoreError("the server stops")
            if self._process is None:
                self._process = await start_child("api.processes.helper_child", self._memory_bytes)
            process = self._process
            try:
                send(process, await asyncio.to_thread(pickle.dumps, (work, arguments)))
                reply = await heard(process)
            except BaseException as error:
                await self._end()
                if isinstance(error, GONE):
                    raise StoreError(_ENDED) from None
                raise
            has_returned, found = await asyncio.to_thread(pickle.loads, reply)  # (from a process of ours)
        if not has_returned:
            raise found
        result: T = found
        return result

    async def close(self) -> None:
        """End the child at once."""
        self._is_closed = True
        await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await kill(process)
