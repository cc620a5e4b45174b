"""One project's traces in a SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Concatenate, ParamSpec, TypeVar

import apsw
from typing_extensions import override

from schema.annotation import VerdictChange
from schema.control import AuditEntry
from schema.errors import NotFoundError
from schema.models import (
    Attribution,
    Batch,
    Derivation,
    Element,
    Failure,
    Invalidation,
    Operation,
    Trace,
    Usage,
    Variable,
)
from store.contract.answers import (
    ALL_FAILURES,
    NO_BUDGET,
    Activity,
    Budget,
    Closure,
    Direction,
    Edge,
    FailureFilter,
    FailureOrder,
    Label,
    OperationDetail,
    Page,
    Path,
    Period,
    ScanResult,
    SearchHit,
    Stats,
    Stored,
    VerdictGroup,
    WriteResult,
)
from store.contract.idle import IdleTrace
from store.contract.protocol import GraphStore
from store.contract.records import ProjectRecords
from store.shared.auditing import apart, begun
from store.shared.paths import check_limit
from store.shared.references import check_ownership, check_values
from store.shared.timeline import Stretches
from store.sqlite import failures, find, select, walk
from store.sqlite.audit_entries import check_entry, insert_entries, settle_entry
from store.sqlite.connections import Connections
from store.sqlite.context import ReadContext
from store.sqlite.idle import idle_traces
from store.sqlite.maintain import (
    check_conflicts,
    counts,
    delete_attributions,
    delete_failure,
    delete_trace,
    stats,
    timeline,
)
from store.sqlite.records import SqliteRecords
from store.sqlite.scan import scan_outside
from store.sqlite.verdict_changes import keep_replaced, undo_verdict, verdict_changes
from store.sqlite.write import write_batch
from store.values.contract import ValueStore, split_values
from store.values.packs import PackCache, PackWriter

T = TypeVar("T")
P = ParamSpec("P")


class SqliteStore(GraphStore):
    """One project's traces; the long values are in the file, or in a value store."""

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
            await self._read(check_conflicts, batch)
            arrived = values.hashes if values else set()
            check_values(batch, arrived, await self._values.hashes(self._project_id, batch.trace.id))
            await self._values.put(self._project_id, batch.trace.id, packs)
            packs = iter(())
        in_file = self._values is None

        def work(context: ReadContext) -> WriteResult:
            keep_replaced(context, batch.attributions)
            return write_batch(context.connection, self._project_id, batch, packs, in_file)

        async with apart(self._log, entry) as own:
            return await self._write(work, own)

    @override
    async def get(self, label: Label, ids: Sequence[str]) -> list[Element]:
        return await self._read(select.elements, label, ids)

    @override
    async def resolve(self, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
        return await self._read(select.resolve, reference, label, trace_id)

    @override
    async def traces(self, first: int = 100, after: str | None = None) -> Page[Trace]:
        return await self._read(select.trace_page, first, after)

    @override
    async def page(
        self,
        label: Label,
        trace_id: str,
        first: int = 1000,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
        since: int = 0,
    ) -> Page[Element]:
        return await self._read(select.page, label, trace_id, first, after, kinds, statuses, since)

    @override
    async def pages(
        self,
        label: Label,
        trace_ids: Sequence[str],
        first: int = 100,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
        since: int = 0,
    ) -> dict[str, Page[Element]]:
        return await self._read(select.pages, label, trace_ids, first, after, kinds, statuses, since)

    @override
    async def failures(
        self,
        trace_id: str | None = None,
        first: int = 100,
        after: str | None = None,
        wanted: FailureFilter = ALL_FAILURES,
        order: FailureOrder | None = None,
    ) -> Page[Failure]:
        return await self._read(failures.page, trace_id, first, after, wanted, order)

    @override
    async def count_failures(self, trace_id: str | None = None, wanted: FailureFilter = ALL_FAILURES) -> int:
        return await self._read(failures.count, trace_id, wanted)

    @override
    async def activity(self, trace_id: str, width: int) -> list[Activity]:
        return await self._read(select.activity, trace_id, width)

    @override
    async def verdict_groups(self, trace_id: str | None = None) -> list[VerdictGroup]:
        return await self._read(select.verdict_groups, trace_id)

    @override
    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        return await self._read(select.attributions, failure_ids)

    @override
    async def operations(self, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
        return await self._read(select.operations, operation_ids)

    @override
    async def derivations_of(
        self, variable_ids: Sequence[str], direction: Direction = Direction.BACKWARD, first: int = 100
    ) -> dict[str, list[Derivation]]:
        return await self._read(select.derivations_of, variable_ids, direction, first)

    @override
    async def users_of(self, variable_ids: Sequence[str], first: int = 100) -> dict[str, list[Operation]]:
        return await self._read(select.users_of, variable_ids, first)

    @override
    async def edges(self, trace_id: str) -> list[Edge]:
        return await self._read(select.edges, trace_id)

    @override
    async def usages(self, trace_id: str) -> list[Usage]:
        return await self._read(select.usages, trace_id)

    @override
    async def invalidations(self, trace_id: str) -> list[Invalidation]:
        return await self._read(select.invalidations, trace_id)

    @override
    async def named(self, name: str, version: int | None, trace_id: str | None, limit: int) -> list[Variable]:
        return await self._read(find.named, name, version, trace_id, limit)

    @override
    async def search(self, text: str, trace_id: str | None = None, limit: int = 20) -> list[SearchHit]:
        return await self._read(find.search, text, trace_id, limit)

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
        return await scan_outside(self._read, self._values, self._project_id, text, trace_id, bounds)

    @override
    async def closure(
        self,
        ids: Sequence[str],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> Closure:
        return await self._read(walk.closure, ids, direction, budget, kinds)

    @override
    async def closures(
        self,
        roots: Sequence[Sequence[str]],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> list[Closure]:
        return await self._read(walk.closures, roots, direction, budget, kinds)

    @override
    async def paths(self, source: str, target: str, limit: int = 10) -> list[Path]:
        check_limit(limit)
        return await self._read(walk.paths, source, target, limit)

    @override
    async def versions_of(self, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
        return await self._read(select.versions_of, variable_ids)

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
    async def stored(self, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
        return await self._read(select.stored, trace_id, ids)

    @override
    async def known_values(self, trace_id: str) -> set[str]:
        if self._values is None:
            return await self._read(find.known_values, trace_id)
        return await self._values.hashes(self._project_id, trace_id)

    @override
    async def idle_traces(
        self,
        until: datetime,
        before: datetime | None = None,
        keep: int | None = None,
        first: int = 100,
        after: str | None = None,
    ) -> Page[IdleTrace]:
        return await self._read(idle_traces, until, before, keep, first, after)

    @override
    async def delete_attributions(
        self, ids: Sequence[str], entry: AuditEntry | None = None, by: str | None = None
    ) -> int:
        check_entry(entry, self._project_id)
        async with apart(self._log, entry) as own:
            return await self._write(delete_attributions, own, ids, by)

    @override
    async def verdict_changes(self, failure_ids: Sequence[str]) -> list[VerdictChange]:
        return await self._read(verdict_changes, failure_ids)

    @override
    async def undo_verdict(self, attribution_id: str, by: str, entry: AuditEntry | None = None) -> Attribution | None:
        check_entry(entry, self._project_id)
        async with apart(self._log, entry) as own:
            return (await self._write(undo_verdict, own, attribution_id, by)).verdict

    @override
    async def delete_failure(self, failure_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        check_entry(entry, self._project_id)
        async with apart(self._log, entry) as own:
            return await self._write(delete_failure, own, failure_id)

    @override
    async def delete_trace(self, trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        check_entry(entry, self._project_id)
        if self._log is None and self._values is None:
            return await self._write(delete_trace, entry, trace_id)
        if not await self.get(Label.TRACE, [trace_id]):
            raise NotFoundError(trace_id, Label.TRACE.value)
        async with apart(self._log, entry) as own, begun(SqliteRecords(self._connections, self._project_id), own):
            if self._values is not None:
                # Values first: after an interrupted deletion the trace is still listed, and can be deleted again.
                await self._values.delete(self._project_id, trace_id)

            def work(context: ReadContext) -> dict[str, int]:
                deleted = delete_trace(context, trace_id)
                if own is not None:
                    settle_entry(context.connection, own)
                return deleted

            return await self._write(work, None)

    @override
    async def stats(self, trace_id: str | None = None) -> Stats:
        found = await self._read(stats, trace_id)
        if self._values is None:
            return found
        outside = await self._values.size()
        graph = found.graph_bytes or 0
        return replace(found, value_bytes=outside, total_bytes=graph + outside)

    @override
    async def counts(self, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        return await self._read(counts, trace_ids)

    @override
    async def timeline(self, since: datetime, until: datetime, seconds: int) -> list[Period]:
        return await self._read(timeline, Stretches.between(since, until, seconds))
