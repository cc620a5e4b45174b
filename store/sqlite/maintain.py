"""Counting, deleting and checking, for one project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schema.errors import NotFoundError
from schema.models import Batch
from schema.texts import sql
from store.conflicts import check
from store.protocol import Label, Stats
from store.sqlite import select
from store.sqlite.context import ReadContext, keys_of


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


def delete_trace(context: ReadContext, trace_id: str) -> dict[str, int]:
    """See ``GraphStore.delete_trace``."""
    keys = keys_of(context, Label.TRACE, [trace_id])
    if not keys:
        raise NotFoundError(trace_id, Label.TRACE.value)
    counts = {label: count for label, count in stats(context, trace_id).labels.items() if count}
    context.connection.execute(sql("delete_trace"), {"k": keys[trace_id]})
    return counts


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
