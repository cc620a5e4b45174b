"""What a store keeps for the doors: keys, jobs, the audit log and how long traces are kept. Both engines do all of it.

``ProjectRecords`` is one project's part. ``Registry`` holds the few things that come before a project is known: whose
key this is, which job is next, and where old traces are to be looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from schema.control import ApiKey, AuditEntry, Job, JobKind, JobState, Lease, RetentionPolicy
from store.answers import Page


class ProjectRecords(Protocol):
    """Keys, jobs, audit log and retention of one project."""

    @property
    def project_id(self) -> str:
        """The project that every call is bound to."""
        ...

    async def add_key(self, key: ApiKey, entry: AuditEntry | None = None) -> None:
        """Keep a new key.

        Args:
            key: the key.
            entry: tells of it in the audit log; it is written in the transaction of the change, here and below.

        Raises:
            InputError: it is of another project.
        """
        ...

    async def keys(self, first: int = 100, after: str | None = None) -> Page[ApiKey]:
        """Keys, the newest first; revoked and expired ones too."""
        ...

    async def revoke_key(self, key_id: str, at: datetime, entry: AuditEntry | None = None) -> ApiKey:
        """End a key; one that was revoked before stays as it is.

        Raises:
            NotFoundError: this project has no such key.
        """
        ...

    async def add_job(self, job: Job, entry: AuditEntry | None = None) -> Job:
        """Keep a new job, and give it; the stored one, without an entry, where its id is known already.

        Raises:
            InputError: it is of another project.
        """
        ...

    async def jobs(self, ids: Sequence[str]) -> list[Job]:
        """The jobs with these ids that exist, in the order asked for."""
        ...

    async def job_page(
        self, first: int = 100, after: str | None = None, kind: JobKind | None = None, state: JobState | None = None
    ) -> Page[Job]:
        """Jobs, the newest first. Their ``arguments`` and ``result`` are there too."""
        ...

    async def cancel_job(self, job_id: str, at: datetime, entry: AuditEntry | None = None) -> Job:
        """Ask to stop a job: a queued one is cancelled at once, a running one by its runner, an ended one stays.

        Raises:
            NotFoundError: this project has no such job.
        """
        ...

    async def log(self, entries: Sequence[AuditEntry]) -> None:
        """Add to the audit log; an entry whose id is known is left as it is.

        Raises:
            InputError: an entry is of another project.
        """
        ...

    async def settle(self, entry: AuditEntry) -> None:
        """Say how an act ended whose entry was written as ``BEGUN``; one that was settled before stays as it is."""
        ...

    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        """The audit log, newest first."""
        ...

    async def retention(self) -> RetentionPolicy | None:
        """How long traces are kept; None where they are kept for good."""
        ...

    async def set_retention(self, policy: RetentionPolicy, entry: AuditEntry | None = None) -> None:
        """Keep traces so long from now on.

        Raises:
            InputError: it is of another project.
        """
        ...

    async def clear_retention(self, entry: AuditEntry | None = None) -> bool:
        """Keep traces for good from now on; whether there was a policy, without which there is no entry."""
        ...


@dataclass(frozen=True, slots=True)
class QueueState:
    """How the queue of jobs stands, over all projects.

    Attributes:
        jobs: how many, by state.
        oldest_queued: when the job that waits longest was asked for; None where none waits.
    """

    jobs: dict[str, int]
    oldest_queued: datetime | None


class Registry(Protocol):
    """What comes before a project is known. Doors use it for nothing else."""

    async def key(self, key_id: str) -> ApiKey | None:
        """The key with this id, whatever its project; None where there is none."""
        ...

    async def touch_keys(self, used: Mapping[str, datetime]) -> None:
        """Keep when keys were last used."""
        ...

    async def leases(self, projects: Sequence[str] = ()) -> list[Lease]:
        """The leases of all jobs that are running: of ``projects``, or of all where it is empty."""
        ...

    async def claim_job(
        self,
        owner: str,
        now: datetime,
        lease_until: datetime,
        projects: Sequence[str] = (),
        left: Sequence[Lease] = (),
    ) -> Job | None:
        """Take the oldest job that is queued, or was left by its runner; None where there is none.

        Only jobs of ``projects`` are taken; of all where it is empty. ``left`` are leases that the caller has seen
        unchanged for too long: a job is taken from its runner while its lease is still that one. Two runners never get
        the same job, in whatever processes they are. The job comes back ``running``, with the owner, the lease,
        ``started_at`` of the first attempt, and one attempt more.
        """
        ...

    async def renew_job(
        self, job_id: str, owner: str, lease_until: datetime, stage: str | None, done: int, total: int | None
    ) -> Job | None:
        """Hold a job for longer and keep its progress; None where the owner does not hold it any more."""
        ...

    async def end_job(
        self, job_id: str, owner: str, state: JobState, at: datetime, result: str | None, error: str | None
    ) -> bool:
        """End a job, with its result or its error; whether the owner still held it (else nothing is changed).

        ``QUEUED`` as the state gives the job back, for another runner to go on with.
        """
        ...

    async def queue(self) -> QueueState:
        """How the queue stands."""
        ...

    async def claim_retention(
        self, now: datetime, again_at: datetime, projects: Sequence[str] = ()
    ) -> RetentionPolicy | None:
        """Take a policy that is due, the one that has waited longest; None where none is.

        It is due again at ``again_at``: of several that ask, in whatever processes, one gets it. Only policies of
        ``projects`` are taken; of all where it is empty.
        """
        ...
