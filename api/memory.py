"""The bound on a job's memory, which the kernel keeps: an upload decides what its import takes.

Only Linux keeps it. What counts is what the process has for itself: memory, and threads' stacks as far as they may
grow; not the pages of files that it only reads, which the kernel takes back when it needs them.
"""

from __future__ import annotations

import sys

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_SPARE_BYTES = 64 << 20


def bound(limit: int) -> None:
    """Bound this process: what would take it beyond the limit ends in a ``MemoryError``."""
    _set(limit)


def spare(limit: int) -> None:
    """Give a process that has met its bound enough to say so."""
    _set(limit + _SPARE_BYTES)


def _set(limit: int) -> None:
    if resource is None or sys.platform != "linux":
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    # The hard one stays, for it can't be raised again.
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
