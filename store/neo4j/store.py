"""One project's traces in Neo4j."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from schema.control import AuditEntry
from schema.errors import NotFoundError
from schema.models import Attribution, Batch, Derivation, Element, Failure, Invalidation, Trace, Usage, Variable
from store.answers import (
    NO_BUDGET,
    Budget,
    Closure,
    Direction,
    Label,
    OperationDetail,
    Page,
    Path,
    Period,
    ScanResult,
    SearchHit,
    Stats,
    Stored,
    WriteResult,
)
from store.auditing import apart
from store.idle import IdleTrace
from store.neo4j import find, idle, maintain
from store.neo4j.connection import Connection
from store.neo4j.query import QueryResult, run_query
from store.neo4j.read import Reader
from store.neo4j.walk import Walker
from store.neo4j.write import BatchWriter
from store.packs import PackWriter
from store.paths import check_limit
from store.records import ProjectRecords
from store.timeline import Stretches
from store.values import ValueStore, split_values


class Neo4jStore:
    """Implements ``store.protocol.GraphStore``."""

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
    def project_id(self) -> str:
        """The project that every call is bound to."""
        return self._project_id

    async def write(
        self,
        batch: Batch,
        values: PackWriter | None = None,
        stored: Stored | None = None,
        entry: AuditEntry | None = None,
    ) -> WriteResult:
        """See ``GraphStore.write``."""
        async with apart(self._log, entry) as own:
            return await self._writer.write(batch, values, stored, own)

    async def get(self, label: Label, ids: Sequence[str]) -> list[Element]:
        """See ``GraphStore.get``."""
        return await self._reader.get(label, ids)

    async def resolve(self, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
        """See ``GraphStore.resolve``."""
        return await self._reader.resolve(reference, label, trace_id)

    async def traces(self, first: int = 100, after: str | None = None) -> Page[Trace]:
        """See ``GraphStore.traces``."""
        return await self._reader.traces(first, after)

    async def page(
        self,
        label: Label,
        trace_id: str,
        first: int = 1000,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
    ) -> Page[Element]:
        """See ``GraphStore.page``."""
        return await self._reader.page(label, trace_id, first, after, kinds, statuses)

    async def pages(
        self,
        label: Label,
        trace_ids: Sequence[str],
        first: int = 100,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
    ) -> dict[str, Page[Element]]:
        """See ``GraphStore.pages``."""
        return await self._reader.pages(label, trace_ids, first, after, kinds, statuses)

    async def failures(self, trace_id: str | None = None, first: int = 100, after: str | None = None) -> Page[Failure]:
        """See ``GraphStore.failures``."""
        return await self._reader.failures(trace_id, first, after)

    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        """See ``GraphStore.attributions``."""
        return await self._reader.attributions(failure_ids)

    async def operation(self, operation_id: str) -> OperationDetail:
        """See ``GraphStore.operation``."""
        for detail in (await self.operations([operation_id])).values():
            return detail
        raise NotFoundError(operation_id, Label.OPERATION)

    async def operations(self, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
        """See ``GraphStore.operations``."""
        return await self._reader.operations(operation_ids)

    async def derivations_of(
        self, variable_ids: Sequence[str], direction: Direction = Direction.BACKWARD, first: int = 100
    ) -> dict[str, list[Derivation]]:
        """See ``GraphStore.derivations_of``."""
        return await self._reader.derivations_of(variable_ids, direction, first)

    async def usages(self, trace_id: str) -> list[Usage]:
        """See ``GraphStore.usages``."""
        return await self._reader.usages(trace_id)

    async def invalidations(self, trace_id: str) -> list[Invalidation]:
        """See ``GraphStore.invalidations``."""
        return await self._reader.invalidations(trace_id)

    async def search(self, text: str, trace_id: str | None = None, limit: int = 20) -> list[SearchHit]:
        """See ``GraphStore.search``."""
        return await find.search(self._reader, text, trace_id, limit)

    async def scan(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        max_bytes: int = 1 << 30,
        seconds: float = 30.0,
    ) -> ScanResult:
        """See ``GraphStore.scan``."""
        return await find.scan(self._reader, self._values, text, trace_id, limit, max_bytes, seconds)

    async def closure(
        self,
        ids: Sequence[str],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> Closure:
        """See ``GraphStore.closure``."""
        return await self._walker.closure(ids, direction, budget, kinds)

    async def closures(
        self,
        roots: Sequence[Sequence[str]],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> list[Closure]:
        """See ``GraphStore.closures``."""
        return await self._walker.closures(roots, direction, budget, kinds)

    async def paths(self, source: str, target: str, limit: int = 10) -> list[Path]:
        """See ``GraphStore.paths``."""
        check_limit(limit)
        return await self._walker.paths(source, target, limit)

    async def path(self, source: str, target: str) -> Path:
        """See ``GraphStore.path``."""
        return next(iter(await self.paths(source, target, 1)), Path([], []))

    async def versions(self, variable_id: str) -> list[Variable]:
        """See ``GraphStore.versions``."""
        for found in (await self.versions_of([variable_id])).values():
            return found
        raise NotFoundError(variable_id, Label.VARIABLE)

    async def versions_of(self, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
        """See ``GraphStore.versions_of``."""
        return await self._reader.versions_of(variable_ids)

    async def value(self, variable: Variable) -> bytes:
        """See ``GraphStore.value``."""
        return (await self.values([variable]))[variable.value_hash]

    async def values(self, variables: Sequence[Variable]) -> dict[str, bytes]:
        """See ``GraphStore.values``."""
        found, others = split_values(variables)
        for trace_id, hashes in others.items():
            found |= await self._values.get_many(self._project_id, trace_id, hashes)
        return found

    async def stored(self, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
        """See ``GraphStore.stored``."""
        return await self._reader.stored(trace_id, ids)

    async def known_values(self, trace_id: str) -> set[str]:
        """See ``GraphStore.known_values``."""
        return await self._values.hashes(self._project_id, trace_id)

    async def idle_traces(
        self,
        until: datetime,
        before: datetime | None = None,
        keep: int | None = None,
        first: int = 100,
        after: str | None = None,
    ) -> Page[IdleTrace]:
        """See ``GraphStore.idle_traces``."""
        return await idle.idle_traces(self._reader, until, before, keep, first, after)

    async def delete_attributions(self, ids: Sequence[str], entry: AuditEntry | None = None) -> int:
        """See ``GraphStore.delete_attributions``."""
        async with apart(self._log, entry) as own:
            return await maintain.delete_attributions(self._connection, self._reader, ids, own)

    async def delete_trace(self, trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        """See ``GraphStore.delete_trace``."""
        counts = await maintain.counts_of(self._reader, trace_id)
        async with apart(self._log, entry) as own:
            await maintain.delete_trace(self._connection, self._reader, self._values, trace_id, own)
        return counts

    async def stats(self, trace_id: str | None = None) -> Stats:
        """See ``GraphStore.stats``."""
        return await maintain.count(self._reader, self._values, trace_id)

    async def counts(self, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """See ``GraphStore.counts``."""
        return await self._reader.counts(trace_ids)

    async def timeline(self, since: datetime, until: datetime, seconds: int) -> list[Period]:
        """See ``GraphStore.timeline``."""
        return await self._reader.timeline(Stretches.between(since, until, seconds))

    async def query(self, text: str, parameters: dict[str, Any], seconds: float, limit: int) -> QueryResult:
        """Run a query that a person wrote, and that only reads; see ``run_query``. Other engines have no such thing."""
        return await run_query(self._connection, self._project_id, text, parameters, seconds, limit)
