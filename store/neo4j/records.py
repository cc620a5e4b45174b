"""Keys, jobs, audit log and retention policies in Neo4j.

A text that changes a job, or claims a policy, sets a property first, which locks the node: no other transaction can
change the properties that the text then reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import neo4j
from typing_extensions import override

from schema.control import ApiKey, AuditEntry, Job, JobKind, JobState, Lease, RetentionPolicy
from schema.errors import ConflictError, NotFoundError
from store.contract.answers import Page
from store.contract.records import ProjectRecords, QueueState, Registry
from store.neo4j.annotations import Neo4jAnnotations
from store.neo4j.connection import Connection, run_text
from store.neo4j.rows import entry_row, record_of, row_of
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

R = TypeVar("R", ApiKey, Job, AuditEntry, RetentionPolicy)

_CANDIDATES = 32


class Neo4jRecords(Neo4jAnnotations, ProjectRecords):
    """The records of one project."""

    def __init__(self, connection: Connection, project_id: str) -> None:
        self._connection = connection
        self._project_id = project_id

    @property
    @override
    def project_id(self) -> str:
        return self._project_id

    @override
    async def add_key(self, key: ApiKey, entry: AuditEntry | None = None) -> None:
        await self._add(API_KEYS, "write_api_key", key, entry)

    @override
    async def keys(self, first: int = 100, after: str | None = None) -> Page[ApiKey]:
        return await self._page(API_KEYS, "page_api_key", first, after)

    @override
    async def revoke_key(self, key_id: str, at: datetime, entry: AuditEntry | None = None) -> ApiKey:
        for row in await self._change("revoke_api_key", entry, id=key_id, at=at.astimezone(UTC)):
            return record_of(API_KEYS, row)
        raise NotFoundError(key_id, "key")

    @override
    async def add_job(self, job: Job, entry: AuditEntry | None = None) -> Job:
        return await self._add(JOBS, "write_job", job, entry)

    @override
    async def jobs(self, ids: Sequence[str]) -> list[Job]:
        rows = await self._connection.read_list("get_job", projectId=self._project_id, ids=list(ids))
        found = {job.id: job for job in (record_of(JOBS, row) for row in rows)}
        return [found[id_] for id_ in ids if id_ in found]

    @override
    async def job_page(
        self, first: int = 100, after: str | None = None, kind: JobKind | None = None, state: JobState | None = None
    ) -> Page[Job]:
        return await self._page(JOBS, "page_job", first, after, kind=kind, state=state)

    @override
    async def cancel_job(self, job_id: str, at: datetime, entry: AuditEntry | None = None) -> Job:
        for row in await self._change("cancel_job", entry, id=job_id, at=at.astimezone(UTC)):
            return record_of(JOBS, row)
        raise NotFoundError(job_id, "job")

    @override
    async def log(self, entries: Sequence[AuditEntry]) -> None:
        rows = sorted((entry_row(entry, self._project_id) for entry in entries), key=lambda row: str(row["id"]))
        await self._connection.change("write_audit_entry", projectId=self._project_id, rows=rows)

    @override
    async def settle(self, entry: AuditEntry) -> None:
        rows = [entry_row(entry, self._project_id)]
        await self._connection.change("settle_audit_entry", projectId=self._project_id, rows=rows)

    @override
    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        return await self._page(AUDIT_ENTRIES, "page_audit_entry", first, after)

    @override
    async def retention(self) -> RetentionPolicy | None:
        rows = await self._connection.read_list("get_retention_policy", projectId=self._project_id)
        return record_of(RETENTION_POLICIES, rows[0]) if rows else None

    @override
    async def set_retention(self, policy: RetentionPolicy, entry: AuditEntry | None = None) -> None:
        RETENTION_POLICIES.check_project(policy, self._project_id)
        await self._change("write_retention_policy", entry, rows=[row_of(RETENTION_POLICIES, policy)])

    @override
    async def clear_retention(self, entry: AuditEntry | None = None) -> bool:
        return bool(await self._change("delete_retention_policy", entry))

    async def _add(self, form: Form[R], name: str, record: R, entry: AuditEntry | None) -> R:
        form.check_project(record, self._project_id)
        for row in await self._change(name, entry, only_new=True, rows=[row_of(form, record)]):
            stored = record_of(form, row)
            form.check_same(stored, record)
            return stored
        raise ConflictError(form.label, record.id, "projectId")

    async def _change(
        self, name: str, /, entry: AuditEntry | None, only_new: bool = False, **parameters: Any
    ) -> list[Any]:
        """The records that a text changed; its transaction also writes the entry, if a record was changed (or made)."""
        entries = [] if entry is None else [entry_row(entry, self._project_id)]

        async def work(transaction: neo4j.AsyncManagedTransaction) -> list[Any]:
            result = await run_text(transaction, name, projectId=self._project_id, **parameters)
            ((rows,),) = await result.values()
            made = (await result.consume()).counters.nodes_created
            if entries and rows and (made or not only_new):
                written = await run_text(transaction, "write_audit_entry", projectId=self._project_id, rows=entries)
                await written.consume()
            return list(rows)

        return await self._connection.write(work)

    async def _page(self, form: Form[R], name: str, first: int, after: str | None, **filters: Any) -> Page[R]:
        at, last = read_cursor(after)
        rows = await self._connection.read_list(
            name, projectId=self._project_id, at=at, last=last, count=first + 1, **filters
        )
        return form.page([record_of(form, row) for row in rows], first)


class Neo4jRegistry(Registry):
    """Look-ups over all projects."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @override
    async def key(self, key_id: str) -> ApiKey | None:
        rows = await self._connection.read_list("registry_key", id=key_id)
        return record_of(API_KEYS, rows[0]) if rows else None

    @override
    async def touch_keys(self, used: Mapping[str, datetime]) -> None:
        rows = [{"id": key_id, "at": moment.astimezone(UTC)} for key_id, moment in sorted(used.items())]
        await self._connection.change("registry_touch_keys", rows=rows)

    @override
    async def leases(self, projects: Sequence[str] = ()) -> list[Lease]:
        rows = await self._connection.read_list("registry_leases", projects=list(projects) or None)
        return [Lease(id_, owner, until.to_native().astimezone(UTC)) for id_, owner, until in rows]

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
        """Take a job. Each attempt is a transaction of its own, in which a runner waits for one lock only."""
        moment, until = now.astimezone(UTC), lease_until.astimezone(UTC)
        leases = [[lease.job_id, lease.owner, lease.until.astimezone(UTC)] for lease in left]
        wanted = {
            "left": leases,
            "count": _CANDIDATES,
            "projects": list(projects) or None,
            "without": list(without),
        }
        while ids := await self._connection.read_list("registry_candidates", **wanted):
            for id_ in ids:
                job = await self._change(
                    "registry_claim", id=id_, owner=owner, now=moment, leaseUntil=until, left=leases
                )
                if job is not None:
                    return job
        return None

    @override
    async def renew_job(
        self, job_id: str, owner: str, lease_until: datetime, stage: str | None, done: int, total: int | None
    ) -> Job | None:
        lease = lease_until.astimezone(UTC)
        return await self._change(
            "registry_renew", id=job_id, owner=owner, leaseUntil=lease, stage=stage, done=done, total=total
        )

    @override
    async def end_job(
        self, job_id: str, owner: str, state: JobState, at: datetime, result: str | None, error: str | None
    ) -> bool:
        check_end(state)
        outcome = {"state": state, "at": at.astimezone(UTC), "result": result, "error": error}
        return await self._change("registry_end", id=job_id, owner=owner, **outcome) is not None

    @override
    async def queue(self) -> QueueState:
        rows = await self._connection.read_list("registry_queue", states=list(JobState))
        oldest = {state: created_at for state, _, created_at in rows}.get(JobState.QUEUED)
        counts = all_states({state: count for state, count, _ in rows})
        return QueueState(counts, None if oldest is None else oldest.to_native().astimezone(UTC))

    @override
    async def claim_retention(
        self, now: datetime, again_at: datetime, projects: Sequence[str] = ()
    ) -> RetentionPolicy | None:
        times = {"now": now.astimezone(UTC), "againAt": again_at.astimezone(UTC)}
        wanted = {"now": times["now"], "count": _CANDIDATES, "projects": list(projects) or None}
        while ids := await self._connection.read_list("registry_due_retention", **wanted):
            for id_ in ids:
                ((rows,),) = await self._connection.change("registry_claim_retention", id=id_, **times)
                if rows:
                    return record_of(RETENTION_POLICIES, rows[0])
        return None

    async def _change(self, name: str, /, **parameters: Any) -> Job | None:
        ((rows,),) = await self._connection.change(name, **parameters)
        return record_of(JOBS, rows[0]) if rows else None
