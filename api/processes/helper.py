"""Child processes that call functions for this process.

Threads share one interpreter: a function that computes for a second delays the event loop again and again. In a process
of its own it delays nothing, its memory can be bounded, and the memory goes back to the system.
"""

from __future__ import annotations

import asyncio
import pickle
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from api.processes.children import GONE, heard, kill, send, start_child
from ingest.queue.turns import Turns
from schema.errors import StoreError

T = TypeVar("T")

_STOPS = "the server stops"
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
                raise StoreError(_STOPS)
            if self._process is None:
                self._process = await start_child("api.processes.helper_child", self._memory_bytes)
            process = self._process
            try:
                if self._is_closed:
                    raise StoreError(_STOPS)
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

    async def rest(self) -> None:
        """End the child when its work is done. The next piece of work starts another child."""
        async with self._turn:
            await self._end()

    async def close(self) -> None:
        """End the child at once, whatever it does."""
        self._is_closed = True
        if self._process is not None:
            with suppress(ProcessLookupError):  # it may have ended by itself
                self._process.kill()
        await self.rest()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await kill(process)


class HelperPool:
    """Helpers that work side by side, at most one for each project, and each piece of work within a time limit.

    While one project's work takes long, other projects have the other helpers. A helper that has nothing to do for
    ``idle_seconds`` ends.
    """

    def __init__(self, size: int, memory_bytes: int, idle_seconds: float = 600.0) -> None:
        """Prepare the helpers; no process is started yet.

        Args:
            size: the number of helpers.
            memory_bytes: bound on the memory of each; see ``Helper``.
            idle_seconds: see above.
        """
        self._idle = [Helper(memory_bytes) for _ in range(size)]
        self._all = list(self._idle)
        self._turns = Turns(size)
        self._of_project: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._idle_seconds = idle_seconds
        self._timers: dict[Helper, asyncio.TimerHandle] = {}
        self._resting: set[asyncio.Task[None]] = set()

    async def run(self, project_id: str, seconds: float, work: Callable[..., T], *arguments: Any) -> T:
        """Call a module's function in a helper, and return its result; see ``Helper.run``.

        Args:
            project_id: the project that the work is for.
            seconds: the time limit, from the start of the work.
            work: the function.
            arguments: of the function.

        Raises:
            TimeoutError: the work took longer, and its process was killed.
            MemoryError: the work needs more memory than a helper may take.
            StoreError: the process was killed by somebody else.
        """
        lock = self._of_project.setdefault(project_id, asyncio.Lock())
        async with lock, self._turns.turn(project_id):
            helper = self._idle.pop()
            if (timer := self._timers.pop(helper, None)) is not None:
                timer.cancel()
            try:
                async with asyncio.timeout(seconds):
                    return await helper.run(work, *arguments)
            except MemoryError:
                await helper.rest()  # what is left of the work may hold memory
                raise
            finally:
                self._idle.append(helper)
                loop = asyncio.get_running_loop()
                self._timers[helper] = loop.call_later(self._idle_seconds, self._rest, helper)

    async def close(self) -> None:
        """End all helpers at once."""
        for timer in self._timers.values():
            timer.cancel()
        for helper in self._all:
            await helper.close()

    def _rest(self, helper: Helper) -> None:
        task = asyncio.create_task(helper.rest())
        self._resting.add(task)
        task.add_done_callback(self._resting.discard)
