"""Large operations run beside the server's loop, and use the loop's objects through it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.graphql.documents import MOST_CHANGED
from api.graphql.executor import Executor
from api.graphql.loops import LoopThreads, on_loop
from tests.graphql.world import World
from tests.server.inside import inside
from tests.server.running import Place

_said: contextvars.ContextVar[str] = contextvars.ContextVar("said")


async def test_work_runs_in_another_thread_with_what_is_known_here() -> None:
    _said.set("here")

    async def work() -> tuple[int, str]:
        await asyncio.sleep(0)
        return threading.get_ident(), _said.get()

    thread, said = await LoopThreads().run(work)
    assert thread != threading.get_ident()
    assert said == "here"


async def test_an_error_comes_back_as_it_is() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        await LoopThreads().run(work)


async def test_who_is_cancelled_cancels_the_work() -> None:
    began, ended = threading.Event(), threading.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    task = asyncio.create_task(LoopThreads().run(work))
    assert await asyncio.to_thread(began.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 60)


async def test_work_side_by_side_has_threads_of_its_own_up_to_a_bound() -> None:
    threads = LoopThreads(2)
    met = asyncio.get_running_loop().create_future()
    seen: list[int] = []

    async def work() -> None:
        seen.append(threading.get_ident())
        if len(seen) == 5:
            met.get_loop().call_soon_threadsafe(met.set_result, None)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_wait_for(met), met.get_loop()))

    await asyncio.gather(*(threads.run(work) for _ in range(5)))
    assert sorted(seen.count(thread) for thread in set(seen)) == [2, 3]
    seen[:] = seen[:4]
    await threads.run(work)
    assert seen[4] in seen[:4], "a thread without work is used again"


async def _wait_for(met: asyncio.Future[None]) -> None:
    await met


class _Thing:
    name = "thing"

    async def where(self, *, more: str) -> tuple[int, str]:
        return threading.get_ident(), more

    async def one_by_one(self) -> AsyncIterator[int]:
        yield 1


async def test_what_belongs_to_a_loop_is_used_there() -> None:
    thing = on_loop(_Thing(), asyncio.get_running_loop())

    async def work() -> tuple[str, tuple[int, str]]:
        return thing.name, await thing.where(more="x")

    assert await LoopThreads().run(work) == ("thing", (threading.get_ident(), "x"))
    with pytest.raises(TypeError, match="one_by_one"):
        thing.one_by_one()


def test_a_server_completes_large_answers_beside_its_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    complete = Executor.complete_iterable_value

    def noted(self: Executor, *arguments: Any) -> Any:
        threads.append(threading.current_thread().name.split("-")[0])
        return complete(self, *arguments)

    monkeypatch.setattr(Executor, "complete_iterable_value", noted)
    document = "{ projects { traces(first: %d) { nodes { id } } } }"
    with inside(tmp_path) as (_, url), httpx.Client(base_url=url, timeout=60) as client:
        key = Place(f"sqlite:///{tmp_path / 'inside.db'}").make_key()
        for size in (10, 200):  # of each of 10 projects, as far as counting goes
            answer = client.post(
                "/graphql", json={"query": document % size}, headers={"Authorization": f"Bearer {key}"}
            )
            assert answer.json()["data"]["projects"][0] == {"traces": {"nodes": []}}
    assert threads[: len(threads) // 2] == [threads[0]] * (len(threads) // 2)
    assert threads[0] != "graphql"
    assert set(threads[len(threads) // 2 :]) == {"graphql"}


@pytest.mark.one_engine
def test_an_answer_to_a_change_is_small(world: World) -> None:
    document = """mutation($p: String!, $i: FailureInput!) { recordFailure(project: $p, input: $i) {
      ... on FailureRecorded { failure { trace { variables(first: %d) { nodes { trace { id } } } } } } } }"""
    asked = {"p": world.project, "i": {"question": "q"}}
    answer = world.answer(document % (MOST_CHANGED // 2), asked, "writer")
    (error,) = answer["errors"]
    assert error["extensions"] == {"code": "LIMIT", "limit": MOST_CHANGED}
    assert f"may have {MOST_CHANGED:,} fields" in error["message"]
