"""How much memory a child of the benchmarks needed."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_memory() -> int:
    """Bytes of memory that this process had at most, pages of mapped files included."""
    status = Path("/proc/self/status")
    if status.exists():
        # The kernel's ru_maxrss may also count the process that started this one.
        line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
