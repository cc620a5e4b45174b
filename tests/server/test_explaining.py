"""Explanations are worked out in child processes, within a time limit, and one of a project at a time."""

from __future__ import annotations

import asyncio
import operator
import os
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from api.auth.browsers import COOKIE
from api.processes.helper import HelperPool
from attribution.why_not.find import why_not
from schema.models import Failure
from store.open import open_database
from tests.attribution.why_not import graphs
from tests.server.inside import inside
from tests.server.running import Place

MEMORY = 1 << 30
PATIENCE = 300.0
PROJECT = "explained"

_DOCUMENT = "query($id: String!) { project { failure(reference: $id) { whyNot { piece heldCount } } } }"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The file of the server that ``inside`` starts in this folder."""
    return Place(f"sqlite:///{tmp_path / 'inside.db'}")


async def _written(place: Place) -> tuple[Failure, list[Any]]:
    """A failure with its explanation."""
    story, failure = graphs.retrieval(PROJECT)
    async with await open_database(place.store) as database:
        await story.trace.write(database.project(PROJECT))
        told = (await why_not(database.project(PROJECT), [failure]))[failure.id]
    return failure, [{"piece": one.piece, "heldCount": one.held_count} for one in told]


def _explained(place: Place, folder: Path, failure: Failure, **settings: Any) -> tuple[dict[str, Any], str]:
    """The answer of GraphQL, and the failure's page."""
    key = place.make_key(project=PROJECT)
    with inside(folder, **settings) as (_, url), httpx.Client(base_url=url, timeout=PATIENCE) as client:
        answer = client.post(
            "/graphql",
            json={"query": _DOCUMENT, "variables": {"id": failure.id}},
            headers={"Authorization": f"Bearer {key}"},
        )
        page = client.get(f"/ui/projects/{PROJECT}/failures/{failure.id}", headers={"Cookie": f"{COOKIE}={key}"})
    assert page.status_code == 200, page.text
    found: dict[str, Any] = answer.json()
    return found, page.text


async def test_a_child_explains(place: Place, tmp_path: Path) -> None:
    failure, told = await _written(place)
    assert told
    answer, page = await asyncio.to_thread(_explained, place, tmp_path, failure)
    assert answer == {"data": {"project": {"failure": {"whyNot": told}}}}
    assert "Memory units that had it" in page
    assert not [one for one in psutil.Process().children() if "helper_child" in " ".join(one.cmdline())]


async def test_a_time_limit_ends_it(place: Place, tmp_path: Path) -> None:
    failure, _ = await _written(place)
    answer, page = await asyncio.to_thread(_explained, place, tmp_path, failure, explain_seconds=0.001)
    (error,) = answer["errors"]
    assert error["extensions"] == {"code": "TIMEOUT"}
    assert error["message"] == "this took longer than 0.001 s: run memtrace why-not, which has no time limit"
    assert "took longer than a page may wait" in page
    assert f"memtrace why-not {failure.id}" in page


async def test_one_project_does_not_hold_another() -> None:
    pool = HelperPool(2, MEMORY)
    try:
        held = [asyncio.create_task(pool.run("one", PATIENCE, time.sleep, PATIENCE)) for _ in range(5)]
        await asyncio.sleep(0)
        assert await pool.run("another", PATIENCE, operator.add, 1, 2) == 3
        assert not any(task.done() for task in held)
    finally:
        await pool.close()
        await asyncio.gather(*held, return_exceptions=True)


async def test_work_that_takes_too_long_is_killed_and_the_next_has_its_turn() -> None:
    pool = HelperPool(1, MEMORY)
    try:
        pid = await pool.run("one", PATIENCE, os.getpid)
        with pytest.raises(TimeoutError):
            await pool.run("one", 0.2, time.sleep, PATIENCE)
        assert not psutil.pid_exists(pid)
        assert await pool.run("another", PATIENCE, operator.add, 1, 2) == 3
    finally:
        await pool.close()


async def test_work_that_needs_too_much_memory_is_refused() -> None:
    pool = HelperPool(1, 256 << 20)
    try:
        with pytest.raises(MemoryError):
            await pool.run("one", PATIENCE, operator.mul, b"x", 1 << 30)
        assert await pool.run("one", PATIENCE, operator.add, 1, 2) == 3
    finally:
        await pool.close()


async def test_a_helper_without_work_ends() -> None:
    pool = HelperPool(1, MEMORY, idle_seconds=0.05)
    try:
        pid = await pool.run("one", PATIENCE, os.getpid)
        deadline = time.monotonic() + PATIENCE
        while psutil.pid_exists(pid):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        assert await pool.run("one", PATIENCE, os.getpid) != pid
    finally:
        await pool.close()
