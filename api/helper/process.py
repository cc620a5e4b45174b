"""A process that runs functions for this one.

Threads share one interpreter: whatever computes for a second keeps the event loop waiting again and again, however
politely it pauses. A process of its own does not, and what it takes of memory can be bounded, and is given back.
"""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar, cast

from api.children import framed, read_message
from schema.errors import StoreError

T = TypeVar("T")


class Helper:
    """A process that does one piece of work at a time; it is started with the first."""

    def __init__(self, name: str, memory_bytes: int) -> None:
        """Prepare it.

        Args:
            name: of the thread that talks with it.
            memory_bytes: what it may take; work that needs more ends in a ``MemoryError``. Only Linux bounds it.
        """
        self._memory_bytes = memory_bytes
        self._thread = ThreadPoolExecutor(1, name)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Call a function of a module there, and return or raise what it does.

        Raises:
            StoreError: the process was killed meanwhile; another try starts a new one.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work, arguments)

    def close(self) -> None:
        """End the process at once."""
        self._is_closed = True
        self._end()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run(self, work: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        reply = None
        with suppress(OSError, ValueError):  # its pipes are closed when it is ended
            process.stdin.write(framed(pickle.dumps((work, arguments))))
            process.stdin.flush()
            reply = read_message(cast("BinaryIO", process.stdout))
        if reply is None:
            self._end()
            raise StoreError("the process that worked on this request has ended; send the request again")
        has_returned, found = pickle.loads(reply)  # noqa: S301 (from a process of ours)
        if not has_returned:
            raise found
        result: T = found
        return result

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._process is None:
                if self._is_closed:
                    raise StoreError("the server stops")
                # A session of its own: interrupts from a terminal are for the server. What it prints is for the log.
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "api.helper.child", str(self._memory_bytes)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=1,
                    start_new_session=True,
                )
            return self._process

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
