"""Counting, deleting and checking, for one project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schema.errors import NotFoundError
from schema.models import Batch
from schema.texts import sql
from store.answers import Label, Period, Stats
from store.conflicts import check
from store.sqlite import select
from store.sqlite.context import ReadContext, keys_of
from store.sqlite.rows import bind_keys
from store.timeline import Stretches


def stats(context: ReadContext, trace_id: str | None) -> Stats:
    """See ``GraphStore.stats``; bytes are those of the file."""
    labels: dict[str, int] = {}
    kinds: dict[str, dict[str, int]] = {}
    for label in Label:
        rows = context.rows(f"count_{label.value.lower()}", trace=trace_id)
        labels[label.value] = sum(count for _, count in rows)
        by_kind = {kind: count for kind, count in rows if kind is not None}
        if by_kind:
            kinds[label.value] = by_kind
    connection = context.connection
    values = connection.execute(sql("count_value_bytes")).get
    total = connection.execute(sql("count_file_bytes")).get
    return Stats(labels, kinds, values, total - values, total)


def counts(context: ReadContext, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """See ``GraphStore.counts``."""
    keys = keys_of(context, Label.TRACE, trace_ids)
    counted = {row[0]: row[1:] for row in context.rows("count_by_trace", keys=bind_keys(keys.values()))}
    labels = [label.value for label in Label]
    return {id_: dict(zip(labels, counted[k], strict=True)) for id_, k in keys.items()}


def timeline(context: ReadContext, stretches: Stretches) -> list[Period]:
    """See ``GraphStore.timeline``."""
    return stretches.periods(context.rows("timeline", start=stretches.start, end=stretches.end, width=stretches.width))


def delete_attributions(context: ReadContext, ids: Sequence[str]) -> int:
    """See ``GraphStore.delete_attributions``."""
    keys = keys_of(context, Label.ATTRIBUTION, ids)
    context.rows("delete_attributions", keys=bind_keys(keys.values()))
    return len(keys)


def delete_trace(context: ReadContext, trace_id: str) -> dict[str, int]:
    """See ``GraphStore.delete_trace``."""
    keys = keys_of(context, Label.TRACE, [trace_id])
    if not keys:
        raise NotFoundError(trace_id, Label.TRACE.value)
    counted = {label: count for label, count in counts(context, [trace_id])[trace_id].items() if count}
    context.connection.execute(sql("delete_trace"), {"k": keys[trace_id]})
    return counted


def check_conflicts(context: ReadContext, batch: Batch) -> None:
    """Whether a batch could be written, before its values go anywhere.

    Raises:
        ConflictError: an id is stored with other content.
    """
    groups: list[tuple[Label, Sequence[Any]]] = [
        (Label.TRACE, [batch.trace]),
        (Label.SESSION, batch.sessions),
        (Label.OPERATION, batch.operations),
        (Label.VARIABLE, batch.variables),
        (Label.DERIVATION, batch.derivations),
        (Label.FAILURE, batch.failures),
    ]
    for label, new in groups:
        stored = {element.id: element for element in select.elements(context, label, [element.id for element in new])}
        check(label, stored, new)
