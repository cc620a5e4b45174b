"""How much processor time another process has used."""

from __future__ import annotations

import os
from pathlib import Path


def processor_seconds(pid: int) -> float | None:
    """Seconds of all threads of a process so far, to a hundredth; None where the system does not tell (Linux does)."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return None
    # The second field is a name in brackets, which may hold spaces; the times are the 14th and 15th.
    fields = stat.read_text("ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
