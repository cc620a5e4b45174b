"""Projects take turns with a runner, and no project has all its slots."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest_asyncio

from api.jobs.runner import JobRunner
from api.settings import Settings
from schema.control import Job, JobKind, JobState
from store.contract.protocol import Database
from store.open import open_database

FIRST = datetime(2026, 3, 1, tzinfo=UTC)


@pytest_asyncio.fixture
async def waiting(tmp_path: Path) -> AsyncIterator[Database]:
    """A store in which four jobs of one project wait, and then one of another project."""
    async with await open_database(f"sqlite:///{tmp_path / 'jobs.db'}") as database:
        for number, project in enumerate(["busy"] * 4 + ["other"]):
            added = FIRST + timedelta(minutes=number)
            job = Job(f"{number:032x}", project, JobKind.REPORT, JobState.QUEUED, "{}", added, "somebody")
            await database.records(project).add_job(job)
        yield database


def _runner(database: Database, slots: int) -> Any:
    nothing = cast("Any", None)
    return JobRunner(Settings(), database, nothing, nothing, slots)


async def _claimed(runner: Any) -> str | None:
    job = await runner._claimed()
    return None if job is None else str(job.project_id)


async def test_a_slot_is_left_to_other_projects(waiting: Database) -> None:
    runner = _runner(waiting, 3)
    assert [await _claimed(runner) for _ in range(4)] == ["busy", "other", "busy", None]


async def test_another_project_is_next_with_one_slot(waiting: Database) -> None:
    runner = _runner(waiting, 1)
    found = []
    for _ in range(6):
        found.append(await _claimed(runner))
        runner._held.clear()
    assert found == ["busy", "other", "busy", "busy", "busy", None]
