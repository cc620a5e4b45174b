"""Submitting, stopping and following jobs."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

from api.auth.access import ProjectDoor
from api.jobs.arguments import ImportArguments, ReportArguments
from api.jobs.following import Following
from api.jobs.uploads import Uploads
from api.jobs.work import check
from api.processes.shielded_acts import Acts
from schema.control import Job, JobKind, JobState, Role
from store.contract.protocol import Database

if TYPE_CHECKING:
    from api.jobs.notices import Notices
    from api.settings import Settings
    from ingest.queue.protocol import EventQueue

POLL_SECONDS = 0.25
_ACTIONS = {JobKind.IMPORT: "import", JobKind.ATTRIBUTE: "attribute", JobKind.REPORT: "report"}


class JobQueue:
    """The jobs of all projects, for the interfaces of one process. Any process may run the jobs.

    Attributes:
        arrived: set when this process accepts a job; the runner then looks at once.
        asked: set when this process is asked to stop a job.
    """

    def __init__(
        self,
        database: Database,
        uploads: Uploads | None = None,
        notices: Notices | None = None,
        acts: Acts | None = None,
    ) -> None:
        self._database = database
        self._uploads = uploads
        self._notices = notices
        self._acts = acts or Acts()
        self._following = Following("job", self._read, POLL_SECONDS)
        self.arrived = asyncio.Event()
        self.asked = asyncio.Event()

    async def submit(self, door: ProjectDoor, kind: JobKind, arguments: BaseModel, job_id: str | None = None) -> Job:
        """Submit a job. When this returns, the job is durable and will run.

        Args:
            door: the project, for the principal who asks.
            kind: the kind of job.
            arguments: the arguments of this kind; see ``api.jobs.arguments``.
            job_id: the id, if the same job may be submitted twice. An existing job with this id is returned.

        Raises:
            ForbiddenError: the role writer is needed.
            InputError: the arguments or this server's settings do not allow the job.
            NotFoundError: the arguments name something that is not in the project.
        """
        door.require(Role.WRITER)
        if isinstance(arguments, ReportArguments):
            arguments = arguments.model_copy(update={"person": door.author})
        await check(door.store, arguments)
        job = Job(
            job_id or secrets.token_hex(16),
            door.project_id,
            kind,
            JobState.QUEUED,
            arguments.model_dump_json(),
            datetime.now(UTC),
            door.actor,
        )
        return await self._acts.carry(self._add(door, job))

    async def cancel(self, door: ProjectDoor, job_id: str) -> Job:
        """Ask to stop a job; see ``ProjectRecords.cancel_job``.

        Raises:
            ForbiddenError: the role writer is needed.
            NotFoundError: the project has no such job.
        """
        door.require(Role.WRITER)
        return await self._acts.carry(self._cancel(door, job_id))

    async def _add(self, door: ProjectDoor, job: Job) -> Job:
        stored = await door.records.add_job(job, door.entry(_ACTIONS[job.kind], job.id))
        self.arrived.set()
        if self._notices is not None:
            await self._notices.send()
        return stored

    async def _cancel(self, door: ProjectDoor, job_id: str) -> Job:
        job = await door.records.cancel_job(job_id, datetime.now(UTC), door.entry("cancelJob", job_id))
        if self._uploads is not None and job.kind is JobKind.IMPORT and job.state is JobState.CANCELLED:
            await self._uploads.delete(ImportArguments.model_validate_json(job.arguments).upload)
        self.asked.set()
        self.changed()
        return job

    def changed(self) -> None:
        """Report a change to followers now, instead of at the next interval."""
        self._following.look_now()

    @property
    def is_looking(self) -> bool:
        """Whether anybody follows a job, so that the store is read at intervals."""
        return self._following.is_looking

    async def watch(self, door: ProjectDoor, job_id: str) -> AsyncGenerator[Job, None]:
        """Follow a job: its state now, then after each change, at last its final state.

        Changes that come faster than the client takes them are merged.

        Raises:
            NotFoundError: the project has no such job.
            StoreError: the store can't be used.
        """
        async with aclosing(self._following.follow(door.project_id, job_id)) as states:
            async for job in states:
                # Results are read through the principal's door, which leaves out withheld verdicts.
                for seen in await door.records.jobs([job_id]) if job.result is not None else [job]:
                    yield replace(seen, owner=None, lease_until=None)
                if job.state.is_final:
                    return

    async def close(self) -> None:
        """Stop looking."""
        await self._following.close()

    async def _read(self, project_id: str, ids: Sequence[str]) -> dict[str, Job]:
        jobs = await self._database.records(project_id).jobs(ids)
        # Renewals of the lease are no change for followers.
        return {job.id: replace(job, owner=None, lease_until=None) for job in jobs}


def notices_of(events: EventQueue, settings: Settings) -> Notices | None:
    """Notices of new jobs; None without a broker."""
    if settings.nats is None:
        return None
    from api.jobs.notices import Notices
    from ingest.queue.nats.queue import NatsQueue

    assert isinstance(events, NatsQueue)
    return Notices(events.client)
