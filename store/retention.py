"""Retention: deletes traces that nobody has written to for long.

The age of a trace counts from the last write, by the store's clock. So a trace that is still being recorded is never
old, and a trace with old times that was imported today is new. Traces are deleted one by one, the longest idle first;
if a run is killed, the next run continues.
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
"""A trace written to within this time is kept, even if the project has more traces than the policy keeps."""

EVERY = timedelta(hours=1)
"""How often the policy of each project is applied; a changed policy is first applied after this time."""

ACTOR = "retention"
PAGE = 500
"""How many traces are listed at a time."""

_LOOK_SECONDS = 60.0

_log = structlog.get_logger("memtrace.retention")


class Reason(StrEnum):
    """The bound of the policy that a trace exceeds; DAYS if the trace exceeds both."""

    DAYS = "days"
    TRACES = "traces"


@dataclass(frozen=True, slots=True)
class Expired:
    """A trace to be deleted.

    Attributes:
        written_at: the time of the last write to the trace.
        counts: number of the trace's nodes, by node label.
    """

    trace: Trace
    written_at: datetime
    reason: Reason
    counts: dict[str, int]


@dataclass(slots=True)
class Run:
    """The result of one run.

    Attributes:
        id: the request id of the run's entries in the audit log.
        traces: number of deleted traces.
        counts: number of deleted elements by label.
        is_stopped: whether the run ended before all traces were deleted.
    """

    id: str = field(default_factory=lambda: token_hex(16))
    traces: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    is_stopped: bool = False


Tell = Callable[[Expired], None]


def policy(project_id: str, days: int | None, traces: int | None, actor: str) -> RetentionPolicy:
    """A new policy. Workers first apply the policy an hour later, so that a mistake can be undone.

    Raises:
        InputError: no bound is given, or a bound is out of range.
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

    Before each deletion the policy and the trace's last write are read again: a cleared policy ends the run, and a
    trace that was written to again is kept. The audit log gets an entry for each deletion, and one for the run, written
    before the first deletion.

    Args:
        store: the project's traces.
        records: the project's policy and audit log.
        stopping: when it is set, the run ends after the trace in hand.
        tell: called with each deleted trace.
        actor: the actor in the audit log.
        now: the time for measuring ages; by default the current time at each deletion.

    Raises:
        MemTraceError: a trace could not be deleted; the traces before are deleted.
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
    """Apply the policies of all projects, or of ``projects``, each once an hour, until ``stopping`` is set.

    Workers share the projects. An error is logged, and the project is tried again an hour later.
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
    """Apply policies (see ``keep``) while the block runs; at the end, wait until the current deletion is finished."""
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
    """The traces to delete, each checked again just before; the caller deletes each trace before the next is read."""
    while (wanted := await records.retention()) is not None:
        moment = now or datetime.now(UTC)
        page = await _idle(store, wanted, moment, first=PAGE)
        for idle in page.items:
            if await records.retention() != wanted or not await _is_oldest(store, idle):
                break
            yield _expired(idle, wanted, moment, {})
        # An empty page with a next page means that another worker has just deleted the traces of the page.
        if not page.items and page.next is None:
            return


async def _is_oldest(store: GraphStore, idle: IdleTrace) -> bool:
    """Whether a trace still exists, unwritten since it was listed, and is the longest idle."""
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
