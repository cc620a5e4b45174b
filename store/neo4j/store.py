"""One project's traces in Neo4j."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from typing_extensions import override

from schema.annotation import VerdictChange
from schema.control import AuditEntry
from schema.models import Attribution, Batch, Failure, Variable
from store.contract.answers import (
    ALL_FAILURES,
    ALWAYS,
    FailureFilter,
    FailureOrder,
    Page,
    ScanResult,
    SearchHit,
    Span,
    Stats,
    Stored,
    WriteResult,
)
from store.contract.asked import QueryResult
from store.contract.protocol import GraphStore
from store.contract.records import ProjectRecords
from store.neo4j import find, maintain
from store.neo4j.connection import Connection
from store.neo4j.failures import count_failures, failures
from store.neo4j.query import run_query
from store.neo4j.verdict_changes import undo_verdict, verdict_changes
from store.neo4j.walk import Walker
from store.neo4j.write import BatchWriter
from store.shared.auditing import apart
from store.values.contract import ValueStore, split_values
from store.values.packs import PackWriter


class Neo4jStore(Walker, GraphStore):
    """One project's traces. ``Reader`` and ``Walker`` have the methods that only read elements."""

    def __init__(
        self, connection: Connection, project_id: str, values: ValueStore, log: ProjectRecords | None = None
    ) -> None:
        super().__init__(connection, project_id)
        self._values = values
        self._log = log
        self._writer = BatchWriter(connection, self, project_id, values)

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
    async def failures(
        self,
        trace_id: str | None = None,
        first: int = 100,
        after: str | None = None,
        wanted: FailureFilter = ALL_FAILURES,
        order: FailureOrder | None = None,
    ) -> Page[Failure]:
        return await failures(self, trace_id, first, after, wanted, order)

    @override
    async def count_failures(self, trace_id: str | None = None, wanted: FailureFilter = ALL_FAILURES) -> int:
        return await count_failures(self, trace_id, wanted)

    @override
    async def named(self, name: str, version: int | None, trace_id: str | None, limit: int) -> list[Variable]:
        return await find.named(self, name, version, trace_id, limit)

    @override
    async def search(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        kinds: Collection[str] = (),
        when: Span = ALWAYS,
    ) -> list[SearchHit]:
        return await find.search(self, text, trace_id, limit, kinds, when)

    @override
    async def scan(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        max_bytes: int = 1 << 30,
        seconds: float = 30.0,
    ) -> ScanResult:
        return await find.scan(self, self._values, text, trace_id, limit, max_bytes, seconds)

    @override
    async def values(self, variables: Sequence[Variable]) -> dict[str, bytes]:
        found, others = split_values(variables)
        for trace_id, hashes in others.items():
            found |= await self._values.get_many(self._project_id, trace_id, hashes)
        return found

    @override
    async def known_values(self, trace_id: str) -> set[str]:
        return await self._values.hashes(self._project_id, trace_id)

    @override
    async def delete_attributions(
        self, ids: Sequence[str], entry: AuditEntry | None = None, by: str | None = None
    ) -> int:
        async with apart(self._log, entry) as own:
            return await maintain.delete_attributions(self._connection, self, ids, own, by)

    @override
    async def verdict_changes(self, failure_ids: Sequence[str]) -> list[VerdictChange]:
        return await verdict_changes(self, failure_ids)

    @override
    async def undo_verdict(self, attribution_id: str, by: str, entry: AuditEntry | None = None) -> Attribution | None:
        async with apart(self._log, entry) as own:
            return await undo_verdict(self._connection, self._project_id, attribution_id, by, own)

    @override
    async def delete_failure(self, failure_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        async with apart(self._log, entry) as own:
            return await maintain.delete_failure(self._connection, self, failure_id, own)

    @override
    async def delete_trace(self, trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        counts = await maintain.counts_of(self, trace_id)
        async with apart(self._log, entry) as own:
            await maintain.delete_trace(self._connection, self, self._values, trace_id, own)
        return counts

    @override
    async def stats(self, trace_id: str | None = None) -> Stats:
        return await maintain.count(self, self._values, trace_id)

    async def query(self, text: str, parameters: dict[str, Any], seconds: float, limit: int) -> QueryResult:
        """Run a read-only query that a person wrote; see ``run_query``. Only the Neo4j engine has this method."""
        return await run_query(self._connection, self._project_id, text, parameters, seconds, limit)
