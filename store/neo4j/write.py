"""Writing a batch: compare, keep the values, then the nodes, then what joins them, the trace last.

A trace is listed once its node is there, and that comes last: what a killed writer leaves is not seen, and writing the
batch again completes it. An edge without an id of its own is merged again each time, for its nodes may have come from
a writer that was killed before it wrote the edge.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import neo4j

from schema.errors import InputError
from schema.models import WHOLE_VALUE_BYTES, Batch, Variable
from store.conflicts import check
from store.neo4j.connection import Connection, text
from store.neo4j.read import Reader
from store.neo4j.references import check_ownership, check_references
from store.neo4j.rows import WRITERS, Row, element_id
from store.packs import PackWriter
from store.protocol import Label, WriteResult
from store.times import EPOCH
from store.values import ValueStore

_ROWS_A_STATEMENT = 1000
_STATEMENTS_A_TRANSACTION = 10


@dataclass(frozen=True, slots=True)
class _Statement:
    """Rows for one text; of elements, also the elements themselves, to compare what another writer has written."""

    text: str
    rows: list[Row]
    label: Label | None = None
    elements: Sequence[Any] = ()


@dataclass(slots=True)
class _Plan:
    """What is to be written: new elements, and those that are stored and may change."""

    batch: Batch
    unique: dict[Label, dict[str, Any]] = field(default_factory=dict)
    stored: dict[Label, set[str]] = field(default_factory=dict)

    def new(self, label: Label) -> list[Any]:
        stored = self.stored.get(label, set())
        return sorted((e for e in self.unique[label].values() if e.id not in stored), key=element_id)


class BatchWriter:
    """Writes batches of one project."""

    def __init__(self, connection: Connection, reader: Reader, project_id: str, values: ValueStore) -> None:
        self._connection = connection
        self._reader = reader
        self._project_id = project_id
        self._values = values

    async def write(self, batch: Batch, values: PackWriter | None) -> WriteResult:
        """See ``GraphStore.write``."""
        check_ownership(batch, self._project_id)
        plan = _Plan(batch, _unique(batch))
        if await self._reader.trace_begun(batch.trace.id):
            await self._compare(plan)
        await check_references(batch, plan.unique, self._reader)
        await self._keep_values(batch, values)
        created = await self._write(plan)
        return WriteResult(
            {label.value: created[label] for label in Label if created[label]},
            {
                label.value: len(elements) - created[label]
                for label, elements in plan.unique.items()
                if len(elements) > created[label]
            },
        )

    async def _compare(self, plan: _Plan) -> None:
        for label, elements in plan.unique.items():
            stored = {element.id: element for element in await self._reader.get(label, list(elements))}
            check(label, stored, elements.values())
            plan.stored[label] = set(stored)

    async def _keep_values(self, batch: Batch, values: PackWriter | None) -> None:
        large: dict[str, Variable] = {v.value_hash: v for v in batch.variables if v.size > WHOLE_VALUE_BYTES}
        if large and (values is not None or not await self._all_kept(batch, large)):
            came = set() if values is None else await asyncio.to_thread(_hashes, values)
            missing = large.keys() - came
            if missing:
                missing -= await self._values.hashes(self._project_id, batch.trace.id)
            for value_hash in missing:
                problem = f"value {value_hash} of {large[value_hash].external_id!r} is neither with the batch nor stored"
                raise InputError("batch", "variables", problem)
        if values is not None:
            await self._values.put(self._project_id, batch.trace.id, values.packs())

    async def _write(self, plan: _Plan) -> Counter[Label]:
        created: Counter[Label] = Counter()
        groups = _transactions(_statements(plan))
        current = next(groups, None)
        while current is not None:
            # Rows are built beside the server's work, not before it.
            counts, current = await asyncio.gather(self._commit(current), asyncio.to_thread(next, groups, None))
            created.update(counts)
        return created

    async def _commit(self, statements: list[_Statement]) -> Counter[Label]:
        async def work(transaction: neo4j.AsyncManagedTransaction) -> Counter[Label]:
            created: Counter[Label] = Counter()
            for statement in statements:
                result = await transaction.run(
                    text(statement.text), rows=statement.rows, projectId=self._project_id, epoch=EPOCH
                )
                counters = (await result.consume()).counters
                if statement.label is None:
                    continue
                count = (
                    counters.relationships_created
                    if statement.label is Label.DERIVATION
                    else counters.nodes_created
                )
                if count < len(statement.rows):
                    # Another writer came first since the comparison.
                    await self._compare_within(transaction, statement.label, statement.elements)
                created[statement.label] += count
            return created

        return await self._connection.write(work)
