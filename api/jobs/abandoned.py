"""Which jobs were left by a runner that is gone.

Nobody's clock is trusted, as with the lanes of events (``ingest.queue.shares``): a runner changes its lease each time,
and a lease that another runner has seen unchanged for its length, by a clock that nobody can set, is nobody's any more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from schema.control import Lease


class Abandoned:
    """What one runner has seen of the leases of all."""

    def __init__(self, seconds: float) -> None:
        """Begin.

        Args:
            seconds: the length of a lease.
        """
        self._seconds = seconds
        self._since: dict[Lease, float] = {}
        self._looked = time.monotonic()

    def among(self, leases: Iterable[Lease]) -> list[Lease]:
        """Those of the leases, as they stand now, that are nobody's any more.

        A long write of others may have kept a renewal waiting: those only that were so at the look before, too.
        """
        now = time.monotonic()
        self._since = {lease: self._since.get(lease, now) for lease in leases}
        before, self._looked = self._looked, now
        return [lease for lease, since in self._since.items() if before - since >= self._seconds]
