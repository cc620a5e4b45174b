"""Writes a batch: compare, store the values, then the nodes, then the relationships, and the trace's node last.

A trace is listed only with its node, so nobody sees the remains of a killed writer, and writing the batch again
completes the trace. Relationships without ids are merged at each write, because a killed writer may have written the
nodes without their relationships.

Elements that the comparison did not find are created without a further look-up. If another writer has stored one of the
elements meanwhile, the constraints on ids refuse the transaction, which is then repeated with all elements merged.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import neo4j

from schema.control import BEGUN, AuditEntry
from schema.errors import InputError
from schema.models import WHOLE_VALUE_BYTES, Batch
from schema.times import EPOCH, to_microseconds
from store.contract.answers import Label, Stored, WriteResult
from store.neo4j.connection import Connection, TakenError, run_text
from store.neo4j.read import Reader, getter
from store.neo4j.rows import Row, completion_row, element_id, entry_row, read_rows, rows_of
from store.neo4j.verdict_changes import keep_replaced
from store.shared.conflicts import check
from store.shared.references import check_ownership, check_values, elements_of, place_of, references
from store.values.contract import ValueStore
from store.values.packs import PackWriter

_CREATED = frozenset({Label.OPERATION, Label.VARIABLE, Label.DERIVATION})
"""Labels with many elements, which are created; elements of other labels are always merged."""

_ROWS_A_STATEMENT = 1000
_STATEMENTS_A_TRANSACTION = 10


@dataclass(frozen=True, slots=True)
class _Statement:
    """Rows for one text.

    Attributes:
        text: name of the text that merges the rows with stored elements.
        rows: the rows of the text.
        create: name of a faster text for new elements, which fails if an element is stored.
        label: of the elements that the rows stand for, if any.
        elements: the elements of the rows, for a comparison with another writer's elements.
        expected: number of elements that should be new.
    """

    text: str
    rows: list[Row]
    create: str | None = None
    label: Label | None = None
    elements: Sequence[Any] = ()
    expected: int = 0


@dataclass(slots=True)
class _Plan:
    """The elements to write: new elements, and stored elements that may change."""

    batch: Batch
    unique: dict[Label, dict[str, Any]]
    entries: list[Row]
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

    async def write(
        self, batch: Batch, values: PackWriter | None, stored: Stored | None, entry: AuditEntry | None = None
    ) -> WriteResult:
        """Write a batch, and the entry for the audit log, if given."""
        check_ownership(batch, self._project_id)
        entries = [] if entry is None else [entry_row(entry, self._project_id)]
        async with self._connection.trace_lock(batch.trace.id):
            return await self._write_alone(_Plan(batch, _unique(batch), entries), values, stored)

    async def _write_alone(self, plan: _Plan, values: PackWriter | None, stored: Stored | None) -> WriteResult:
        batch = plan.batch
        found: dict[Label, dict[str, Any]] = {}
        if stored is not None:
            found = {label: dict(elements) for label, elements in stored.elements.items()}
            found[Label.TRACE] = {} if stored.trace is None else {stored.trace.id: stored.trace}
        elif await self._reader.trace_begun(batch.trace.id):
            found = await self._stored(plan)
        for label, elements in plan.unique.items():
            of_label = found.get(label, {})
            check(label, of_label, elements.values())
            plan.stored[label] = elements.keys() & of_label.keys()
        await check_references(batch, plan.unique, found, self._reader)
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

    async def _stored(self, plan: _Plan) -> dict[Label, dict[str, Any]]:
        # At once, because one round trip after the other would take most of the time of a small batch.
        found = await asyncio.gather(
            *(self._reader.get(label, list(elements)) for label, elements in plan.unique.items())
        )
        return {
            label: {element.id: element for element in of_label}
            for label, of_label in zip(plan.unique, found, strict=True)
        }

    async def _keep_values(self, batch: Batch, values: PackWriter | None) -> None:
        if any(variable.size > WHOLE_VALUE_BYTES for variable in batch.variables):
            stored = await self._values.hashes(self._project_id, batch.trace.id)
            check_values(batch, values.hashes if values else set(), stored)
        if values is not None:
            await self._values.put(self._project_id, batch.trace.id, values.packs())

    async def _write(self, plan: _Plan) -> Counter[Label]:
        created: Counter[Label] = Counter()
        groups = _transactions(_statements(plan))
        current = await asyncio.to_thread(next, groups, None)
        while current is not None:
            # The next rows are built while the server works.
            counts, current = await asyncio.gather(self._commit(current), asyncio.to_thread(next, groups, None))
            created.update(counts)
        return created

    async def _commit(self, statements: list[_Statement]) -> Counter[Label]:
        try:
            return await self._connection.write(partial(self._run, statements, create=True))
        except TakenError:
            return await self._connection.write(partial(self._run, statements, create=False))

    async def _run(
        self, statements: list[_Statement], transaction: neo4j.AsyncManagedTransaction, *, create: bool
    ) -> Counter[Label]:
        created: Counter[Label] = Counter()
        for statement in statements:
            text = (statement.create if create else None) or statement.text
            if statement.label is Label.ATTRIBUTION:
                await keep_replaced(transaction, self._project_id, statement.elements)
            result = await run_text(transaction, text, rows=statement.rows, projectId=self._project_id, epoch=EPOCH)
            counters = (await result.consume()).counters
            if statement.label is not None:
                count = counters.nodes_created or (
                    counters.relationships_created if statement.label is Label.DERIVATION else 0
                )
                if count < statement.expected and statement.label is Label.ATTRIBUTION and create:
                    # Another writer stored the verdict meanwhile, and the history has to keep that verdict.
                    raise TakenError("a verdict was stored since the comparison")
                if count < statement.expected:
                    # Another writer has stored an element since the comparison.
                    await self._compare_within(transaction, statement)
                created[statement.label] += count
        return created

    async def _compare_within(self, transaction: neo4j.AsyncManagedTransaction, statement: _Statement) -> None:
        assert statement.label is not None
        ids = [element.id for element in statement.elements]
        result = await run_text(
            transaction, getter(statement.label), statement.label, ids=ids, projectId=self._project_id
        )
        stored = read_rows(statement.label, (row for (rows,) in await result.values() for row in rows))
        check(statement.label, {element.id: element for element in stored}, statement.elements)
        if statement.label is Label.ATTRIBUTION:
            known = {element.id for element in stored}
            for element in statement.elements:
                if element.id not in known:
                    problem = f"refers to failure {element.failure_id}, which was withdrawn meanwhile"
                    raise InputError("batch", place_of(statement.label), problem)


def _unique(batch: Batch) -> dict[Label, dict[str, Any]]:
    """The elements of a batch by label and id.

    Raises:
        ConflictError: two elements of the batch have equal ids and different content.
    """
    unique: dict[Label, dict[str, Any]] = {}
    for label, elements in elements_of(batch).items():
        found = unique[label] = {element.id: element for element in elements}
        if len(found) < len(elements):
            check(label, found, elements)
    return unique


def _statements(plan: _Plan) -> Iterator[_Statement]:
    """All statements of a write, in order; the rows of a statement are built when the statement is taken.

    The first statement writes the audit entry as ``BEGUN``, and the last sets its outcome; a small write does both in
    its only transaction.
    """
    batch = plan.batch
    yield from _of_links("write_audit_entry", ({**row, "outcome": BEGUN} for row in plan.entries))
    for label in (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION):
        yield from _of_elements(label, plan.new(label), plan)
    revised = [v for v in plan.unique[Label.VARIABLE].values() if v.revision_of is not None]
    yield from _of_links("write_revision", ({"id": v.id, "revisionOf": v.revision_of} for v in revised))
    yield from _of_links(
        "write_usage",
        (
            {
                "operationId": u.operation_id,
                "variableId": u.variable_id,
                "role": u.role,
                "position": u.position,
                "score": u.score,
            }
            for u in batch.usages
        ),
    )
    yield from _of_links(
        "write_invalidation",
        ({"operationId": i.operation_id, "variableId": i.variable_id} for i in batch.invalidations),
    )
    yield from _of_links(
        "write_ending",
        (
            {
                "operationId": e.operation_id,
                "status": e.status,
                "endedAt": to_microseconds(e.ended_at),
                "attributes": e.attributes,
            }
            for e in batch.endings
        ),
    )
    yield from _of_links(
        "write_placing",
        (
            {"variableId": p.variable_id, "traceId": batch.trace.id, "sequence": p.sequence}
            for p in sorted(batch.placings, key=lambda p: p.variable_id)
        ),
    )
    completions = sorted(batch.completions, key=lambda c: c.variable_id)
    yield from _of_links("write_completion", (completion_row(c, batch.trace.id) for c in completions))
    yield from _of_links(
        "write_revision",
        ({"id": c.variable_id, "revisionOf": c.revision_of} for c in completions if c.revision_of is not None),
    )
    yield from _of_links(
        "write_right_answer",
        ({"variableId": id_, "traceId": batch.trace.id} for id_ in sorted(set(batch.right_answers))),
    )
    for label in (Label.FAILURE, Label.ATTRIBUTION, Label.TRACE):
        yield from _of_elements(label, sorted(plan.unique[label].values(), key=element_id), plan)
    yield from _of_links("settle_audit_entry", plan.entries)


def _of_elements(label: Label, elements: Sequence[Any], plan: _Plan) -> Iterator[_Statement]:
    stored, name = plan.stored.get(label, set()), label.lower()
    create = f"create_{name}" if label in _CREATED else None
    for start in range(0, len(elements), _ROWS_A_STATEMENT):
        part = elements[start : start + _ROWS_A_STATEMENT]
        expected = sum(element.id not in stored for element in part)
        yield _Statement(f"write_{name}", rows_of(label, part), create, label, part, expected)


def _of_links(name: str, rows: Iterable[Row]) -> Iterator[_Statement]:
    remaining = iter(rows)
    while part := list(islice(remaining, _ROWS_A_STATEMENT)):
        yield _Statement(name, part)


def _transactions(statements: Iterator[_Statement]) -> Iterator[list[_Statement]]:
    while part := list(islice(statements, _STATEMENTS_A_TRANSACTION)):
        yield part


async def check_references(
    batch: Batch, unique: Mapping[Label, Mapping[str, Any]], stored: Mapping[Label, Mapping[str, Any]], reader: Reader
) -> None:
    """Check that all references are to elements of the batch, or to stored elements of the trace.

    Without the check, relationships to missing nodes would be dropped silently.

    Args:
        batch: the batch.
        unique: the elements of the batch, by label and id.
        stored: stored elements, as far as known; further elements are looked up.
        reader: for the look-ups.

    Raises:
        InputError: an element refers to an element that is neither in the batch nor stored.
    """
    known: dict[Label, set[Any]] = {}
    for place, label, ids in references(batch):
        if label not in known:
            known[label] = {None, *unique[label], *_of_trace(batch.trace.id, stored.get(label, {}).values())}
        missing = ids - known[label]
        if not missing:
            continue
        found = await reader.get(label, [id_ for id_ in missing if id_ is not None])
        known[label] |= _of_trace(batch.trace.id, found)
        for id_ in missing - known[label]:
            raise InputError("batch", place, f"refers to {label.lower()} {id_}, which does not exist")


def _of_trace(trace_id: str, elements: Iterable[Any]) -> set[str]:
    return {element.id for element in elements if element.trace_id == trace_id}
