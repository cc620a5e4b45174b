"""The history of people's verdicts in Neo4j, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import neo4j

from schema.annotation import VerdictChange
from schema.control import AuditEntry
from schema.models import Attribution
from schema.times import EPOCH
from store.contract.answers import Label
from store.contract.verdict_changes import Undone, changes_of, is_human, undone
from store.neo4j.connection import Connection, run_text
from store.neo4j.read import Reader, getter
from store.neo4j.rows import entry_row, read_rows, record_of, row_of, rows_of
from store.shared.record_rows import VERDICT_CHANGES

Transaction = neo4j.AsyncManagedTransaction


async def verdict_changes(reader: Reader, failure_ids: Sequence[str]) -> list[VerdictChange]:
    """The stored changes of people's verdicts on some failures."""
    rows = await reader.items("verdict_changes", ids=list(dict.fromkeys(failure_ids)))
    found = [record_of(VERDICT_CHANGES, row) for row in rows]
    return sorted(found, key=lambda one: (one.attribution_id, one.number))


async def keep_replaced(transaction: Transaction, project_id: str, verdicts: Sequence[Attribution]) -> None:
    """Store the history of people's verdicts that are about to be replaced by ``verdicts``."""
    new = {one.id: one for one in verdicts if is_human(one)}
    if not new:
        return
    stored, last = await _stored(transaction, project_id, list(new)), await _last(transaction, project_id, list(new))
    found = [changes_of(one, stored.get(id_), last.get(id_, 0)) for id_, one in new.items()]
    await _write(transaction, project_id, list(chain.from_iterable(found)))


async def keep_withdrawn(transaction: Transaction, project_id: str, ids: Sequence[str], by: str | None) -> None:
    """Store the history of people's verdicts that are about to be deleted."""
    stored, last = await _stored(transaction, project_id, ids), await _last(transaction, project_id, ids)
    found = [changes_of(None, one, last.get(id_, 0), by) for id_, one in stored.items() if is_human(one)]
    await _write(transaction, project_id, list(chain.from_iterable(found)))


async def undo_verdict(
    connection: Connection, project_id: str, attribution_id: str, by: str, entry: AuditEntry | None
) -> Attribution | None:
    """Undo the last change of a verdict and write the entry, in one transaction.

    Raises:
        NotFoundError: no change is left to undo.
    """
    entries = [] if entry is None else [entry_row(entry, project_id)]

    async def work(transaction: Transaction) -> Undone:
        stored = (await _stored(transaction, project_id, [attribution_id])).get(attribution_id)
        result = await run_text(transaction, "changes_of_verdict", projectId=project_id, id=attribution_id, by=by)
        ((rows,),) = await result.values()
        changes = sorted((record_of(VERDICT_CHANGES, row) for row in rows), key=lambda one: one.number)
        found = undone(attribution_id, stored, changes, by)
        if found.verdict is None:
            gone = await run_text(transaction, "delete_attributions", projectId=project_id, ids=[attribution_id])
            await gone.consume()
        else:
            again = rows_of(Label.ATTRIBUTION, [found.verdict])
            written = await run_text(transaction, "write_attribution", projectId=project_id, rows=again, epoch=EPOCH)
            await written.consume()
        await _write(transaction, project_id, found.changes)
        await (await run_text(transaction, "write_audit_entry", projectId=project_id, rows=entries)).consume()
        return found

    return (await connection.write(work)).verdict


async def _stored(transaction: Transaction, project_id: str, ids: Sequence[str]) -> Mapping[str, Attribution]:
    """The stored verdicts by id, locked until the end of the transaction."""
    ordered = sorted(ids)
    await (await run_text(transaction, "lock_verdicts", projectId=project_id, ids=ordered)).consume()
    text = getter(Label.ATTRIBUTION)
    result = await run_text(transaction, text, Label.ATTRIBUTION, projectId=project_id, ids=ordered)
    found = read_rows(Label.ATTRIBUTION, (row for (rows,) in await result.values() for row in rows))
    return {one.id: one for one in found}


async def _last(transaction: Transaction, project_id: str, ids: Sequence[str]) -> dict[str, int]:
    result = await run_text(transaction, "last_changes", projectId=project_id, ids=sorted(ids))
    ((rows,),) = await result.values()
    return dict(rows)


async def _write(transaction: Transaction, project_id: str, changes: Sequence[VerdictChange]) -> None:
    if changes:
        rows = [row_of(VERDICT_CHANGES, one) for one in changes]
        await (await run_text(transaction, "write_verdict_change", projectId=project_id, rows=rows)).consume()
