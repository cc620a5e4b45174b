"""Keys, jobs, audit log and retention policies in a SQLite file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import apsw
from typing_extensions import override

from schema.control import ApiKey, AuditEntry, Job, JobKind, JobState, Lease, RetentionPolicy
from schema.errors import ConflictError, NotFoundError
from schema.times import from_microseconds, to_microseconds
from store.contract.answers import Page
from store.contract.records import ProjectRecords, QueueState, Registry
from store.shared.record_rows import (
    API_KEYS,
    AUDIT_ENTRIES,
    JOBS,
    RETENTION_POLICIES,
    Form,
    all_states,
    check_end,
    read_cursor,
)
from store.sqlite.annotations import SqliteAnnotations
from store.sqlite.connections import Connections
from store.sqlite.context import ReadContext, check_entry, insert_entries, settle_entry
from store.sqlite.queries import Table, sql

R = TypeVar("R", ApiKey, Job, AuditEntry)


class SqliteRecords(SqliteAnnotations, ProjectRecords):
    """The records of one project."""

    def __init__(self, connections: Connections, project_id: str) -> None:
        self._connections = connections
        self._project_id = project_id

    @property
    @override
    def project_id(self) -> str:
        return self._project_id

    @override
    async def add_key(self, key: ApiKey, entry: AuditEntry | None = None) -> None:
        API_KEYS.check_project(key, self._project_id)
        check_entry(entry, self._project_id)
        await self._connections.write(lambda connection: _add(connection, API_KEYS, Table.API_KEY, key, entry))

    @override
    async def keys(self, first: int = 100, after: str | None = None) -> Page[ApiKey]:
        return await self._page(API_KEYS, "records.page", Table.API_KEY, first, after)

    @override
    async def revoke_key(self, key_id: str, at: datetime, entry: AuditEntry | None = None) -> ApiKey:
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> ApiKey:
            context = ReadContext(connection, self._project_id)
            context.rows("api_keys.revoke", id=key_id, at=to_microseconds(at))
            for row in context.rows("records.get", Table.API_KEY, id=key_id):
                insert_entries(connection, [entry])
                return API_KEYS.read(row)
            raise NotFoundError(key_id, "key")

        return await self._connections.write(work)

    @override
    async def add_job(self, job: Job, entry: AuditEntry | None = None) -> Job:
        JOBS.check_project(job, self._project_id)
        check_entry(entry, self._project_id)
        return await self._connections.write(lambda connection: _add(connection, JOBS, Table.JOB, job, entry))

    @override
    async def jobs(self, ids: Sequence[str]) -> list[Job]:

        def work(connection: apsw.Connection) -> list[Job]:
            return [job for id_ in ids for job in _jobs(connection, [(id_, self._project_id)])]

        return await self._connections.read(work)

    @override
    async def job_page(
        self, first: int = 100, after: str | None = None, kind: JobKind | None = None, state: JobState | None = None
    ) -> Page[Job]:
        return await self._page(JOBS, "jobs.page", Table.JOB, first, after, kind=kind, state=state)

    @override
    async def cancel_job(self, job_id: str, at: datetime, entry: AuditEntry | None = None) -> Job:
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> Job:
            ReadContext(connection, self._project_id).rows("jobs.cancel", id=job_id, at=to_microseconds(at))
            for job in _jobs(connection, [(job_id, self._project_id)]):
                insert_entries(connection, [entry])
                return job
            raise NotFoundError(job_id, "job")

        return await self._connections.write(work)

    @override
    async def log(self, entries: Sequence[AuditEntry]) -> None:
        for entry in entries:
            check_entry(entry, self._project_id)
        await self._connections.write(lambda connection: insert_entries(connection, entries))

    @override
    async def settle(self, entry: AuditEntry) -> None:
        check_entry(entry, self._project_id)
        await self._connections.write(lambda connection: settle_entry(connection, entry))

    @override
    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        return await self._page(AUDIT_ENTRIES, "records.page", Table.AUDIT_ENTRY, first, after)

    @override
    async def retention(self) -> RetentionPolicy | None:

        def work(connection: apsw.Connection) -> RetentionPolicy | None:
            rows = ReadContext(connection, self._project_id).rows("retention.get", Table.RETENTION_POLICY)
            return RETENTION_POLICIES.read(rows[0]) if rows else None

        return await self._connections.read(work)

    @override
    async def set_retention(self, policy: RetentionPolicy, entry: AuditEntry | None = None) -> None:
        RETENTION_POLICIES.check_project(policy, self._project_id)
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> None:
            connection.execute(sql("retention.write", Table.RETENTION_POLICY), RETENTION_POLICIES.values(policy))
            insert_entries(connection, [entry])

        await self._connections.write(work)

    @override
    async def clear_retention(self, entry: AuditEntry | None = None) -> bool:
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> bool:
            deleted = bool(ReadContext(connection, self._project_id).rows("retention.delete"))
            insert_entries(connection, [entry] if deleted else [])
            return deleted

        return await self._connections.write(work)

    async def _page(
        self, form: Form[R], name: str, table: Table, first: int, after: str | None, **bindings: Any
    ) -> Page[R]:
        at, last = read_cursor(after)

        def work(connection: apsw.Connection) -> Page[R]:
            context = ReadContext(connection, self._project_id)
            rows = context.rows(name, table, place=to_microseconds(at), last=last, count=first + 1, **bindings)
            return form.page([form.read(row) for row in rows], first)

        return await self._connections.read(work)


class SqliteRegistry(Registry):
    """Look-ups over all projects."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @override
    async def key(self, key_id: str) -> ApiKey | None:

        def work(connection: apsw.Connection) -> ApiKey | None:
            rows: list[Any] = connection.execute(sql("api_keys.find", Table.API_KEY), {"id": key_id}).fetchall()
            return API_KEYS.read(rows[0]) if rows else None

        return await self._connections.read(work)

    @override
    async def touch_keys(self, used: Mapping[str, datetime]) -> None:
        rows = [{"id": key_id, "at": to_microseconds(moment)} for key_id, moment in used.items()]
        await self._connections.write(lambda connection: connection.executemany(sql("api_keys.touch"), rows))

    @override
    async def leases(self, projects: Sequence[str] = ()) -> list[Lease]:
        bindings = {"projects": json.dumps(projects) if projects else None}

        def work(connection: apsw.Connection) -> list[Lease]:
            rows: list[Any] = connection.execute(sql("jobs.leases"), bindings).fetchall()
            return [Lease(id_, owner, moment) for id_, owner, at in rows if (moment := from_microseconds(at))]

        return await self._connections.read(work)

    @override
    async def claim_job(
        self,
        owner: str,
        now: datetime,
        lease_until: datetime,
        projects: Sequence[str] = (),
        left: Sequence[Lease] = (),
        without: Sequence[str] = (),
    ) -> Job | None:
        bindings = {"owner": owner, "now": to_microseconds(now), "lease_until": to_microseconds(lease_until)}
        leases = [[lease.job_id, lease.owner, to_microseconds(lease.until)] for lease in left]
        wanted = {"projects": json.dumps(projects) if projects else None, "left": json.dumps(leases)}
        return await self._change("jobs.claim", bindings | wanted | {"without": json.dumps(list(without))})

    @override
    async def renew_job(
        self, job_id: str, owner: str, lease_until: datetime, stage: str | None, done: int, total: int | None
    ) -> Job | None:
        lease = to_microseconds(lease_until)
        progress = {"stage": stage, "done": done, "total": total}
        return await self._change("jobs.renew", {"id": job_id, "owner": owner, "lease_until": lease, **progress})

    @override
    async def end_job(
        self, job_id: str, owner: str, state: JobState, at: datetime, result: str | None, error: str | None
    ) -> bool:
        check_end(state)
        outcome = {"state": str(state), "at": to_microseconds(at), "result": result, "error": error}
        return await self._change("jobs.end", {"id": job_id, "owner": owner, **outcome}) is not None

    @override
    async def queue(self) -> QueueState:

        def work(connection: apsw.Connection) -> QueueState:
            rows: list[Any] = connection.execute(sql("jobs.queue")).fetchall()
            oldest = {state: created_at for state, _, created_at in rows}.get(JobState.QUEUED)
            return QueueState(all_states({state: count for state, count, _ in rows}), from_microseconds(oldest))

        return await self._connections.read(work)

    @override
    async def claim_retention(
        self, now: datetime, again_at: datetime, projects: Sequence[str] = ()
    ) -> RetentionPolicy | None:
        times = {"now": to_microseconds(now), "again_at": to_microseconds(again_at)}
        bindings = times | {"projects": json.dumps(projects) if projects else None}

        def work(connection: apsw.Connection) -> RetentionPolicy | None:
            rows: list[Any] = connection.execute(sql("retention.claim", Table.RETENTION_POLICY), bindings).fetchall()
            return RETENTION_POLICIES.read(rows[0]) if rows else None

        return await self._connections.write(work)

    async def _change(self, name: str, bindings: dict[str, Any]) -> Job | None:
        """The job that a text changed, if any; the file's lock keeps other runners away until the commit."""

        def work(connection: apsw.Connection) -> Job | None:
            changed: list[Any] = connection.execute(sql(name), bindings).fetchall()
            return next(iter(_jobs(connection, changed)), None)

        return await self._connections.write(work)


def _add(connection: apsw.Connection, form: Form[R], table: Table, record: R, entry: AuditEntry | None) -> R:
    """Add a record unless its id is stored, and return the stored record; only a new record gets an audit entry.

    Raises:
        ConflictError: another record has the id.
    """
    connection.execute(sql("tables.insert_new", table), form.values(record))
    is_new = connection.changes() > 0
    rows = ReadContext(connection, record.project_id).rows("records.get", table, id=record.id)
    if not rows:
        raise ConflictError(form.label, record.id, "projectId")
    stored = form.read(rows[0])
    form.check_same(stored, record)
    insert_entries(connection, [entry] if is_new else [])
    return stored


def _jobs(connection: apsw.Connection, places: Sequence[tuple[str, str]]) -> list[Job]:
    """Jobs by id and project."""
    contexts = ((id_, ReadContext(connection, project)) for id_, project in places)
    return [JOBS.read(row) for id_, context in contexts for row in context.rows("records.get", Table.JOB, id=id_)]
