"""What the doors of one process share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from api.processes.shielded_acts import Acts

if TYPE_CHECKING:
    from api.auth.code_flow import CodeFlow
    from api.auth.verify import Verifier
    from api.event_writer.process import EventWriter
    from api.http.allowance import RebuiltBytes
    from api.http.event_metrics import EventMetrics
    from api.http.reading import Reading
    from api.http.windows import Copies
    from api.jobs.following import Following
    from api.jobs.queue import JobQueue
    from api.jobs.uploads import Uploads
    from api.settings import Settings
    from ingest.queue.protocol import EventQueue
    from store.contract.protocol import Database


@dataclass(frozen=True, slots=True)
class Platform:
    """One server's parts. Only ``api.auth``, ``api.jobs`` and ``growth`` take a store from it; see ``Access``.

    Attributes:
        verifier: finds the principal of an Authorization header, or of a websocket's token.
        queue: takes jobs, and says when they change.
        events: where events wait for the graph.
        metrics: counts requests.
        growth: tells followers when the counts of traces change.
        uploads: files that wait for their import.
        copies: large answers that wait on the disk for their readers.
        reading: reads the requests of events, one project after the other.
        rebuilt: how much each project may have rebuilt.
        acts: carries changes through, even if nobody waits for them any more.
        writer: writes the events of the journal, if the queue is one.
        sign_in: signs browsers in at an OIDC issuer; None is for a server without one.
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
    writer: EventWriter | None = None
    sign_in: CodeFlow | None = None
