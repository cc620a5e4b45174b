"""Finds jobs whose runner is gone.

Clocks that can be set are not trusted, as with the lanes of events (``ingest.queue.shares``). Renewing changes a lease.
A lease is abandoned if another runner sees it unchanged for its whole length, by a monotonic clock.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from schema.control import Lease


class Abandoned:
    """For each lease of all runners, since when this runner has seen it unchanged."""

    def __init__(self, seconds: float) -> None:
        """Begin without having seen any lease.

        Args:
            seconds: the length of a lease.
        """
        self._seconds = seconds
        self._since: dict[Lease, float] = {}
        self._looked = time.monotonic()

    def among(self, leases: Iterable[Lease]) -> list[Lease]:
        """The abandoned leases among the present leases.

        A lease must have been overdue at the previous look too, because a long write of another process may have
        delayed its renewal.
        """
        now = time.monotonic()
        self._since = {lease: self._since.get(lease, now) for lease in leases}
        before, self._looked = self._looked, now
        return [lease for lease, since in self._since.items() if before - since >= self._seconds]
