"""One project's traces in a SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw
from typing_extensions import override

from schema.control import AuditEntry
from schema.errors import NotFoundError
from schema.models import Attribution, Batch, Variable
from store.contract.answers import Label, ScanResult, Stats, Stored, WriteResult
from store.contract.asked import QueryResult
from store.contract.protocol import GraphStore
from store.contract.records import ProjectRecords
from store.shared.auditing import apart, begun
from store.shared.references import check_ownership, check_values
from store.sqlite import failures as failure_pages
from store.sqlite import find, maintain, select, walk
from store.sqlite import verdict_changes as history
from store.sqlite.connections import Connections
from store.sqlite.context import ReadContext, check_entry, insert_entries, settle_entry
from store.sqlite.query import run_query, tables_of
from store.sqlite.records import SqliteRecords
from store.sqlite.write import write_batch
from store.values.contract import ValueStore, split_values
from store.values.packs import PackCache, PackWriter

T = TypeVar("T")
P = ParamSpec("P")


def _reads(
    work: Callable[Concatenate[ReadContext, P], T],
) -> Callable[Concatenate[SqliteStore, P], Coroutine[Any, Any, T]]:
    """A method of the store from a function that reads in one transaction."""

    async def method(self: SqliteStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._read(work, *args, **kwargs)

    return method


class SqliteStore(GraphStore):
    """One project's traces; the long values are in the file, or in a value store."""

    get = _reads(select.elements)
    resolve = _reads(select.resolve)
    traces = _reads(select.traces)
    page = _reads(select.page)
    pages = _reads(select.pages)
    stored = _reads(select.stored)
    edges = _reads(select.edges)
    usages = _reads(select.usages)
    invalidations = _reads(select.invalidations)
    operations = _reads(select.operations)
    derivations_of = _reads(select.derivations_of)
    users_of = _reads(select.users_of)
    versions_of = _reads(select.versions_of)
    activity = _reads(select.activity)
    idle_traces = _reads(select.idle_traces)
    attributions = _reads(select.attributions)
    verdict_groups = _reads(select.verdict_groups)
    verdict_changes = _reads(history.verdict_changes)
    failures = _reads(failure_pages.page)
    count_failures = _reads(failure_pages.count)
    named = _reads(find.named)
    search = _reads(find.search)
    closure = _reads(walk.closure)
    closures = _reads(walk.closures)
    paths = _reads(walk.paths)
    counts = _reads(maintain.counts)
    timeline = _reads(maintain.timeline)

    def __init__(
        self,
        connections: Connections,
        project_id: str,
        values: ValueStore | None,
        packs: PackCache,
        log: ProjectRecords | None = None,
    ) -> None:
        self._connections = connections
        self._project_id = project_id
        self._values = values
        self._packs = packs
        self._log = log

    @property
    @override
    def project_id(self) -> str:
        return self._project_id

    async def _read(self, work: Callable[Concatenate[ReadContext, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        def run(connection: apsw.Connection) -> T:
            return work(ReadContext(connection, self._project_id), *args, **kwargs)

        return await self._connections.read(run)

    async def _write(
        self,
        work: Callable[Concatenate[ReadContext, P], T],
        entry: AuditEntry | None,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """The result of ``work`` in one transaction, which also writes the entry unless the result is empty."""

        def run(connection: apsw.Connection) -> T:
            result = work(ReadContext(connection, self._project_id), *args, **kwargs)
            insert_entries(connection, [entry] if result else [])
            return result

        return await self._connections.write(run)

    @override
    async def write(
        self,
        batch: Batch,
        values: PackWriter | None = None,
        stored: Stored | None = None,
        entry: AuditEntry | None = None,
    ) -> WriteResult:
        """Write a batch; ``stored`` is ignored, because reading again within the transaction costs little."""
        check_ownership(batch, self._project_id)
        check_entry(entry, self._project_id)
        packs = values.packs() if values else iter(())
        if self._values is not None:
            await self._read(maintain.check_conflicts, batch)
            arrived = values.hashes if values else set()
            check_values(batch, arrived, await self._values.hashes(self._project_id, batch.trace.id))
            await self._values.put(self._project_id, batch.trace.id, packs)
            packs = iter(())
        in_file = self._values is None

        def work(context: ReadContext) -> WriteResult:
            history.keep_replaced(context, batch.attributions)
            return write_batch(context.connection, self._project_id, batch, packs, in_file)

        async with apart(self._log, entry) as own:
            return await self._write(work, own)

    @override
    async def scan(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        max_bytes: int = 1 << 30,
        seconds: float = 30.0,
    ) -> ScanResult:
        bounds = find.ScanBounds.starting_now(limit, max_bytes, seconds)
        if self._values is None:
            return await self._read(find.scan, text, trace_id, bounds)
        return await find.scan_outside(self._read, self._values, self._project_id, text, trace_id, bounds)

    @override
    async def values(self, variables: Sequence[Variable]) -> dict[str, bytes]:
        found, others = split_values(variables)
        for trace_id, hashes in others.items():
            if self._values is None:
                found |= await self._read(find.values_in_file, trace_id, hashes, self._packs)
            else:
                found |= await self._values.get_many(self._project_id, trace_id, hashes)
        return found

    @override
    async def known_values(self, trace_id: str) -> set[str]:
        if self._values is None:
            return await self._read(find.known_values, trace_id)
        return await self._values.hashes(self._project_id, trace_id)

    @override
    async def delete_attributions(
        self, ids: Sequence[str], entry: AuditEntry | None = None, by: str | None = None
    ) -> int:
        check_entry(entry, self._project_id)
        async with apart(self._log, entry) as own:
            return await self._write(maintain.delete_attributions, own, ids, by)

    @override
    async def undo_verdict(self, attribution_id: str, by: str, entry: AuditEntry | None = None) -> Attribution | None:
        check_entry(entry, self._project_id)
        async with apart(self._log, entry) as own:
            return (await self._write(history.undo_verdict, own, attribution_id, by)).verdict

    @override
    async def delete_failure(self, failure_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        check_entry(entry, self._project_id)
        async with apart(self._log, entry) as own:
            return await self._write(maintain.delete_failure, own, failure_id)

    @override
    async def delete_trace(self, trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        check_entry(entry, self._project_id)
        if self._log is None and self._values is None:
            return await self._write(maintain.delete_trace, entry, trace_id)
        if not await self.get(Label.TRACE, [trace_id]):
            raise NotFoundError(trace_id, Label.TRACE.value)
        async with apart(self._log, entry) as own, begun(SqliteRecords(self._connections, self._project_id), own):
            if self._values is not None:
                # Values first: after an interrupted deletion the trace is still listed, and can be deleted again.
                await self._values.delete(self._project_id, trace_id)

            def work(context: ReadContext) -> dict[str, int]:
                deleted = maintain.delete_trace(context, trace_id)
                if own is not None:
                    settle_entry(context.connection, own)
                return deleted

            return await self._write(work, None)

    async def query(self, text: str, parameters: dict[str, Any], seconds: float, limit: int) -> QueryResult:
        """Run a read-only query that a person wrote; see ``run_query``. Only the SQLite engine has this method."""

        def run(connection: apsw.Connection) -> QueryResult:
            return run_query(connection, self._project_id, text, parameters, seconds, limit)

        return await self._connections.inspect(run)

    async def tables(self) -> dict[str, list[str]]:
        """The tables that a query sees, with their columns. Only the SQLite engine has this method."""
        return await self._connections.inspect(lambda connection: tables_of(connection, self._project_id))

    @override
    async def stats(self, trace_id: str | None = None) -> Stats:
        found = await self._read(maintain.stats, trace_id)
        if self._values is None:
            return found
        outside = await self._values.size()
        graph = found.graph_bytes or 0
        return replace(found, value_bytes=outside, total_bytes=graph + outside)
