"""Running jobs. Each job has a lease: after a kill another runner continues."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from api.jobs.abandoned import Abandoned
from api.jobs.arguments import ImportArguments
from api.jobs.lease import Held
from api.jobs.messages import Broken, Done, End, Refused, Stopped
from api.jobs.process import JobProcess
from api.jobs.queue import JobQueue
from api.jobs.uploads import Uploads
from api.settings import Settings
from schema.control import Job, JobKind, JobState
from schema.errors import StoreError
from store.contract.protocol import Database

ATTEMPTS = 3
_LOOK_SECONDS = 1.0
_IDLE_SECONDS = 10.0
_CLEAN_SECONDS = 3600.0
_STOP_SECONDS = 5.0
"""Seconds that a stop waits for work that must not be left half done, and then for giving back a job."""

_log = structlog.get_logger("memtrace.jobs")


class JobRunner:
    """Takes jobs of all projects and has several done at a time, each in a child.

    Projects take turns. A project has at most all slots but one, so that its long jobs never hold up another project.
    """

    def __init__(
        self, settings: Settings, database: Database, uploads: Uploads, queue: JobQueue, concurrency: int = 1
    ) -> None:
        self._settings = settings
        self._database = database
        self._registry = database.registry()
        self._uploads = uploads
        self._queue = queue
        self._concurrency = concurrency
        self._lease = settings.job_lease_seconds
        self._owner = f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(8)}"
        self._held: dict[str, str] = {}
        self._claiming = asyncio.Lock()
        self._last: str | None = None
        self._abandoned = Abandoned(self._lease)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to take jobs."""
        slots = [asyncio.create_task(self._slot()) for _ in range(self._concurrency)]
        self._tasks = [*slots, asyncio.create_task(self._clean())]

    async def stop(self) -> None:
        """Take no more jobs, and give back the held jobs, so that another runner can take them at once."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def is_needed(self, project_id: str, job_id: str, name: str) -> bool:
        """Whether a job has still to import an uploaded file."""
        found = await self._database.records(project_id).jobs([job_id])
        return bool(found) and not found[0].state.is_final and name in found[0].arguments

    async def _slot(self) -> None:
        """Take and do one job after the other, for ever."""
        child = JobProcess(self._settings)
        idle_since = time.monotonic()
        try:
            while True:
                try:
                    job = await self._claimed()
                    if job is not None:
                        await self._hold(job, child)
                        idle_since = time.monotonic()
                        continue
                except StoreError as error:
                    _log.warning("the queue can't be used", reason=str(error))
                except Exception:
                    # If the slot ended here, no other slot would take its jobs.
                    _log.exception("a runner's slot met an unexpected error")
                if time.monotonic() - idle_since > _IDLE_SECONDS:
                    await child.kill()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._queue.arrived.wait(), _LOOK_SECONDS)
                self._queue.arrived.clear()
        finally:
            await child.kill()

    async def _claimed(self) -> Job | None:
        projects = self._settings.job_projects
        async with self._claiming:
            left = self._abandoned.among(await self._registry.leases(projects))
            most = max(1, self._concurrency - 1)
            full = [project for project, count in Counter(self._held.values()).items() if count >= most]
            for without in ([*full, self._last], full) if self._last else (full,):
                now = datetime.now(UTC)
                until = now + timedelta(seconds=self._lease)
                job = await self._registry.claim_job(self._owner, now, until, projects, left, without)
                if job is not None:
                    break
            # If the store was too busy to renew a lease, this runner may have claimed its own job again.
            if job is None or job.id in self._held:
                self._last = None
                return None
            self._held[job.id] = self._last = job.project_id
            return job

    async def _hold(self, job: Job, child: JobProcess) -> None:
        """Do a job, and then end it or give it back."""
        self._queue.changed()
        log = _log.bind(job=job.id, project=job.project_id, kind=job.kind.value, attempt=job.attempts)
        log.info("job taken")
        try:
            end: End | None = Stopped()
            if not job.cancel_requested:
                held = Held(self._database, self._queue, job, self._owner, self._lease, child)
                end = await held.run()
            if end is None:
                log.warning("the lease was lost: another runner has the job")
                return
            await self._end(job, end, log)
        except asyncio.CancelledError:
            if await asyncio.shield(self._give_back(job)):
                log.info("job given back")
            raise
        finally:
            self._held.pop(job.id, None)
            self._queue.changed()

    async def _end(self, job: Job, end: End, log: Any) -> None:
        result = error = None
        if isinstance(end, Done):
            state, result = JobState.DONE, end.result
        elif isinstance(end, Refused):
            state, error = JobState.FAILED, end.error
        elif isinstance(end, Stopped):
            state = JobState.CANCELLED
        elif job.attempts < ATTEMPTS:
            await asyncio.sleep(min(2.0**job.attempts / 2, self._lease / 3))
            state = JobState.QUEUED
        else:
            state, error = JobState.FAILED, _masked(job, end)

        async def keep() -> None:
            now = datetime.now(UTC)
            has_ended = await self._registry.end_job(job.id, self._owner, state, now, result, error)
            if has_ended and state.is_final:
                await self._drop_upload(job)
            log.info("job ended", outcome=type(end).__name__.lower())

        await _to_the_end(keep())

    async def _give_back(self, job: Job) -> bool:
        """Give the job back to the queue; returns whether this runner still held it."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                now = datetime.now(UTC)
                return await self._registry.end_job(job.id, self._owner, JobState.QUEUED, now, None, None)
        return False

    async def _drop_upload(self, job: Job) -> None:
        """Delete the file of an import that has ended. If that fails, ``_clean`` deletes the file later."""
        if job.kind is JobKind.IMPORT:
            with suppress(StoreError):
                await self._uploads.delete(ImportArguments.model_validate_json(job.arguments).upload)

    async def _clean(self) -> None:
        """Delete, at intervals, the remains of uploads to killed servers."""
        while True:
            try:
                await self._uploads.clean(self.is_needed)
            except StoreError as error:
                _log.warning("uploads can't be cleaned", reason=str(error))
            await asyncio.sleep(_CLEAN_SECONDS)


async def _to_the_end(work: Coroutine[None, None, None]) -> None:
    """Await work that a stop must not leave half done. A stop waits some seconds for the work, and then abandons it."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=_STOP_SECONDS)
        if not task.cancel() and (error := task.exception()) is not None:
            _log.error("the end of a job could not be kept", exc_info=error)
        raise


def _masked(job: Job, end: Broken) -> str:
    """Why a job failed, without details that only the log may have."""
    if end.is_store:
        return f"the store could not be used, {job.attempts} times; ask for the job again later"
    return f"something went wrong in the server, {job.attempts} times; its log has more under the job's id"
