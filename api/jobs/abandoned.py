"""Finds the jobs whose runner is gone.

No clock that can be set is trusted, as with the lanes of events (``ingest.queue.shares``). A runner that renews its
lease changes it. If another runner sees a lease unchanged for its whole length, by a monotonic clock, the lease is
abandoned.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from schema.control import Lease


class Abandoned:
    """Since when one runner has seen the leases of all runners unchanged."""

    def __init__(self, seconds: float) -> None:
        """Begin without having seen any lease.

        Args:
            seconds: the length of a lease.
        """
        self._seconds = seconds
        self._since: dict[Lease, float] = {}
        self._looked = time.monotonic()

    def among(self, leases: Iterable[Lease]) -> list[Lease]:
        """Which of the present leases are abandoned.

        Only those that were overdue at the previous look too, because a long write by others may have delayed a
            renewal.
        """
        now = time.monotonic()
        self._since = {lease: self._since.get(lease, now) for lease in leases}
        before, self._looked = self._looked, now
        return [lease for lease, since in self._since.items() if before - since >= self._seconds]
