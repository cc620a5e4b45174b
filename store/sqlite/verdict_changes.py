"""The history of people's verdicts in a SQLite file, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from schema.annotation import VerdictChange
from schema.models import Attribution, Batch, Trace
from store.contract.answers import Label
from store.contract.verdict_changes import Undone, changes_of, is_human, undone
from store.shared.record_rows import VERDICT_CHANGES
from store.sqlite import select
from store.sqlite.context import ReadContext, keys_of
from store.sqlite.queries import Table, sql
from store.sqlite.rows import bind_keys
from store.sqlite.write import write_batch


def verdict_changes(context: ReadContext, failure_ids: Sequence[str]) -> list[VerdictChange]:
    """The stored changes of people's verdicts on some failures."""
    ids = _array(dict.fromkeys(failure_ids))
    return [VERDICT_CHANGES.read(row) for row in context.rows("verdict_changes.of_failures", Table.CHANGE, ids=ids)]


def keep_replaced(context: ReadContext, verdicts: Iterable[Attribution]) -> None:
    """Store the history of people's verdicts that are about to be replaced by ``verdicts``."""
    new = {one.id: one for one in verdicts if is_human(one)}
    if not new:
        return
    stored, last = _stored(context, list(new)), _last(context, list(new))
    found = [changes_of(one, stored.get(id_), last.get(id_, 0)) for id_, one in new.items()]
    _write(context, chain.from_iterable(found))


def keep_withdrawn(context: ReadContext, ids: Sequence[str], by: str | None) -> None:
    """Store the history of people's verdicts that are about to be deleted."""
    stored, last = _stored(context, ids), _last(context, ids)
    found = [changes_of(None, one, last.get(id_, 0), by) for id_, one in stored.items() if is_human(one)]
    _write(context, chain.from_iterable(found))


def undo_verdict(context: ReadContext, attribution_id: str, by: str) -> Undone:
    """Undo the last change of a verdict.

    Raises:
        NotFoundError: no change is left to undo.
    """
    stored = _stored(context, [attribution_id]).get(attribution_id)
    rows = context.rows("verdict_changes.of_verdict", Table.CHANGE, id=attribution_id)
    found = undone(attribution_id, stored, [VERDICT_CHANGES.read(row) for row in rows], by)
    if found.verdict is None:
        keys = keys_of(context, Label.ATTRIBUTION, [attribution_id])
        context.rows("attributions.delete", keys=bind_keys(keys.values()))
    else:
        (trace,) = select.elements(context, Label.TRACE, [found.verdict.trace_id])
        assert isinstance(trace, Trace)
        batch = Batch(trace, attributions=[found.verdict])
        write_batch(context.connection, context.project_id, batch, (), values_in_file=False)
    _write(context, found.changes)
    return found


def _stored(context: ReadContext, ids: Sequence[str]) -> Mapping[str, Attribution]:
    found = select.elements(context, Label.ATTRIBUTION, ids)
    return {one.id: one for one in found if isinstance(one, Attribution)}


def _last(context: ReadContext, ids: Sequence[str]) -> dict[str, int]:
    return dict(context.rows("verdict_changes.last", ids=_array(ids)))


def _write(context: ReadContext, changes: Iterable[VerdictChange]) -> None:
    rows = [VERDICT_CHANGES.values(one) for one in changes]
    context.connection.executemany(sql("verdict_changes.write", Table.CHANGE), rows)


def _array(ids: Iterable[str]) -> str:
    return msgspec.json.encode(list(ids)).decode()
