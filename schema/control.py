"""What the platform keeps of its own beside the traces: keys, jobs, the audit log and how long traces are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schema.errors import InputError


class Role(StrEnum):
    """What a principal may do in a project; each role may do all that the roles before it may."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"

    def allows(self, needed: Role) -> bool:
        """Whether this role is enough where ``needed`` is required."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key to one project. The key itself is shown once, and only its hash is kept.

    Attributes:
        id: stands in the key in the clear, so that the key can be found: 16 hexadecimal digits.
        secret_hash: SHA-256 of the key's secret part, in hexadecimal. The secret is 256 random bits, so that a slow
            hash would protect nothing.
        created_by: the principal that made it; ``command line`` for the first.
        last_used_at: to about a minute.
        person: whose key it is; their verdicts have this name, whichever of their keys they use. Without one, the key's
            name stands for them.
    """

    id: str
    project_id: str
    name: str
    role: Role
    secret_hash: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    person: str | None = None


class JobKind(StrEnum):
    """What a job does."""

    IMPORT = "import"
    ATTRIBUTE = "attribute"
    REPORT = "report"


class JobState(StrEnum):
    """The state of a job; done, failed and cancelled are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the job can't change any more."""
        return self in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}


@dataclass(frozen=True, slots=True)
class Job:
    """Work that outlives the request for it, and the process that does it.

    A runner that takes a job holds a lease on it, and renews the lease while it works. When others have seen a lease
    unchanged for as long as it lasts, its runner is gone, and another runner takes the job.

    Attributes:
        arguments: JSON text, an object; which members it has depends on the kind.
        stage: what it is doing at the moment.
        done: how much of ``total`` is done; ``total`` is None while it is not known.
        result: JSON text; None until it is done.
        error: why it failed, in words for the person who asked.
        attempts: how many times a runner has taken it.
        cancel_requested: whether somebody asked to stop it.
        owner: the runner that holds the lease; see ``Lease``.
    """

    id: str
    project_id: str
    kind: JobKind
    state: JobState
    arguments: str
    created_at: datetime
    created_by: str
    started_at: datetime | None = None
    ended_at: datetime | None = None
    stage: str | None = None
    done: int = 0
    total: int | None = None
    result: str | None = None
    error: str | None = None
    attempts: int = 0
    cancel_requested: bool = False
    owner: str | None = None
    lease_until: datetime | None = None


BEGUN = "begun"
"""The outcome of an act that takes several transactions, until it is known how it ended."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A runner's hold on a job, as it stands. It changes whenever it is renewed.

    Attributes:
        until: when it ends by its owner's clock. It only tells one renewal from the next: nobody compares it with a
            clock of their own, because clocks differ and can be set.
    """

    job_id: str
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what: every write through a door, and what admins read.

    It is written in the same transaction as the change. Where that is not possible, it is written before the change as
    ``BEGUN``, and its outcome is added afterwards: no change goes without an entry, and no entry claims more than is
    known.

    Attributes:
        actor: the principal, such as ``key:0f3a…`` or ``oidc:alice``.
        action: what was asked, such as ``deleteTrace``.
        target: the id of what it was done to; None where there is none.
        outcome: ``ok``, the name of the error, or ``BEGUN``.
        request_id: joins the entry to the log and to the answer's header.
    """

    id: str
    project_id: str
    at: datetime
    actor: str
    action: str
    target: str | None
    outcome: str
    request_id: str | None


MOST_DAYS = 36_500
MOST_TRACES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How long a project keeps its traces. A trace that is beyond either bound is deleted.

    Attributes:
        days: a trace is deleted when nothing has been written to it for this many days.
        traces: this many are kept: those that were written to most recently.
        changed_by: the principal that set it.
        due_at: when to look next for traces to delete.

    Raises:
        InputError: no bound is given, or one is out of range.
    """

    project_id: str
    days: int | None
    traces: int | None
    changed_at: datetime
    changed_by: str
    due_at: datetime

    def __post_init__(self) -> None:
        if self.days is None and self.traces is None:
            raise InputError("retention", "", "say how many days, or how many traces, are kept")
        for name, value, most in (("days", self.days, MOST_DAYS), ("traces", self.traces, MOST_TRACES)):
            if value is not None and not 1 <= value <= most:
                raise InputError("retention", name, f"{value} is not from 1 to {most:,}")

    @property
    def id(self) -> str:
        """The project's id: a project has one policy."""
        return self.project_id
