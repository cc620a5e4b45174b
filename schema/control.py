"""What the platform keeps of its own beside the traces: keys, jobs, the audit log and how long traces are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schema.errors import InputError


class Role(StrEnum):
    """What a principal may do in a project; each role may all that those before it may."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"

    def allows(self, needed: Role) -> bool:
        """Whether this role is enough where ``needed`` is asked for."""
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


class JobKind(StrEnum):
    """What a job does."""

    IMPORT = "import"
    ATTRIBUTE = "attribute"
    REPORT = "report"


class JobState(StrEnum):
    """Where a job stands; the last three are for good."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing changes any more."""
        return self in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}


@dataclass(frozen=True, slots=True)
class Job:
    """Work that outlives the request for it, and the process that does it.

    A runner that takes a job holds a lease on it, and renews it while it works; a job whose lease others have seen
    unchanged for its length was left by a runner that is gone, and is taken again.

    Attributes:
        arguments: JSON text, an object; its form is the kind's.
        stage: what it does at the moment.
        done: how much of ``total`` is done; ``total`` is None while it is not known.
        result: JSON text; None until it is done.
        error: why it failed, in words for the person who asked.
        attempts: how often a runner took it.
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
"""The outcome of an act that takes more than one transaction, as long as it is not known how it ended."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A runner's hold on a job, as it stands. It changes whenever it is renewed.

    Attributes:
        until: when it would end by its owner's clock. It tells one renewal from the next; nobody compares it with a
            clock, for clocks differ and are set.
    """

    job_id: str
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what: every write through a door, and what admins read.

    It is written in the transaction of the change that it tells of. Where that is not possible it is written before as
    ``BEGUN``, and its outcome after: there is no change without an entry, and no entry says more than is known.

    Attributes:
        actor: the principal, such as ``key:0f3a…`` or ``oidc:alice``.
        action: what was asked, such as ``deleteTrace``.
        target: the id that it was done to; None where there is none.
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
    """How long a project keeps its traces; what either bound says may go, goes.

    Attributes:
        days: a trace goes when nothing was written to it for so many days.
        traces: so many stay, those that something was written to last.
        changed_by: the principal that set it.
        due_at: when it is to be looked for traces that may go the next time.

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
        """The project's: it has one policy."""
        return self.project_id
