"""What a process takes of memory: the bound that the kernel keeps, and what the C library holds back.

An upload decides how much memory its import takes, so a job's process has a bound. Only Linux keeps it. The bound
counts the memory that the process has for itself, and the stacks of its threads up to the size that they may grow to.
Pages of files that the process only reads don't count, because the kernel can reclaim such pages.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_SPARE_BYTES = 64 << 20

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Of glibc's malloc.h."""
_ARENAS = 1
_LOOK_SECONDS = 1.0
_GROWN_BYTES = 16 << 20
_LARGE = 262_144
"""Bytes of a block of memory that goes back to the system as soon as it is free."""


def bound(limit: int) -> None:
    """Bound this process to ``limit`` bytes: an allocation beyond the bound raises ``MemoryError``."""
    _set(limit)


def spare(limit: int) -> None:
    """Give a process that has met its bound enough memory to report that."""
    _set(limit + _SPARE_BYTES)


def _set(limit: int) -> None:
    if resource is None or sys.platform != "linux":
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    # The hard limit stays, for it can't be raised again.
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def hold_little() -> None:
    """Have glibc keep little of the freed memory. Call this before the first thread starts.

    All threads take memory from the same arena. By default each thread has its own arena, and memory that a request
    freed in one arena is of no use to a request in another: under attack, a server with a dozen threads held twice the
    memory, and an attribution of 180 failures held half as much again.

    Large blocks are taken from the system and go back to it. By default glibc stops doing so after the first free of a
    block of up to 32 MiB: it then takes large blocks from its arena, where small blocks behind them keep them from
    going back. 600 abusive documents left 55 to 105 MB there, and leave 25 MB now.

    The variables ``MALLOC_ARENA_MAX`` and ``MALLOC_MMAP_THRESHOLD_`` of the environment take precedence.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # other C libraries have no such options
        return
    for variable, option, value in (
        ("MALLOC_ARENA_MAX", _M_ARENA_MAX, _ARENAS),
        ("MALLOC_MMAP_THRESHOLD_", _M_MMAP_THRESHOLD, _LARGE),
    ):
        if variable not in os.environ:
            mallopt(option, value)


@asynccontextmanager
async def keeping_little() -> AsyncIterator[None]:
    """For the length of a ``with`` block, return freed memory to the system whenever this process has grown.

    Answers of megabytes consist of blocks that are too small to go back by themselves, so a server would keep the
    memory of its busiest second.
    """
    if sys.platform != "linux":
        yield
        return
    task = asyncio.create_task(_keep_little())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _keep_little() -> None:
    least = _resident_bytes()
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        now = _resident_bytes()
        if now - least > _GROWN_BYTES:
            await asyncio.to_thread(give_back)
            now = least = _resident_bytes()
        least = min(least, now)


def _resident_bytes() -> int:
    """The resident memory of this process; see ``man 5 proc_pid_statm``."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def give_back() -> None:
    """Return the free memory of this process to the system."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
