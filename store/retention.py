"""Retention: traces of a project to which nothing has been written for long are deleted.

What counts is when something was last written to a trace, by the store's own clock: a trace that is still being
recorded is never old, however long ago it began, and an imported one is not old because it happened long ago. Traces
are deleted one by one, the oldest first; if a run is killed, the next one goes on where it stopped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from secrets import token_hex
from typing import Any

import structlog

from schema.control import BEGUN, AuditEntry, RetentionPolicy
from schema.errors import MemTraceError, NotFoundError
from schema.models import Trace
from store.contract.answers import Page
from store.contract.idle import IdleTrace
from store.contract.protocol import Database, GraphStore
from store.contract.records import ProjectRecords

QUIET = timedelta(hours=1)
"""A trace that was written to within this time is kept, even if there are more traces than the policy keeps."""

EVERY = timedelta(hours=1)
"""How often each project is looked at; a changed policy is not applied before this time has passed."""

ACTOR = "retention"
PAGE = 500
"""How many traces are listed at a time."""

_LOOK_SECONDS = 60.0

_log = structlog.get_logger("memtrace.retention")


class Reason(StrEnum):
    """Which bound of the policy a trace is beyond; if it is both, the days."""

    DAYS = "days"
    TRACES = "traces"


@dataclass(frozen=True, slots=True)
class Expired:
    """A trace that is to be deleted.

    Attributes:
        written_at: when something was last written to it.
        counts: how many elements it has, by label.
    """

    trace: Trace
    written_at: datetime
    reason: Reason
    counts: dict[str, int]


@dataclass(slots=True)
class Run:
    """What a run has deleted.

    Attributes:
        id: joins its entries in the audit log.
        is_stopped: whether there was more to do.
    """

    id: str = field(default_factory=lambda: token_hex(16))
    traces: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    is_stopped: bool = False


Tell = Callable[[Expired], None]


def policy(project_id: str, days: int | None, traces: int | None, actor: str) -> RetentionPolicy:
    """A policy from now on; workers apply it an hour later at the earliest, so that a mistake can be undone.

    Raises:
        InputError: no bound is given, or one is out of range.
    """
    now = datetime.now(UTC)
    return RetentionPolicy(project_id, days, traces, now, actor, now + EVERY)


async def plan(store: GraphStore, wanted: RetentionPolicy, now: datetime | None = None) -> AsyncIterator[Expired]:
    """The traces that a run would delete now, the longest idle first; nothing is changed."""
    moment = now or datetime.now(UTC)
    cursor = None
    while True:
        page = await _idle(store, wanted, moment, first=PAGE, after=cursor)
        counts = await store.counts([idle.trace.id for idle in page.items])
        for idle in page.items:
            yield _expired(idle, wanted, moment, counts.get(idle.trace.id, {}))
        cursor = page.next
        if cursor is None:
            return


async def apply(
    store: GraphStore,
    records: ProjectRecords,
    stopping: asyncio.Event | None = None,
    tell: Tell | None = None,
    actor: str = ACTOR,
    now: datetime | None = None,
) -> Run:
    """Delete the traces of a project that its policy does not keep.

    Before each deletion the policy and the trace's last write are read again: if the policy was cleared, the run ends,
    and a trace that was written to again is kept. Each deletion is in the audit log, and so is a run that deletes
    anything: its entry is written before the first deletion.

    Args:
        store: the project's traces.
        records: the project's policy and audit log.
        stopping: when it is set, the run ends after the trace in hand.
        tell: is called with each trace that was deleted.
        actor: whom the audit log names.
        now: the time at which ages are measured; by default the current time, for each trace anew.

    Raises:
        MemTraceError: a trace could not be deleted; those before it are deleted.
    """
    run = Run()
    summary: AuditEntry | None = None
    outcome = "stopped"
    try:
        async with aclosing(_one_by_one(store, records, now)) as listed:
            async for expired in listed:
                if stopping is not None and stopping.is_set():
                    run.is_stopped = True
                    break
                if summary is None:
                    summary = _entry(records, run, actor, "applyRetention", None, BEGUN)
                    await records.log([summary])
                with suppress(NotFoundError):  # somebody else has deleted it
                    entry = _entry(records, run, actor, "deleteTrace", expired.trace.id, "ok")
                    counts = await store.delete_trace(expired.trace.id, entry)
                    run.traces += 1
                    run.counts.update(counts)
                    if tell:
                        tell(replace(expired, counts=counts))
            else:
                outcome = "ok"
    except MemTraceError as error:
        outcome = type(error).__name__
        raise
    finally:
        if summary is not None:
            await records.settle(replace(summary, outcome=outcome))
    return run


async def keep(
    database: Database, stopping: asyncio.Event, projects: Sequence[str] = (), look_seconds: float = _LOOK_SECONDS
) -> None:
    """Apply the policies of all projects, or of those that are named, each once an hour, until told to stop.

    If there are several workers, one of them takes a project. An error is logged, and the project is tried again in an
    hour.
    """
    registry = database.registry()
    while not stopping.is_set():
        try:
            now = datetime.now(UTC)
            due = await registry.claim_retention(now, now + EVERY, projects)
            if due is not None:
                await _apply_due(database, due, stopping)
                continue
        except MemTraceError as error:
            _log.warning("retention could not be applied", reason=str(error))
        except Exception:
            _log.exception("retention met an unexpected error")
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), look_seconds)


@asynccontextmanager
async def keeping(database: Database, projects: Sequence[str] = ()) -> AsyncIterator[None]:
    """Apply policies (see ``keep``) beside what is done in the block; at its end, a trace in hand is finished."""
    stopping = asyncio.Event()
    task = asyncio.create_task(keep(database, stopping, projects))
    try:
        yield
    finally:
        stopping.set()
        await task


async def _apply_due(database: Database, due: RetentionPolicy, stopping: asyncio.Event) -> None:
    log = _log.bind(project=due.project_id)
    try:
        run = await apply(database.project(due.project_id), database.records(due.project_id), stopping)
    except MemTraceError as error:
        log.warning("retention could not be applied", reason=str(error))
        return
    if run.traces:
        log.info("old traces deleted", traces=run.traces, counts=dict(run.counts), run=run.id, stopped=run.is_stopped)


async def _one_by_one(
    store: GraphStore, records: ProjectRecords, now: datetime | None
) -> AsyncGenerator[Expired, None]:
    """The traces to delete, each checked just before it is given; by the next one the caller has deleted it."""
    while (wanted := await records.retention()) is not None:
        moment = now or datetime.now(UTC)
        page = await _idle(store, wanted, moment, first=PAGE)
        for idle in page.items:
            if await records.retention() != wanted or not await _is_oldest(store, idle):
                break
            yield _expired(idle, wanted, moment, {})
        # If there is a next page and this one is empty, somebody else has just deleted its traces.
        if not page.items and page.next is None:
            return


async def _is_oldest(store: GraphStore, idle: IdleTrace) -> bool:
    """Whether a trace is there, was not written to since it was listed, and is the next to go."""
    after = idle.written_at + timedelta(microseconds=1)
    return (await store.idle_traces(after, after, first=1)).items == [idle]


async def _idle(store: GraphStore, wanted: RetentionPolicy, now: datetime, **page: Any) -> Page[IdleTrace]:
    return await store.idle_traces(now - QUIET, _oldest(wanted, now), wanted.traces, **page)


def _oldest(wanted: RetentionPolicy, now: datetime) -> datetime | None:
    return None if wanted.days is None else now - timedelta(days=wanted.days)


def _expired(idle: IdleTrace, wanted: RetentionPolicy, now: datetime, counts: dict[str, int]) -> Expired:
    oldest = _oldest(wanted, now)
    reason = Reason.DAYS if oldest is not None and idle.written_at < oldest else Reason.TRACES
    return Expired(idle.trace, idle.written_at, reason, counts)


def _entry(records: ProjectRecords, run: Run, actor: str, action: str, target: str | None, outcome: str) -> AuditEntry:
    return AuditEntry(
        token_hex(16), records.project_id, datetime.now(UTC), actor, action, target, outcome, request_id=run.id
    )
