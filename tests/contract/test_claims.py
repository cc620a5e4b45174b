"""Runners that claim jobs at the same time: none gets what another holds."""

from __future__ import annotations

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from store.contract.records import ProjectRecords, Registry
from store.open import open_database
from tests.contract.test_jobs import at, claim, job, records, registry, stored

__all__ = ["records", "registry"]


async def test_of_twenty_runners_each_has_a_job_of_its_own(
    records: ProjectRecords, registry: Registry, project: str
) -> None:
    for number in range(20):
        await records.add_job(job(project, number))
    claims = await asyncio.gather(*(claim(registry, project, f"runner {number}", 30) for number in range(20)))
    claimed = [one for one in claims if one is not None]
    assert sorted(one.id for one in claimed) == sorted(job(project, number).id for number in range(20))
    assert {one.attempts for one in claimed} == {1}
    assert {one.owner for one in claimed} == {f"runner {number}" for number in range(20)}
    assert await records.jobs([one.id for one in claimed]) == claimed


@pytest.mark.each_engine
async def test_of_twenty_runners_one_has_the_only_job(
    records: ProjectRecords, registry: Registry, project: str
) -> None:
    await records.add_job(job(project))
    claims = await asyncio.gather(*(claim(registry, project, f"runner {number}", 30) for number in range(20)))
    (claimed,) = [one for one in claims if one is not None]
    assert await stored(records, 0) == claimed
    left = await registry.leases([project])
    again = await asyncio.gather(*(claim(registry, project, f"runner {number}", 40, left) for number in range(20)))
    (claimed,) = [one for one in again if one is not None]
    assert (claimed.attempts, await stored(records, 0)) == (2, claimed)


async def _claim_all(uri: str, owner: str) -> list[str]:
    claimed = []
    async with await open_database(uri) as database:
        registry = database.registry()
        while found := await registry.claim_job(owner, at(300), at(400)):
            claimed.append(found.id)
    return claimed


def claim_all(uri: str, owner: str) -> list[str]:
    """What a runner in a process of its own claims."""
    return asyncio.run(_claim_all(uri, owner))


@pytest.mark.once
async def test_runners_in_two_processes_share_the_jobs(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'jobs.db'}"
    async with await open_database(uri) as database:
        records = database.records("shared")
        for number in range(200):
            await records.add_job(job("shared", number))
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
            loop = asyncio.get_running_loop()
            lists = await asyncio.gather(
                *(loop.run_in_executor(processes, claim_all, uri, owner) for owner in ("one", "two"))
            )
        claimed = [id_ for ids in lists for id_ in ids]
        assert len(claimed) == 200
        assert set(claimed) == {job("shared", number).id for number in range(200)}
        for owner, ids in zip(("one", "two"), lists, strict=True):
            assert {(one.owner, one.attempts) for one in await records.jobs(ids)} <= {(owner, 1)}
