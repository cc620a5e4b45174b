"""How the C library keeps memory that was given back to it."""

from __future__ import annotations

import ctypes
import os
import sys

_M_ARENA_MAX = -8
"""Of glibc's malloc.h."""
_ARENAS = 1


def share_arena() -> None:
    """Have all threads take large pieces of memory from the same arena of glibc, where that is the C library.

    Each thread has an arena of its own otherwise, and what a request took in one of them is of no use to the next
    request in another: under attack, a server with a dozen threads held twice the memory, and an attribution of 180
    failures held half as much again. Call it before there are threads. ``MALLOC_ARENA_MAX`` says otherwise.
    """
    if sys.platform != "linux" or "MALLOC_ARENA_MAX" in os.environ:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries have no arenas
        mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Give the memory that is free here back to the system."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
