"""What the doors of one process share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from api.shielded_acts import Acts

if TYPE_CHECKING:
    from api.auth.verify import Verifier
    from api.event_metrics import EventMetrics
    from api.following import Following
    from api.http.allowance import RebuiltBytes
    from api.http.reading import Reading
    from api.http.windows import Copies
    from api.jobs.queue import JobQueue
    from api.jobs.uploads import Uploads
    from api.settings import Settings
    from ingest.queue.protocol import EventQueue
    from store.protocol import Database


@dataclass(frozen=True, slots=True)
class Platform:
    """One server's parts. Only ``api.auth``, ``api.jobs`` and ``growth`` take a store from it; see ``Access``.

    Attributes:
        verifier: from the Authorization header (or a websocket's token) to a principal.
        queue: takes jobs, and says when they change.
        events: where events wait for the graph.
        metrics: counts those that come.
        growth: says when the counts of traces change.
        uploads: files that wait for their import.
        copies: large answers that wait for who reads them.
        reading: reads requests of events, projects in turn.
        rebuilt: how much each project may have rebuilt.
        acts: what changes something; it is carried through also where nobody waits for it any more.
    """

    settings: Settings
    database: Database
    verifier: Verifier
    queue: JobQueue
    events: EventQueue
    metrics: EventMetrics
    growth: Following[dict[str, int]]
    uploads: Uploads
    copies: Copies
    reading: Reading
    rebuilt: RebuiltBytes
    acts: Acts = field(default_factory=Acts)
