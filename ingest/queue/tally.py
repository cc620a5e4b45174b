"""Counts of a worker's results, in a module of its own because servers without a worker use it too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counts of a worker's results since its start."""

    written: int = 0
    dead: int = 0
    postponed: int = 0
    batches: int = 0
    store_failures: int = 0
