"""Holding a job while its work goes on: renewing the lease, storing progress, and passing on requests to stop."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog

from api.jobs.messages import End, Told
from api.jobs.process import JobProcess
from api.jobs.queue import JobQueue
from schema.control import Job
from schema.errors import StoreError
from store.contract.protocol import Database

_LOOK_SECONDS = 0.5

_log = structlog.get_logger("memtrace.jobs")


class Held:
    """A job that a runner has taken."""

    def __init__(
        self, database: Database, queue: JobQueue, job: Job, owner: str, lease_seconds: float, child: JobProcess
    ) -> None:
        self._records = database.records(job.project_id)
        self._registry = database.registry()
        self._queue = queue
        self._job = job
        self._owner = owner
        self._lease = lease_seconds
        self._child = child
        self._told: Told | None = None
        self._kept: Told | None = None
        self._renewed = time.monotonic()

    async def run(self) -> End | None:
        """Have the job done, and return how it ended; None if the lease, and so the work, was lost."""
        work = asyncio.create_task(self._child.run(self._job, self._tell))
        keep = asyncio.create_task(self._keep())
        try:
            await asyncio.wait({work, keep}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                keep.result()
                return None
            keep.cancel()
            await asyncio.gather(keep, return_exceptions=True)
            if self._told is not self._kept:
                await self._renew()
            return work.result()
        finally:
            for task in (work, keep):
                task.cancel()
            await asyncio.gather(work, keep, return_exceptions=True)

    def _tell(self, told: Told) -> None:
        self._told = told

    async def _keep(self) -> None:
        """Renew the lease until the job belongs to another runner."""
        has_asked = False
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._queue.asked.wait(), min(_LOOK_SECONDS, self._lease / 3))
            self._queue.asked.clear()
            try:
                job = await self._look()
            except StoreError as error:
                if time.monotonic() - self._renewed > self._lease:
                    return
                _log.warning("the lease can't be renewed", job=self._job.id, reason=str(error))
                continue
            if job is None:
                return
            if job.cancel_requested and not has_asked:
                has_asked = True
                self._child.stop()

    async def _look(self) -> Job | None:
        """The present state of the job; None if this runner no longer holds it."""
        if self._told is not self._kept or time.monotonic() - self._renewed >= self._lease / 3:
            return await self._renew()
        found = await self._records.jobs([self._job.id])
        return found[0] if found and found[0].owner == self._owner else None

    async def _renew(self) -> Job | None:
        told, before = self._told, time.monotonic()
        until = datetime.now(UTC) + timedelta(seconds=self._lease)
        stage, done, total = (told.stage, told.done, told.total or None) if told else (None, 0, None)
        job = await self._registry.renew_job(self._job.id, self._owner, until, stage, done, total)
        self._renewed = before
        if told is not self._kept:
            self._kept = told
            self._queue.changed()
        return job
