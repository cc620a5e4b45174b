"""Keys, jobs, audit log and retention in a SQLite file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import apsw

from schema.control import ApiKey, AuditEntry, Job, JobKind, JobState, Lease, RetentionPolicy
from schema.errors import ConflictError, NotFoundError
from schema.texts import sql
from store.answers import Page
from store.record_rows import (
    API_KEYS,
    AUDIT_ENTRIES,
    JOBS,
    RETENTION_POLICIES,
    Form,
    all_states,
    check_end,
    read_cursor,
)
from store.records import QueueState
from store.sqlite.connections import Connections
from store.sqlite.context import ReadContext
from store.sqlite.entries import check_entry, insert_entries, settle_entry
from store.times import from_microseconds, to_microseconds

R = TypeVar("R", ApiKey, Job, AuditEntry)


class SqliteRecords:
    """Implements ``store.records.ProjectRecords``."""

    def __init__(self, connections: Connections, project_id: str) -> None:
        self._connections = connections
        self._project_id = project_id

    @property
    def project_id(self) -> str:
        """The project that every call is bound to."""
        return self._project_id

    async def add_key(self, key: ApiKey, entry: AuditEntry | None = None) -> None:
        """See ``ProjectRecords.add_key``."""
        API_KEYS.check_project(key, self._project_id)
        check_entry(entry, self._project_id)
        await self._connections.write(lambda connection: _add(connection, API_KEYS, "api_key", key, entry))

    async def keys(self, first: int = 100, after: str | None = None) -> Page[ApiKey]:
        """See ``ProjectRecords.keys``."""
        return await self._page(API_KEYS, "page_api_key", first, after)

    async def revoke_key(self, key_id: str, at: datetime, entry: AuditEntry | None = None) -> ApiKey:
        """See ``ProjectRecords.revoke_key``."""
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> ApiKey:
            context = ReadContext(connection, self._project_id)
            context.rows("revoke_api_key", id=key_id, at=to_microseconds(at))
            for row in context.rows("get_api_key", id=key_id):
                insert_entries(connection, [entry])
                return API_KEYS.read(row)
            raise NotFoundError(key_id, "key")

        return await self._connections.write(work)

    async def add_job(self, job: Job, entry: AuditEntry | None = None) -> Job:
        """See ``ProjectRecords.add_job``."""
        JOBS.check_project(job, self._project_id)
        check_entry(entry, self._project_id)
        return await self._connections.write(lambda connection: _add(connection, JOBS, "job", job, entry))

    async def jobs(self, ids: Sequence[str]) -> list[Job]:
        """See ``ProjectRecords.jobs``."""

        def work(connection: apsw.Connection) -> list[Job]:
            return [job for id_ in ids for job in _jobs(connection, [(id_, self._project_id)])]

        return await self._connections.read(work)

    async def job_page(
        self, first: int = 100, after: str | None = None, kind: JobKind | None = None, state: JobState | None = None
    ) -> Page[Job]:
        """See ``ProjectRecords.job_page``."""
        return await self._page(JOBS, "page_job", first, after, kind=kind and str(kind), state=state and str(state))

    async def cancel_job(self, job_id: str, at: datetime, entry: AuditEntry | None = None) -> Job:
        """See ``ProjectRecords.cancel_job``."""
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> Job:
            ReadContext(connection, self._project_id).rows("cancel_job", id=job_id, at=to_microseconds(at))
            for job in _jobs(connection, [(job_id, self._project_id)]):
                insert_entries(connection, [entry])
                return job
            raise NotFoundError(job_id, "job")

        return await self._connections.write(work)

    async def log(self, entries: Sequence[AuditEntry]) -> None:
        """See ``ProjectRecords.log``."""
        for entry in entries:
            check_entry(entry, self._project_id)
        await self._connections.write(lambda connection: insert_entries(connection, entries))

    async def settle(self, entry: AuditEntry) -> None:
        """See ``ProjectRecords.settle``."""
        check_entry(entry, self._project_id)
        await self._connections.write(lambda connection: settle_entry(connection, entry))

    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        """See ``ProjectRecords.audit``."""
        return await self._page(AUDIT_ENTRIES, "page_audit_entry", first, after)

    async def retention(self) -> RetentionPolicy | None:
        """See ``ProjectRecords.retention``."""

        def work(connection: apsw.Connection) -> RetentionPolicy | None:
            rows = ReadContext(connection, self._project_id).rows("get_retention_policy")
            return RETENTION_POLICIES.read(rows[0]) if rows else None

        return await self._connections.read(work)

    async def set_retention(self, policy: RetentionPolicy, entry: AuditEntry | None = None) -> None:
        """See ``ProjectRecords.set_retention``."""
        RETENTION_POLICIES.check_project(policy, self._project_id)
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> None:
            connection.execute(sql("write_retention_policy"), RETENTION_POLICIES.values(policy))
            insert_entries(connection, [entry])

        await self._connections.write(work)

    async def clear_retention(self, entry: AuditEntry | None = None) -> bool:
        """See ``ProjectRecords.clear_retention``."""
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> bool:
            deleted = bool(ReadContext(connection, self._project_id).rows("delete_retention_policy"))
            insert_entries(connection, [entry] if deleted else [])
            return deleted

        return await self._connections.write(work)

    async def _page(self, form: Form[R], name: str, first: int, after: str | None, **bindings: Any) -> Page[R]:
        at, last = read_cursor(after)

        def work(connection: apsw.Connection) -> Page[R]:
            context = ReadContext(connection, self._project_id)
            rows = context.rows(name, place=to_microseconds(at), last=last, count=first + 1, **bindings)
            return form.page([form.read(row) for row in rows], first)

        return await self._connections.read(work)


class SqliteRegistry:
    """Implements ``store.records.Registry``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def key(self, key_id: str) -> ApiKey | None:
        """See ``Registry.key``."""

        def work(connection: apsw.Connection) -> ApiKey | None:
            rows: list[Any] = connection.execute(sql("registry_key"), {"id": key_id}).fetchall()
            return API_KEYS.read(rows[0]) if rows else None

        return await self._connections.read(work)

    async def touch_keys(self, used: Mapping[str, datetime]) -> None:
        """See ``Registry.touch_keys``."""
        rows = [{"id": key_id, "at": to_microseconds(moment)} for key_id, moment in used.items()]
        await self._connections.write(lambda connection: connection.executemany(sql("registry_touch_key"), rows))

    async def leases(self, projects: Sequence[str] = ()) -> list[Lease]:
        """See ``Registry.leases``."""
        bindings = {"projects": json.dumps(projects) if projects else None}

        def work(connection: apsw.Connection) -> list[Lease]:
            rows: list[Any] = connection.execute(sql("registry_leases"), bindings).fetchall()
            return [Lease(id_, owner, moment) for id_, owner, at in rows if (moment := from_microseconds(at))]

        return await self._connections.read(work)

    async def claim_job(
        self,
        owner: str,
        now: datetime,
        lease_until: datetime,
        projects: Sequence[str] = (),
        left: Sequence[Lease] = (),
    ) -> Job | None:
        """See ``Registry.claim_job``."""
        bindings = {"owner": owner, "now": to_microseconds(now), "lease_until": to_microseconds(lease_until)}
        leases = [[lease.job_id, lease.owner, to_microseconds(lease.until)] for lease in left]
        wanted = {"projects": json.dumps(projects) if projects else None, "left": json.dumps(leases)}
        return await self._change("registry_claim", bindings | wanted)

    async def renew_job(
        self, job_id: str, owner: str, lease_until: datetime, stage: str | None, done: int, total: int | None
    ) -> Job | None:
        """See ``Registry.renew_job``."""
        lease = to_microseconds(lease_until)
        progress = {"stage": stage, "done": done, "total": total}
        return await self._change("registry_renew", {"id": job_id, "owner": owner, "lease_until": lease, **progress})

    async def end_job(
        self, job_id: str, owner: str, state: JobState, at: datetime, result: str | None, error: str | None
    ) -> bool:
        """See ``Registry.end_job``."""
        check_end(state)
        outcome = {"state": str(state), "at": to_microseconds(at), "result": result, "error": error}
        return await self._change("registry_end", {"id": job_id, "owner": owner, **outcome}) is not None

    async def queue(self) -> QueueState:
        """See ``Registry.queue``."""

        def work(connection: apsw.Connection) -> QueueState:
            rows: list[Any] = connection.execute(sql("registry_queue")).fetchall()
            oldest = {state: created_at for state, _, created_at in rows}.get(JobState.QUEUED)
            return QueueState(all_states({state: count for state, count, _ in rows}), from_microseconds(oldest))

        return await self._connections.read(work)

    async def claim_retention(
        self, now: datetime, again_at: datetime, projects: Sequence[str] = ()
    ) -> RetentionPolicy | None:
        """See ``Registry.claim_retention``."""
        times = {"now": to_microseconds(now), "again_at": to_microseconds(again_at)}
        bindings = times | {"projects": json.dumps(projects) if projects else None}

        def work(connection: apsw.Connection) -> RetentionPolicy | None:
            rows: list[Any] = connection.execute(sql("registry_claim_retention"), bindings).fetchall()
            return RETENTION_POLICIES.read(rows[0]) if rows else None

        return await self._connections.write(work)

    async def _change(self, name: str, bindings: dict[str, Any]) -> Job | None:
        """The job that a text changed; the file's lock holds other runners off until it is committed."""

        def work(connection: apsw.Connection) -> Job | None:
            changed: list[Any] = connection.execute(sql(name), bindings).fetchall()
            return next(iter(_jobs(connection, changed)), None)

        return await self._connections.write(work)


def _add(connection: apsw.Connection, form: Form[R], table: str, record: R, entry: AuditEntry | None) -> R:
    """The record that is stored now; the entry tells of one that is new.

    Raises:
        ConflictError: another one has its id.
    """
    connection.execute(sql(f"insert_{table}"), form.values(record))
    is_new = connection.changes() > 0
    rows = ReadContext(connection, record.project_id).rows(f"get_{table}", id=record.id)
    if not rows:
        raise ConflictError(form.label, record.id, "projectId")
    stored = form.read(rows[0])
    form.check_same(stored, record)
    insert_entries(connection, [entry] if is_new else [])
    return stored


def _jobs(connection: apsw.Connection, places: Sequence[tuple[str, str]]) -> list[Job]:
    """Jobs by id and project."""
    rows = (row for id_, project in places for row in ReadContext(connection, project).rows("get_job", id=id_))
    return [JOBS.read(row) for row in rows]
