"""Keys, jobs, audit log and retention in Neo4j.

A text that changes a job, or claims a policy, sets a property first: that takes the node's lock, so that what it then
reads of it stays true until it is committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, TypeVar

import neo4j.time

from schema.control import ApiKey, AuditEntry, Job, JobKind, JobState, RetentionPolicy
from schema.errors import ConflictError, NotFoundError
from store.answers import Page
from store.neo4j.connection import Connection
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
from store.times import to_microseconds

R = TypeVar("R", ApiKey, Job, AuditEntry, RetentionPolicy)

_CANDIDATES = 32


class Neo4jRecords:
    """Implements ``store.records.ProjectRecords``."""

    def __init__(self, connection: Connection, project_id: str) -> None:
        self._connection = connection
        self._project_id = project_id

    @property
    def project_id(self) -> str:
        """The project that every call is bound to."""
        return self._project_id

    async def add_key(self, key: ApiKey) -> None:
        """See ``ProjectRecords.add_key``."""
        await self._add(API_KEYS, "write_api_key", key)

    async def keys(self, first: int = 100, after: str | None = None) -> Page[ApiKey]:
        """See ``ProjectRecords.keys``."""
        return await self._page(API_KEYS, "page_api_key", first, after)

    async def revoke_key(self, key_id: str, at: datetime) -> ApiKey:
        """See ``ProjectRecords.revoke_key``."""
        for row in await self._change("revoke_api_key", id=key_id, at=at.astimezone(UTC)):
            return _record(API_KEYS, row)
        raise NotFoundError(key_id, "key")

    async def add_job(self, job: Job) -> Job:
        """See ``ProjectRecords.add_job``."""
        return await self._add(JOBS, "write_job", job)

    async def jobs(self, ids: Sequence[str]) -> list[Job]:
        """See ``ProjectRecords.jobs``."""
        rows = await self._connection.read_list("get_job", projectId=self._project_id, ids=list(ids))
        found = {job.id: job for job in (_record(JOBS, row) for row in rows)}
        return [found[id_] for id_ in ids if id_ in found]

    async def job_page(
        self, first: int = 100, after: str | None = None, kind: JobKind | None = None, state: JobState | None = None
    ) -> Page[Job]:
        """See ``ProjectRecords.job_page``."""
        return await self._page(JOBS, "page_job", first, after, kind=kind, state=state)

    async def cancel_job(self, job_id: str, at: datetime) -> Job:
        """See ``ProjectRecords.cancel_job``."""
        for row in await self._change("cancel_job", id=job_id, at=at.astimezone(UTC)):
            return _record(JOBS, row)
        raise NotFoundError(job_id, "job")

    async def log(self, entries: Sequence[AuditEntry]) -> None:
        """See ``ProjectRecords.log``."""
        for entry in entries:
            AUDIT_ENTRIES.check_project(entry, self._project_id)
        rows = sorted((_row(AUDIT_ENTRIES, entry) for entry in entries), key=lambda row: str(row["id"]))
        await self._connection.change("write_audit_entry", projectId=self._project_id, rows=rows)

    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        """See ``ProjectRecords.audit``."""
        return await self._page(AUDIT_ENTRIES, "page_audit_entry", first, after)

    async def retention(self) -> RetentionPolicy | None:
        """See ``ProjectRecords.retention``."""
        rows = await self._connection.read_list("get_retention_policy", projectId=self._project_id)
        return _record(RETENTION_POLICIES, rows[0]) if rows else None

    async def set_retention(self, policy: RetentionPolicy) -> None:
        """See ``ProjectRecords.set_retention``."""
        RETENTION_POLICIES.check_project(policy, self._project_id)
        rows = [_row(RETENTION_POLICIES, policy)]
        await self._connection.change("write_retention_policy", projectId=self._project_id, rows=rows)

    async def clear_retention(self) -> bool:
        """See ``ProjectRecords.clear_retention``."""
        return bool(await self._change("delete_retention_policy"))

    async def _add(self, form: Form[R], name: str, record: R) -> R:
        form.check_project(record, self._project_id)
        for row in await self._change(name, rows=[_row(form, record)]):
            stored = _record(form, row)
            form.check_same(stored, record)
            return stored
        raise ConflictError(form.label, record.id, "projectId")

    async def _change(self, name: str, /, **parameters: Any) -> list[Any]:
        ((rows,),) = await self._connection.change(name, projectId=self._project_id, **parameters)
        return list(rows)

    async def _page(self, form: Form[R], name: str, first: int, after: str | None, **filters: Any) -> Page[R]:
        at, last = read_cursor(after)
        rows = await self._connection.read_list(
            name, projectId=self._project_id, at=at, last=last, count=first + 1, **filters
        )
        return form.page([_record(form, row) for row in rows], first)


class Neo4jRegistry:
    """Implements ``store.records.Registry``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def key(self, key_id: str) -> ApiKey | None:
        """See ``Registry.key``."""
        rows = await self._connection.read_list("registry_key", id=key_id)
        return _record(API_KEYS, rows[0]) if rows else None

    async def touch_keys(self, used: Mapping[str, datetime]) -> None:
        """See ``Registry.touch_keys``."""
        rows = [{"id": key_id, "at": moment.astimezone(UTC)} for key_id, moment in sorted(used.items())]
        await self._connection.change("registry_touch_keys", rows=rows)

    async def claim_job(
        self,
        owner: str,
        now: datetime,
        lease_until: datetime,
        projects: Sequence[str] = (),
        left_at: datetime | None = None,
    ) -> Job | None:
        """See ``Registry.claim_job``.

        Each attempt is a transaction of its own: runners then wait for one lock at a time, and can't deadlock.
        """
        moment, lease = now.astimezone(UTC), lease_until.astimezone(UTC)
        left = (left_at or now).astimezone(UTC)
        wanted = {"leftAt": left, "count": _CANDIDATES, "projects": list(projects) or None}
        while ids := await self._connection.read_list("registry_candidates", **wanted):
            for id_ in ids:
                job = await self._change(
                    "registry_claim", id=id_, owner=owner, now=moment, leaseUntil=lease, leftAt=left
                )
                if job is not None:
                    return job
        return None

    async def renew_job(
        self, job_id: str, owner: str, lease_until: datetime, stage: str | None, done: int, total: int | None
    ) -> Job | None:
        """See ``Registry.renew_job``."""
        lease = lease_until.astimezone(UTC)
        return await self._change(
            "registry_renew", id=job_id, owner=owner, leaseUntil=lease, stage=stage, done=done, total=total
        )

    async def end_job(
        self, job_id: str, owner: str, state: JobState, at: datetime, result: str | None, error: str | None
    ) -> bool:
        """See ``Registry.end_job``."""
        check_end(state)
        outcome = {"state": state, "at": at.astimezone(UTC), "result": result, "error": error}
        return await self._change("registry_end", id=job_id, owner=owner, **outcome) is not None

    async def queue(self) -> QueueState:
        """See ``Registry.queue``."""
        rows = await self._connection.read_list("registry_queue", states=list(JobState))
        oldest = {state: created_at for state, _, created_at in rows}.get(JobState.QUEUED)
        counts = all_states({state: count for state, count, _ in rows})
        return QueueState(counts, None if oldest is None else oldest.to_native().astimezone(UTC))

    async def claim_retention(
        self, now: datetime, again_at: datetime, projects: Sequence[str] = ()
    ) -> RetentionPolicy | None:
        """See ``Registry.claim_retention``."""
        times = {"now": now.astimezone(UTC), "againAt": again_at.astimezone(UTC)}
        wanted = {"now": times["now"], "count": _CANDIDATES, "projects": list(projects) or None}
        while ids := await self._connection.read_list("registry_due_retention", **wanted):
            for id_ in ids:
                ((rows,),) = await self._connection.change("registry_claim_retention", id=id_, **times)
                if rows:
                    return _record(RETENTION_POLICIES, rows[0])
        return None

    async def _change(self, name: str, /, **parameters: Any) -> Job | None:
        ((rows,),) = await self._connection.change(name, **parameters)
        return _record(JOBS, rows[0]) if rows else None


def _row(form: Form[R], record: R) -> dict[str, Any]:
    """Properties of a record."""
    values = (getattr(record, item.name) for item in fields(form.model))
    native = (value.astimezone(UTC) if isinstance(value, datetime) else value for value in values)
    return dict(zip(form.names, native, strict=True))


def _record(form: Form[R], properties: Mapping[str, Any]) -> R:
    """The record with these properties."""
    values = (properties.get(name) for name in form.names)
    return form.read(
        to_microseconds(value.to_native()) if isinstance(value, neo4j.time.DateTime) else value for value in values
    )
