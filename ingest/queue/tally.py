"""What a worker counts, apart from the worker: a server counts it too, and has another process write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """What a worker has done since it started."""

    written: int = 0
    dead: int = 0
    postponed: int = 0
    batches: int = 0
    store_failures: int = 0
