"""Records of the platform beside the traces: API keys, jobs, the audit log and retention policies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schema.errors import InputError


class Role(StrEnum):
    """What a principal may do in a project; each role includes the rights of the roles listed above it.

    A reader reads, an annotator also judges cases of annotation queues and changes nothing else, a writer also gives
    verdicts on all failures, imports and starts jobs, and an admin may do everything.
    """

    READER = "reader"
    ANNOTATOR = "annotator"
    WRITER = "writer"
    ADMIN = "admin"

    def allows(self, needed: Role) -> bool:
        """Whether this role includes the rights of ``needed``."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key of one project. The key's text is shown once, and only the hash of the secret part is stored.

    Attributes:
        id: the public part of the key, by which the key is looked up: 16 hexadecimal digits.
        secret_hash: SHA-256 of the key's secret part, in hexadecimal. The secret is 256 random bits, so a slow hash
            would protect nothing.
        created_by: the principal that made the key; ``command line`` for the first key.
        last_used_at: to about a minute.
        person: the author of verdicts given with the key, the same for all keys of a person; None means the key's name.
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
    """The kinds of work that jobs do."""

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
        """Whether the job can't change any more: done, failed or cancelled."""
        return self in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}


@dataclass(frozen=True, slots=True)
class Job:
    """Work that outlives the request and the process.

    A runner that takes a job holds a lease on the job, and renews the lease while working. When other runners have
    seen the lease unchanged for the length of a lease, the first runner is gone, and another runner takes the job.

    Attributes:
        arguments: JSON text, an object whose members depend on the kind.
        stage: name of the current step of the work.
        done: how much of ``total`` is done; ``total`` is None while unknown.
        result: JSON text; None until the job is done.
        error: why the job failed, in words for the person who asked.
        attempts: how many times a runner has taken the job.
        cancel_requested: whether somebody asked to stop the job.
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
"""The outcome of an act of several transactions, until the act has ended."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A runner's lease on a job. Each renewal changes ``until``.

    Attributes:
        until: the end of the lease by the owner's clock. Other runners only look whether ``until`` changes, and never
            compare the time with their own clocks, because clocks differ and can be set.
    """

    job_id: str
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the audit log: a write through an interface, or an admin's read.

    The entry is written in the transaction of the change. An act of several transactions writes the entry first as
    ``BEGUN`` and sets the outcome afterwards, so that every change has an entry and no entry claims an unknown outcome.

    Attributes:
        actor: the principal, such as ``key:0f3a…`` or ``oidc:alice``.
        action: name of the act, such as ``deleteTrace``.
        target: id of the changed element or record; None if the act has no target.
        outcome: ``ok``, the name of the error, or ``BEGUN``.
        request_id: the id of the request in the server's log and in the header of the answer.
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
    """How long a project keeps its traces. A trace beyond either bound is deleted.

    Attributes:
        days: delete a trace this many days after the last write to the trace.
        traces: keep this many traces, the most recently written.
        changed_by: the principal that set the policy.
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
        """The project's id, because a project has one policy."""
        return self.project_id
