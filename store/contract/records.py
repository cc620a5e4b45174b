"""What a store keeps for the doors: keys, jobs, the audit log and how long traces are kept. Both engines do all of it.

``ProjectRecords`` is one project's part. ``Registry`` answers the few questions that come before a project is known:
whose key this is, which job is next, and which project's old traces are to be deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from schema.control import ApiKey, AuditEntry, Job, JobKind, JobState, Lease, RetentionPolicy
from store.contract.annotations import Annotations
from store.contract.answers import Page


class ProjectRecords(Annotations, Protocol):
    """Keys, jobs, audit log and retention of one project."""

    @property
    def project_id(self) -> str:
        """The project that every call is bound to."""
        ...

    async def add_key(self, key: ApiKey, entry: AuditEntry | None = None) -> None:
        """Keep a new key.

        Args:
            key: the key.
            entry: for the audit log; it is written in the transaction of the change, here and below.

        Raises:
            InputError: it is of another project.
        """
        ...

    async def keys(self, first: int = 100, after: str | None = None) -> Page[ApiKey]:
        """Keys, the newest first, including revoked and expired ones."""
        ...

    async def revoke_key(self, key_id: str, at: datetime, entry: AuditEntry | None = None) -> ApiKey:
        """End a key; one that was revoked before stays as it is.

        Raises:
            NotFoundError: this project has no such key.
        """
        ...

    async def add_job(self, job: Job, entry: AuditEntry | None = None) -> Job:
        """Keep a new job, and return it; if its id is known already, return the stored one and write no entry.

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
        """Jobs, the newest first, with their ``arguments`` and ``result``."""
        ...

    async def cancel_job(self, job_id: str, at: datetime, entry: AuditEntry | None = None) -> Job:
        """Ask to stop a job: a queued one is cancelled at once, a running one by its runner, an ended one never.

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
        """Set the outcome of an entry that was written as ``BEGUN``; one that has its outcome stays as it is."""
        ...

    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        """The audit log, newest first."""
        ...

    async def retention(self) -> RetentionPolicy | None:
        """How long traces are kept; None if they are kept for good."""
        ...

    async def set_retention(self, policy: RetentionPolicy, entry: AuditEntry | None = None) -> None:
        """Keep traces as long as a policy says, from now on.

        Raises:
            InputError: it is of another project.
        """
        ...

    async def clear_retention(self, entry: AuditEntry | None = None) -> bool:
        """Keep traces for good from now on; whether there was a policy. If there was none, no entry is written."""
        ...


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of the queue of jobs, over all projects.

    Attributes:
        jobs: how many, by state.
        oldest_queued: when the job that has waited longest was asked for; None if none is waiting.
    """

    jobs: dict[str, int]
    oldest_queued: datetime | None


class Registry(Protocol):
    """What is looked up before a project is known. Doors use it for nothing else."""

    async def key(self, key_id: str) -> ApiKey | None:
        """The key with this id, whatever its project; None where there is none."""
        ...

    async def touch_keys(self, used: Mapping[str, datetime]) -> None:
        """Note when keys were last used."""
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
        unchanged for too long: a job is taken from its runner if it still has that lease. Two runners never get
        the same job, even in different processes. The job comes back ``running``, with the owner, the lease,
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

        The state ``QUEUED`` gives the job back, so that another runner can go on with it.
        """
        ...

    async def queue(self) -> QueueState:
        """The state of the queue of jobs."""
        ...

    async def claim_retention(
        self, now: datetime, again_at: datetime, projects: Sequence[str] = ()
    ) -> RetentionPolicy | None:
        """Take a policy that is due, the one that has waited longest; None where none is.

        It is due again at ``again_at``: if several ask, even in different processes, one gets it. Only policies of
        ``projects`` are taken; of all where it is empty.
        """
        ...
