"""A runner that is told to stop between a job's end and the deletion of its file.

What is tested is the order of a runner's acts, which no engine changes: SQLite is enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from typing_extensions import override

from api.jobs import runner
from api.jobs.arguments import ImportArguments
from api.jobs.queue import JobQueue
from api.jobs.runner import JobRunner
from api.jobs.uploads import Uploads, uploads_uri
from api.settings.loading import open_store
from schema.control import AuditEntry, Job, JobKind, JobState
from store.contract.records import ProjectRecords
from tests.jobs.asking import PATIENCE_SECONDS, small
from tests.server.running import sqlite_place

PROJECT = "stopping"


class SlowUploads(Uploads):
    """A place that takes its time for a deletion."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.is_asked = asyncio.Event()
        self.may_go_on = asyncio.Event()

    @override
    async def delete(self, name: str) -> None:
        self.is_asked.set()
        await self.may_go_on.wait()
        await super().delete(name)


@dataclass(frozen=True)
class Ended:
    """A job that has just ended, whose file is still there."""

    runner: JobRunner
    uploads: SlowUploads
    folder: Path
    records: ProjectRecords
    job_id: str

    def files(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file()]

    async def state(self) -> JobState:
        (job,) = await self.records.jobs([self.job_id])
        return job.state


@asynccontextmanager
async def _ended(folder: Path) -> AsyncIterator[Ended]:
    settings = sqlite_place(folder).settings(job_projects=PROJECT, uploads=(folder / "uploads").as_uri())
    async with await open_store(settings) as database:
        await database.migrate()
        records = database.records(PROJECT)
        uploads = SlowUploads(uploads_uri(settings))
        job_id, now = uuid4().hex, datetime.now(UTC)
        name, _ = await uploads.put(PROJECT, job_id, _blocks())
        arguments = ImportArguments(upload=name, name="a.json").model_dump_json()
        job = Job(job_id, PROJECT, JobKind.IMPORT, JobState.QUEUED, arguments, now, "test")
        await records.add_job(job, AuditEntry(uuid4().hex, PROJECT, now, "test", "import", job_id, "ok", None))
        one = JobRunner(settings, database, uploads, JobQueue(database))
        await one.start()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await uploads.is_asked.wait()
            yield Ended(one, uploads, folder / "uploads", records, job_id)
        finally:
            uploads.may_go_on.set()
            await one.stop()


async def _blocks() -> AsyncIterator[bytes]:
    yield small("stopping").as_bytes()


async def test_the_stop_waits_for_the_deletion(tmp_path: Path) -> None:
    async with _ended(tmp_path) as ended:
        assert await ended.state() is JobState.DONE
        assert len(ended.files()) == 1
        stopping = asyncio.create_task(ended.runner.stop())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not stopping.done()
        ended.uploads.may_go_on.set()
        await stopping
        assert ended.files() == []
        assert await ended.state() is JobState.DONE


async def test_a_deletion_that_hangs_holds_no_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_STOP_SECONDS", 0.1)
    async with _ended(tmp_path) as ended:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await ended.runner.stop()
        assert len(ended.files()) == 1
        assert await ended.state() is JobState.DONE
        ended.uploads.may_go_on.set()
        await ended.uploads.clean(ended.runner.is_needed, grace_seconds=0)
        assert ended.files() == []
