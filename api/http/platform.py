"""The parts that all interfaces of a server share."""

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
    from api.http.explaining import Explaining
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
    """The parts of a server. Only ``api.auth``, ``api.jobs`` and ``growth`` may use its database; see ``Access``.

    Attributes:
        verifier: finds the principal of an Authorization header, or of a websocket's token.
        queue: takes jobs, and reports their changes.
        events: the queue of events.
        metrics: counts requests.
        growth: reports changes of the counts of traces.
        uploads: uploaded files before their import.
        copies: large answers on the disk.
        reading: reads the requests of events, one project after the other.
        explaining: explains failures, in child processes.
        rebuilt: bounds the rebuilt values of each project.
        acts: writes that run to their end, even if the client is gone.
        writer: writes the events of the journal, if the queue is a journal.
        sign_in: signs browsers in at an OIDC issuer; None without an issuer.
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
    explaining: Explaining
    acts: Acts = field(default_factory=Acts)
    writer: EventWriter | None = None
    sign_in: CodeFlow | None = None
