"""A runner starts one process for its jobs, and replaces a process that has ended, broken or used up its memory."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from api.jobs import process as module
from api.jobs.messages import Broken, Done, Refused, Start, Stop, Stopped, Told
from api.jobs.process import JobProcess
from schema.control import Job, JobKind, JobState

JOB = Job("j", "p", JobKind.REPORT, JobState.RUNNING, "{}", datetime(2026, 1, 1, tzinfo=UTC), "key:1")


class _Processes:
    """Processes that say these messages; an error in their place is raised."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *messages: Any) -> None:
        self.left = list(messages)
        self.started: list[Any] = []
        self.said: list[Any] = []
        self.killed: list[Any] = []
        monkeypatch.setattr(module, "start_with_settings", self._start)
        monkeypatch.setattr(module, "heard", self._heard)
        monkeypatch.setattr(module, "say", lambda process, message: self.said.append((process, message)))
        monkeypatch.setattr(module, "kill", self._kill)

    async def _start(self, name: str, settings: Any) -> Any:
        assert (name, settings) == ("api.jobs.child", "settings")
        self.started.append(SimpleNamespace(returncode=None, number=len(self.started)))
        return self.started[-1]

    async def _heard(self, process: Any) -> bytes:
        message = self.left.pop(0)
        if isinstance(message, BaseException):
            raise message
        return msgspec.json.encode(message)

    async def _kill(self, process: Any) -> None:
        self.killed.append(process)


def _job_process() -> JobProcess:
    return JobProcess("settings")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("end", "is_killed"),
    [
        (Done("{}"), False),
        (Stopped(), False),
        (Refused("no", False), False),
        (Refused("too much memory", True), True),
        (Broken(False), True),
        (Broken(True), True),
    ],
)
async def test_a_process_does_one_job_after_another(monkeypatch: pytest.MonkeyPatch, end: Any, is_killed: bool) -> None:
    told: list[Told] = []
    progress = Told("write", 3, 7)
    processes = _Processes(monkeypatch, progress, end, Stopped())
    mine = _job_process()
    assert await mine.run(JOB, told.append) == end
    assert told == [progress]
    assert processes.said == [(processes.started[0], Start("j", "p", "report", "{}"))]
    assert processes.killed == (processes.started[:1] if is_killed else [])
    await mine.run(JOB, told.append)
    assert len(processes.started) == (2 if is_killed else 1)


async def test_a_process_that_has_ended_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = _Processes(monkeypatch, Stopped(), Stopped())
    mine = _job_process()
    await mine.run(JOB, print)
    processes.started[0].returncode = -9
    await mine.run(JOB, print)
    assert len(processes.started) == 2
    assert processes.killed == processes.started[:1]
    assert processes.said[-1][0] is processes.started[1]


@pytest.mark.parametrize("error", [BrokenPipeError(), ConnectionResetError(), asyncio.IncompleteReadError(b"", 4)])
async def test_a_process_that_dies_has_broken_its_job(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    processes = _Processes(monkeypatch, error)
    assert await _job_process().run(JOB, print) == Broken(is_store=False)
    assert processes.killed == processes.started


async def test_a_job_that_is_given_up_ends_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = _Processes(monkeypatch, KeyboardInterrupt())
    mine = _job_process()
    with pytest.raises(KeyboardInterrupt):
        await mine.run(JOB, print)
    assert processes.killed == processes.started
    await mine.kill()
    assert len(processes.killed) == 1


async def test_a_job_is_asked_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = _Processes(monkeypatch, Stopped())
    mine = _job_process()
    mine.stop()  # nothing runs
    assert processes.said == []
    await mine.run(JOB, print)
    mine.stop()
    assert processes.said[-1] == (processes.started[0], Stop())
