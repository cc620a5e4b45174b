"""One project's traces in Neo4j."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from typing_extensions import override

from schema.annotation import VerdictChange
from schema.control import AuditEntry
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
from store.neo4j import find, idle, maintain
from store.neo4j.connection import Connection
from store.neo4j.failures import count_failures, failures
from store.neo4j.query import QueryResult, run_query
from store.neo4j.read import Reader
from store.neo4j.verdict_changes import undo_verdict, verdict_changes
from store.neo4j.walk import Walker
from store.neo4j.write import BatchWriter
from store.shared.auditing import apart
from store.shared.paths import check_limit
from store.shared.timeline import Stretches
from store.values.contract import ValueStore, split_values
from store.values.packs import PackWriter


class Neo4jStore(GraphStore):
    """One project's traces."""

    def __init__(
        self, connection: Connection, project_id: str, values: ValueStore, log: ProjectRecords | None = None
    ) -> None:
        self._connection = connection
        self._project_id = project_id
        self._values = values
        self._log = log
        self._reader = Reader(connection, project_id)
        self._walker = Walker(self._reader)
        self._writer = BatchWriter(connection, self._reader, project_id, values)

    @property
    @override
    def project_id(self) -> str:
        return self._project_id

    @override
    async def write(
        self,
        batch: Batch,
        values: PackWriter | None = None,
        stored: Stored | None = None,
        entry: AuditEntry | None = None,
    ) -> WriteResult:
        async with apart(self._log, entry) as own:
            return await self._writer.write(batch, values, stored, own)

    @override
    async def get(self, label: Label, ids: Sequence[str]) -> list[Element]:
        return await self._reader.get(label, ids)

    @override
    async def resolve(self, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
        return await self._reader.resolve(reference, label, trace_id)

    @override
    async def traces(self, first: int = 100, after: str | None = None) -> Page[Trace]:
        return await self._reader.traces(first, after)

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
        return await self._reader.page(label, trace_id, first, after, kinds, statuses, since)

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
        return await self._reader.pages(label, trace_ids, first, after, kinds, statuses, since)

    @override
    async def failures(
        self,
        trace_id: str | None = None,
        first: int = 100,
        after: str | None = None,
        wanted: FailureFilter = ALL_FAILURES,
        order: FailureOrder | None = None,
    ) -> Page[Failure]:
        return await failures(self._reader, trace_id, first, after, wanted, order)

    @override
    async def count_failures(self, trace_id: str | None = None, wanted: FailureFilter = ALL_FAILURES) -> int:
        return await count_failures(self._reader, trace_id, wanted)

    @override
    async def activity(self, trace_id: str, width: int) -> list[Activity]:
        return await self._reader.activity(trace_id, width)

    @override
    async def verdict_groups(self, trace_id: str | None = None) -> list[VerdictGroup]:
        return await self._reader.verdict_groups(trace_id)

    @override
    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        return await self._reader.attributions(failure_ids)

    @override
    async def operations(self, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
        return await self._reader.operations(operation_ids)

    @override
    async def derivations_of(
        self, variable_ids: Sequence[str], direction: Direction = Direction.BACKWARD, first: int = 100
    ) -> dict[str, list[Derivation]]:
        return await self._reader.derivations_of(variable_ids, direction, first)

    @override
    async def users_of(self, variable_ids: Sequence[str], first: int = 100) -> dict[str, list[Operation]]:
        return await self._reader.users_of(variable_ids, first)

    @override
    async def edges(self, trace_id: str) -> list[Edge]:
        return await self._reader.edges(trace_id)

    @override
    async def usages(self, trace_id: str) -> list[Usage]:
        return await self._reader.usages(trace_id)

    @override
    async def invalidations(self, trace_id: str) -> list[Invalidation]:
        return await self._reader.invalidations(trace_id)

    @override
    async def named(self, name: str, version: int | None, trace_id: str | None, limit: int) -> list[Variable]:
        return await find.named(self._reader, name, version, trace_id, limit)

    @override
    async def search(self, text: str, trace_id: str | None = None, limit: int = 20) -> list[SearchHit]:
        return await find.search(self._reader, text, trace_id, limit)

    @override
    async def scan(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        max_bytes: int = 1 << 30,
        seconds: float = 30.0,
    ) -> ScanResult:
        return await find.scan(self._reader, self._values, text, trace_id, limit, max_bytes, seconds)

    @override
    async def closure(
        self,
        ids: Sequence[str],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> Closure:
        return await self._walker.closure(ids, direction, budget, kinds)

    @override
    async def closures(
        self,
        roots: Sequence[Sequence[str]],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> list[Closure]:
        return await self._walker.closures(roots, direction, budget, kinds)

    @override
    async def paths(self, source: str, target: str, limit: int = 10) -> list[Path]:
        check_limit(limit)
        return await self._walker.paths(source, target, limit)

    @override
    async def versions_of(self, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
        return await self._reader.versions_of(variable_ids)

    @override
    async def values(self, variables: Sequence[Variable]) -> dict[str, bytes]:
        found, others = split_values(variables)
        for trace_id, hashes in others.items():
            found |= await self._values.get_many(self._project_id, trace_id, hashes)
        return found

    @override
    async def stored(self, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
        return await self._reader.stored(trace_id, ids)

    @override
    async def known_values(self, trace_id: str) -> set[str]:
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
        return await idle.idle_traces(self._reader, until, before, keep, first, after)

    @override
    async def delete_attributions(
        self, ids: Sequence[str], entry: AuditEntry | None = None, by: str | None = None
    ) -> int:
        async with apart(self._log, entry) as own:
            return await maintain.delete_attributions(self._connection, self._reader, ids, own, by)

    @override
    async def verdict_changes(self, failure_ids: Sequence[str]) -> list[VerdictChange]:
        return await verdict_changes(self._reader, failure_ids)

    @override
    async def undo_verdict(self, attribution_id: str, by: str, entry: AuditEntry | None = None) -> Attribution | None:
        async with apart(self._log, entry) as own:
            return await undo_verdict(self._connection, self._project_id, attribution_id, by, own)

    @override
    async def delete_failure(self, failure_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        async with apart(self._log, entry) as own:
            return await maintain.delete_failure(self._connection, self._reader, failure_id, own)

    @override
    async def delete_trace(self, trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        counts = await maintain.counts_of(self._reader, trace_id)
        async with apart(self._log, entry) as own:
            await maintain.delete_trace(self._connection, self._reader, self._values, trace_id, own)
        return counts

    @override
    async def stats(self, trace_id: str | None = None) -> Stats:
        return await maintain.count(self._reader, self._values, trace_id)

    @override
    async def counts(self, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        return await self._reader.counts(trace_ids)

    @override
    async def timeline(self, since: datetime, until: datetime, seconds: int) -> list[Period]:
        return await self._reader.timeline(Stretches.between(since, until, seconds))

    async def query(self, text: str, parameters: dict[str, Any], seconds: float, limit: int) -> QueryResult:
        """Run a read-only query that a person wrote; see ``run_query``. Only the Neo4j engine has this method."""
        return await run_query(self._connection, self._project_id, text, parameters, seconds, limit)
