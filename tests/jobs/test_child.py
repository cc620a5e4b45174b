"""The child of a runner, inside this process: how work ends, where a stop reaches it, and what is told of progress."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from api.jobs import child as module
from api.jobs import work
from api.jobs.child import JobExecutor
from api.jobs.messages import Broken, Done, End, Refused, Start, Stop, Stopped, Told
from api.jobs.work.context import Cancelled, Context
from api.processes import memory
from api.settings import Settings
from schema.control import JobKind
from schema.errors import InputError, StoreError

LIMIT = 2 << 30
Work = Callable[[JobKind, str, Context], Awaitable[Any]]


class Parent:
    """The runner: takes what the child says, and sends messages to the child."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.say_to_child: Callable[[bytes], None] = lambda data: None
        self.heard, self.listens = asyncio.Event(), asyncio.Event()

    def listen(self, take: Callable[[bytes], None]) -> None:
        self.say_to_child = take
        self.listens.set()

    def say(self, message: Any) -> None:
        self.told.append(message)
        self.heard.set()

    def send(self, message: Start | Stop) -> None:
        self.say_to_child(msgspec.json.encode(message))

    async def end(self) -> End:
        """How the next job ends."""
        async with asyncio.timeout(60):
            while not self.told or isinstance(self.told[-1], Told):
                self.heard.clear()
                await self.heard.wait()
        end = self.told.pop()
        assert isinstance(end, End)
        return end


class Child:
    """An executor that runs in a task."""

    def __init__(self, folder: Path) -> None:
        self.parent = Parent()
        parts: Any = Settings(store=f"sqlite:///{folder / 'test.db'}", job_memory_bytes=LIMIT), self.parent
        self.executor = JobExecutor(*parts)
        self.task = asyncio.create_task(self.executor.run())

    async def job(self, kind: JobKind = JobKind.REPORT, project: str = "p") -> None:
        """Send a job, once the executor listens."""
        async with asyncio.timeout(60):
            await self.parent.listens.wait()
        self.parent.send(Start("j", project, kind.value, "{}"))

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def _works(monkeypatch: pytest.MonkeyPatch, *some: Work) -> None:
    """Each job does the next of these."""
    left = list(some)

    async def run(kind: JobKind, arguments: str, context: Context) -> Any:
        return await left.pop(0)(kind, arguments, context)

    monkeypatch.setattr(work, "run", run)


def _raises(error: BaseException) -> Work:
    async def run(kind: JobKind, arguments: str, context: Context) -> Any:
        raise error

    return run


async def _is_done(kind: JobKind, arguments: str, context: Context) -> Any:
    return {"project": context.store.project_id, "limits": [context.max_inflated_bytes, context.max_inflated_ratio]}


TOO_MUCH = f"this needs more memory than the limit of {LIMIT:,} bytes of a job's process (job_memory_bytes)"


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (Cancelled(), Stopped()),
        (StoreError("away"), Broken(is_store=True)),
        (InputError("a.json", "", "is empty"), Refused("a.json: is empty")),
        (MemoryError(), Refused(TOO_MUCH, is_spent=True)),
        (ZeroDivisionError(), Broken(is_store=False)),
    ],
)
async def test_how_work_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException, end: End) -> None:
    spared: list[int] = []
    monkeypatch.setattr(memory, "spare", spared.append)
    _works(monkeypatch, _raises(error), _is_done)
    child = Child(tmp_path)
    await child.job()
    assert await child.parent.end() == end
    assert spared == ([LIMIT] if isinstance(error, MemoryError) else [])
    await child.job(project="another")
    done = await child.parent.end()
    assert isinstance(done, Done)
    settings = Settings()
    limits = [settings.max_inflated_bytes, settings.max_inflated_ratio]
    assert msgspec.json.decode(done.result) == {"project": "another", "limits": limits}
    await child.close()


@pytest.mark.parametrize("kind", list(JobKind))
async def test_a_stop_interrupts_all_but_an_import_which_looks_for_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: JobKind
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    seen: list[str] = []

    async def long(kind: JobKind, arguments: str, context: Context) -> Any:
        begun.set()
        try:
            await go_on.wait()
        except asyncio.CancelledError:
            seen.append("interrupted")
            raise
        context.tell("write", 1, 2)
        seen.append("not stopped")

    _works(monkeypatch, long, _is_done)
    child = Child(tmp_path)
    await child.job(kind)
    await begun.wait()
    child.parent.send(Stop())
    for _ in range(10):
        await asyncio.sleep(0)
    go_on.set()
    assert await child.parent.end() == Stopped()
    assert seen == ([] if kind is JobKind.IMPORT else ["interrupted"])
    await child.job(kind)
    assert isinstance(await child.parent.end(), Done), "the request to stop was for the job before"
    await child.close()


async def test_a_stop_that_comes_before_the_work_begins_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def looks(kind: JobKind, arguments: str, context: Context) -> Any:
        context.tell("read", 0, 1)
        return {}

    _works(monkeypatch, looks)
    child = Child(tmp_path)
    await child.job(JobKind.IMPORT)
    child.parent.send(Stop())
    assert await child.parent.end() == Stopped()
    await child.close()


async def test_progress_is_told_ten_times_a_second_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def works(kind: JobKind, arguments: str, context: Context) -> Any:
        for moment, done in ((5.0, 0), (5.05, 1), (5.11, 2), (5.15, 3), (5.16, 4)):
            now[0] = moment
            context.tell("write", done, 4)
        return {}

    _works(monkeypatch, works, works)
    child = Child(tmp_path)
    for _ in range(2):
        now[0] = 0.0
        child.parent.told.clear()
        await child.job()
        assert isinstance(await child.parent.end(), Done)
        # The next job tells its beginning at once, whenever the one before told its end.
        assert child.parent.told == [Told("write", done, 4) for done in (0, 2, 4)]
    await child.close()
