"""How the C library keeps memory that was given back to it."""

from __future__ import annotations

import ctypes
import os
import sys

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Of glibc's malloc.h."""
_ARENAS = 1
_LARGE = 262_144
"""Bytes of a piece of memory that is the system's again as soon as it is free."""


def hold_little() -> None:
    """Have the C library keep little of what was freed, where it is glibc. Call it before there are threads.

    All threads take memory from the same arena. Each has one of its own otherwise, and what a request took in one of
    them is of no use to the next request in another: under attack, a server with a dozen threads held twice the
    memory, and an attribution of 180 failures held half as much again.

    Large pieces are taken from the system, and go back to it. Once one of 32 MiB at most was freed, glibc would take
    the next from its arena, where small ones that come after it keep it: 600 abusive documents left 55 to 105 MB
    there, and leave 25 MB now.

    ``MALLOC_ARENA_MAX`` and ``MALLOC_MMAP_THRESHOLD_`` say otherwise.
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


def give_back() -> None:
    """Give the memory that is free here back to the system."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
