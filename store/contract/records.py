"""Records beside the traces: API keys, jobs, the audit log, retention policies and annotation queues.

``ProjectRecords`` are the records of one project. ``Registry`` has the few look-ups over all projects: the project of
an API key, the next job, and the next project whose old traces are to be deleted.
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
    """Keys, jobs, audit log, retention policy and annotation queues of one project."""

    @property
    def project_id(self) -> str:
        """The project of all calls."""
        ...

    async def add_key(self, key: ApiKey, entry: AuditEntry | None = None) -> None:
        """Add a key. ``entry``, here and below, goes to the audit log in the same transaction.

        Raises:
            InputError: the key is of another project.
        """
        ...

    async def keys(self, first: int = 100, after: str | None = None) -> Page[ApiKey]:
        """All keys, also revoked and expired keys, the newest first."""
        ...

    async def revoke_key(self, key_id: str, at: datetime, entry: AuditEntry | None = None) -> ApiKey:
        """Revoke a key, and return the key; a revoked key is returned unchanged.

        Raises:
            NotFoundError: the project has no key with this id.
        """
        ...

    async def add_job(self, job: Job, entry: AuditEntry | None = None) -> Job:
        """Add a job, and return the job; if the id is stored, return the stored job and write no entry.

        Raises:
            InputError: the job is of another project.
        """
        ...

    async def jobs(self, ids: Sequence[str]) -> list[Job]:
        """The jobs with these ids, in the order of the ids; unknown ids are left out."""
        ...

    async def job_page(
        self, first: int = 100, after: str | None = None, kind: JobKind | None = None, state: JobState | None = None
    ) -> Page[Job]:
        """Jobs, the newest first, with their ``arguments`` and ``result``."""
        ...

    async def cancel_job(self, job_id: str, at: datetime, entry: AuditEntry | None = None) -> Job:
        """Ask to stop a job: a queued job is cancelled at once, a running job by its runner, an ended job never.

        Raises:
            NotFoundError: the project has no job with this id.
        """
        ...

    async def log(self, entries: Sequence[AuditEntry]) -> None:
        """Add entries to the audit log; entries with a stored id are ignored.

        Raises:
            InputError: an entry is of another project.
        """
        ...

    async def settle(self, entry: AuditEntry) -> None:
        """Set the outcome of a stored entry from ``BEGUN`` to the outcome of ``entry``, once."""
        ...

    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        """The audit log, newest first."""
        ...

    async def retention(self) -> RetentionPolicy | None:
        """The retention policy; None if traces are kept for ever."""
        ...

    async def set_retention(self, policy: RetentionPolicy, entry: AuditEntry | None = None) -> None:
        """Set the retention policy.

        Raises:
            InputError: the policy is of another project.
        """
        ...

    async def clear_retention(self, entry: AuditEntry | None = None) -> bool:
        """Delete the retention policy; returns whether a policy was set. Without a policy, no entry is written."""
        ...


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of the job queue, over all projects.

    Attributes:
        jobs: number of jobs by state.
        oldest_queued: creation time of the oldest queued job; None if no job is queued.
    """

    jobs: dict[str, int]
    oldest_queued: datetime | None


class Registry(Protocol):
    """Look-ups over all projects. Interfaces use a registry only before the project of a request is known."""

    async def key(self, key_id: str) -> ApiKey | None:
        """The key with this id, of any project; None if unknown."""
        ...

    async def touch_keys(self, used: Mapping[str, datetime]) -> None:
        """Store the times of last use, by key id."""
        ...

    async def leases(self, projects: Sequence[str] = ()) -> list[Lease]:
        """The leases of all running jobs of ``projects``; of all projects if empty."""
        ...

    async def claim_job(
        self,
        owner: str,
        now: datetime,
        lease_until: datetime,
        projects: Sequence[str] = (),
        left: Sequence[Lease] = (),
        without: Sequence[str] = (),
    ) -> Job | None:
        """Take the oldest job that is queued or whose runner is gone. Two runners never get one job.

        Args:
            owner: the runner.
            now: the runner's time.
            lease_until: the end of the new lease.
            projects: only jobs of these projects; empty for all.
            left: leases that the caller has seen unchanged for too long; a job that still has such a lease is taken
                from its runner.
            without: no jobs of these projects.

        Returns:
            The job as stored: running, with the new lease, ``started_at`` of the first attempt, and ``attempts``
            increased by one. None if no job can be taken.
        """
        ...

    async def renew_job(
        self, job_id: str, owner: str, lease_until: datetime, stage: str | None, done: int, total: int | None
    ) -> Job | None:
        """Renew the lease of a job and store its progress; returns None if the owner has lost the lease."""
        ...

    async def end_job(
        self, job_id: str, owner: str, state: JobState, at: datetime, result: str | None, error: str | None
    ) -> bool:
        """End a job with its result or error; returns False and changes nothing if the owner has lost the lease.

        The state ``QUEUED`` puts the job back into the queue, for another runner.
        """
        ...

    async def queue(self) -> QueueState:
        """The state of the job queue."""
        ...

    async def claim_retention(
        self, now: datetime, again_at: datetime, projects: Sequence[str] = ()
    ) -> RetentionPolicy | None:
        """Take the policy that has been due for longest; None if no policy is due. Two callers never get one policy.

        Args:
            now: policies that are due at this time can be taken.
            again_at: when the policy is due again.
            projects: only policies of these projects; empty for all.
        """
        ...
