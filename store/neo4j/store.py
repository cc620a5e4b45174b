"""One project's traces in Neo4j."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from schema.models import Attribution, Batch, Element, Failure, Invalidation, Trace, Usage, Variable
from store.neo4j import find, maintain
from store.neo4j.connection import Connection
from store.neo4j.read import Reader
from store.neo4j.walk import Walker
from store.neo4j.write import BatchWriter
from store.packs import PackWriter
from store.protocol import (
    NO_BUDGET,
    Budget,
    Closure,
    Direction,
    Label,
    OperationDetail,
    Page,
    Path,
    ScanResult,
    SearchHit,
    Stats,
    WriteResult,
)
from store.values import ValueStore, split_values


class Neo4jStore:
    """Implements ``store.protocol.GraphStore``."""

    def __init__(self, connection: Connection, project_id: str, values: ValueStore) -> None:
        self._connection = connection
        self._project_id = project_id
        self._values = values
        self._reader = Reader(connection, project_id)
        self._walker = Walker(self._reader)
        self._writer = BatchWriter(connection, self._reader, project_id, values)

    @property
    def project_id(self) -> str:
        """The project that every call is bound to."""
        return self._project_id

    async def write(self, batch: Batch, values: PackWriter | None = None) -> WriteResult:
        """See ``GraphStore.write``."""
        return await self._writer.write(batch, values)

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
    ) -> Page[Element]:
        """See ``GraphStore.page``."""
        return await self._reader.page(label, trace_id, first, after, kinds)

    async def failures(self, trace_id: str | None = None, first: int = 100, after: str | None = None) -> Page[Failure]:
        """See ``GraphStore.failures``."""
        return await self._reader.failures(trace_id, first, after)

    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        """See ``GraphStore.attributions``."""
        return await self._reader.attributions(failure_ids)

    async def operation(self, operation_id: str) -> OperationDetail:
        """See ``GraphStore.operation``."""
        return await self._reader.operation(operation_id)

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

    async def path(self, source: str, target: str) -> Path:
        """See ``GraphStore.path``."""
        return await self._walker.path(source, target)

    async def versions(self, variable_id: str) -> list[Variable]:
        """See ``GraphStore.versions``."""
        return await self._reader.versions(variable_id)

    async def value(self, variable: Variable) -> bytes:
        """See ``GraphStore.value``."""
        return (await self.values([variable]))[variable.value_hash]

    async def values(self, variables: Sequence[Variable]) -> dict[str, bytes]:
        """See ``GraphStore.values``."""
        found, others = split_values(variables)
        for trace_id, hashes in others.items():
            found |= await self._values.get_many(self._project_id, trace_id, hashes)
        return found

    async def known_values(self, trace_id: str) -> set[str]:
        """See ``GraphStore.known_values``."""
        return await self._values.hashes(self._project_id, trace_id)

    async def delete_trace(self, trace_id: str) -> dict[str, int]:
        """See ``GraphStore.delete_trace``."""
        return await maintain.delete_trace(self._connection, self._reader, self._values, trace_id)

    async def stats(self, trace_id: str | None = None) -> Stats:
        """See ``GraphStore.stats``."""
        return await maintain.count(self._reader, self._values, trace_id)
