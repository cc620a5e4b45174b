"""Counts and deletions in one project."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from schema.errors import NotFoundError
from schema.models import Batch
from store.contract.answers import Label, Period, Stats
from store.shared.conflicts import check
from store.shared.references import elements_of
from store.shared.timeline import Stretches
from store.sqlite import select
from store.sqlite.context import ReadContext, keys_of
from store.sqlite.queries import sql
from store.sqlite.rows import bind_keys
from store.sqlite.verdict_changes import keep_withdrawn


def stats(context: ReadContext, trace_id: str | None) -> Stats:
    """Counts by label and by kind, and sizes of the file."""
    labels: dict[str, int] = {}
    kinds: dict[str, dict[str, int]] = {}
    for label in Label:
        rows = (
            context.rows("counts.traces", trace=trace_id)
            if label is Label.TRACE
            else context.rows("counts.of_label", label, trace=trace_id)
        )
        labels[label.value] = sum(count for _, count in rows)
        by_kind = {kind: count for kind, count in rows if kind is not None}
        if by_kind:
            kinds[label.value] = by_kind
    connection = context.connection
    values = connection.execute(sql("counts.value_bytes")).get
    total = connection.execute(sql("counts.file_bytes")).get
    ((rights,),) = context.rows("counts.right", trace=trace_id)
    return Stats(labels, kinds, values, total - values, total, rights)


def counts(context: ReadContext, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Counts by label, by trace id."""
    keys = keys_of(context, Label.TRACE, trace_ids)
    counted = {row[0]: row[1:] for row in context.rows("counts.by_trace", keys=bind_keys(keys.values()))}
    labels = [label.value for label in Label]
    return {id_: dict(zip(labels, counted[k], strict=True)) for id_, k in keys.items()}


def timeline(context: ReadContext, since: datetime, until: datetime, seconds: int) -> list[Period]:
    """Counts of new elements in each stretch of ``seconds`` seconds."""
    stretches = Stretches.between(since, until, seconds)
    return stretches.periods(context.rows("timeline", start=stretches.start, end=stretches.end, width=stretches.width))


def delete_attributions(context: ReadContext, ids: Sequence[str], by: str | None) -> int:
    """Delete verdicts, and return how many existed; the history keeps people's verdicts as withdrawn."""
    keep_withdrawn(context, list(ids), by)
    keys = keys_of(context, Label.ATTRIBUTION, ids)
    context.rows("attributions.delete", keys=bind_keys(keys.values()))
    return len(keys)


def delete_failure(context: ReadContext, failure_id: str) -> dict[str, int]:
    """Delete a failure with its verdicts; returns counts by label.

    Raises:
        NotFoundError: the project has no failure with this id.
    """
    keys = keys_of(context, Label.FAILURE, [failure_id])
    if not keys:
        raise NotFoundError(failure_id, Label.FAILURE.value)
    failure = {"failure": keys[failure_id]}
    context.rows("variables.judge_no_more", **failure)
    context.rows("attributions.delete_of_failure", **failure)
    verdicts = context.connection.changes()
    context.rows("failures.delete", **failure)
    context.rows("verdict_changes.delete_of_failure", id=failure_id)
    return {Label.FAILURE.value: 1} | ({Label.ATTRIBUTION.value: verdicts} if verdicts else {})


def delete_trace(context: ReadContext, trace_id: str) -> dict[str, int]:
    """Delete a trace with all its elements; returns counts by label.

    Raises:
        NotFoundError: the project has no trace with this id.
    """
    keys = keys_of(context, Label.TRACE, [trace_id])
    if not keys:
        raise NotFoundError(trace_id, Label.TRACE.value)
    counted = {label: count for label, count in counts(context, [trace_id])[trace_id].items() if count}
    context.connection.execute(sql("traces.delete"), {"k": keys[trace_id]})
    return counted


def check_conflicts(context: ReadContext, batch: Batch) -> None:
    """Compare a batch with stored elements, before its values are stored outside the file.

    Raises:
        ConflictError: an id is stored with other content.
    """
    for label, new in elements_of(batch).items():
        if label is not Label.ATTRIBUTION:  # a later verdict replaces the stored verdict of the same id
            ids = [element.id for element in new]
            check(label, {element.id: element for element in select.elements(context, label, ids)}, new)
