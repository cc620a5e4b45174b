"""Asking for jobs, stopping them, and following them."""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pydantic import BaseModel

from api.auth.access import ProjectDoor
from api.jobs.arguments import ImportArguments
from api.jobs.uploads import Uploads
from api.jobs.work import check
from schema.control import Job, JobKind, JobState, Role
from schema.errors import NotFoundError
from store.protocol import Database

POLL_SECONDS = 0.25
_IDS = 200
_ACTIONS = {JobKind.IMPORT: "import", JobKind.ATTRIBUTE: "attribute", JobKind.REPORT: "report"}


@dataclass(eq=False, slots=True)
class _Watcher:
    """One who follows a job: the newest state that was not taken yet, or the error that ended it."""

    project_id: str
    job_id: str
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    newest: Job | None = None
    error: Exception | None = None

    def tell(self, job: Job) -> None:
        # The lease is the runners' own business, and is renewed all the time.
        job = replace(job, owner=None, lease_until=None)
        if job != self.newest:
            self.newest = job
            self.changed.set()

    def end(self, error: Exception) -> None:
        self.error = error
        self.changed.set()


class JobQueue:
    """The jobs of all projects, as the doors of one process see them. Which process runs them does not matter.

    Attributes:
        arrived: is set when this process has taken a job, so that its runner need not look for it.
        asked: is set when this process was asked to stop one.
    """

    def __init__(self, database: Database, uploads: Uploads | None = None) -> None:
        self._database = database
        self._uploads = uploads
        self._watchers: set[_Watcher] = set()
        self._poll: asyncio.Task[None] | None = None
        self._now = asyncio.Event()
        self.arrived = asyncio.Event()
        self.asked = asyncio.Event()

    async def submit(self, door: ProjectDoor, kind: JobKind, arguments: BaseModel, job_id: str | None = None) -> Job:
        """Ask for work. When this returns the job is durable, and will be run.

        Args:
            door: the project, and who asks.
            kind: what to do.
            arguments: of the kind's own form; see ``api.jobs.arguments``.
            job_id: where the same job may be asked for twice: then the one that is there is given.

        Raises:
            ForbiddenError: a writer is needed.
            InputError: this can't be done, as the arguments or this server's settings are.
            NotFoundError: they name what is not in the project.
        """
        door.require(Role.WRITER)
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
        stored = await door.records.add_job(job)
        if stored.created_at == job.created_at:
            await door.audit(_ACTIONS[kind], job.id)
        self.arrived.set()
        return stored

    async def cancel(self, door: ProjectDoor, job_id: str) -> Job:
        """Ask to stop a job; see ``ProjectRecords.cancel_job``.

        Raises:
            ForbiddenError: a writer is needed.
            NotFoundError: the project has no such job.
        """
        door.require(Role.WRITER)
        job = await door.records.cancel_job(job_id, datetime.now(UTC))
        await door.audit("cancelJob", job_id)
        if self._uploads is not None and job.kind is JobKind.IMPORT and job.state is JobState.CANCELLED:
            await self._uploads.delete(ImportArguments.model_validate_json(job.arguments).upload)
        self.asked.set()
        self.changed()
        return job

    def changed(self) -> None:
        """Let those who follow jobs know of a change now, not at the next look."""
        self._now.set()

    @property
    def is_looking(self) -> bool:
        """Whether somebody follows a job, so that the store is asked again and again."""
        return self._poll is not None

    async def watch(self, door: ProjectDoor, job_id: str) -> AsyncGenerator[Job, None]:
        """Follow a job: as it is now, then after each change, at last in its final state.

        Changes that come faster than they are taken are told as one.

        Raises:
            NotFoundError: the project has no such job.
            StoreError: the store can't be used any more.
        """
        found = await door.records.jobs([job_id])
        if not found:
            raise NotFoundError(job_id, "job")
        watcher = _Watcher(door.project_id, job_id)
        watcher.tell(found[0])
        self._watchers.add(watcher)
        if self._poll is None:
            self._poll = asyncio.create_task(self._look())
        try:
            while True:
                await watcher.changed.wait()
                watcher.changed.clear()
                if watcher.error is not None:
                    raise watcher.error
                job = watcher.newest
                assert job is not None
                yield job
                if job.state.is_final:
                    return
        finally:
            self._watchers.discard(watcher)

    async def close(self) -> None:
        """Stop looking."""
        if self._poll is not None:
            self._poll.cancel()
            with suppress(asyncio.CancelledError):
                await self._poll

    async def _look(self) -> None:
        """Look at all jobs that somebody follows, with one read a project, until nobody follows any."""
        while self._watchers:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._now.wait(), POLL_SECONDS)
            self._now.clear()
            by_project: dict[str, list[_Watcher]] = defaultdict(list)
            for watcher in self._watchers:
                by_project[watcher.project_id].append(watcher)
            for project_id, watchers in by_project.items():
                await self._look_at(project_id, watchers)
        self._poll = None

    async def _look_at(self, project_id: str, watchers: list[_Watcher]) -> None:
        ids = sorted({watcher.job_id for watcher in watchers})
        jobs: dict[str, Job] = {}
        try:
            for start in range(0, len(ids), _IDS):
                found = await self._database.records(project_id).jobs(ids[start : start + _IDS])
                jobs.update((job.id, job) for job in found)
        except Exception as error:
            # Whatever it is, it is theirs who wait: the others' jobs are looked at all the same.
            for watcher in watchers:
                watcher.end(error)
            return
        for watcher in watchers:
            if watcher.job_id in jobs:
                watcher.tell(jobs[watcher.job_id])
            else:
                watcher.end(NotFoundError(watcher.job_id, "job"))
