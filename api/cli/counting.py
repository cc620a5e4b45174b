"""Counts what was recorded in a time, for `memtrace stats --since`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from api.cli.listing import in_traces
from api.cli.narrowing import in_time, recorded_in
from attribution.verdicts.stored import every_failure
from schema.models import Operation, Session, Variable
from store.contract.answers import Label, Stats
from store.shared.paging import every

if TYPE_CHECKING:
    from store.contract.answers import Span
    from store.contract.protocol import GraphStore


async def counted_in(store: GraphStore, whole: Stats, trace_id: str | None, when: Span) -> Stats:
    """The same numbers, of what was recorded in a time; the bytes stay those of the whole store.

    Args:
        store: the project.
        whole: the numbers without a time.
        trace_id: only this trace; None for all.
        when: the time. An operation counts when it began, everything else when it was recorded.
    """
    traces = [one async for one in every(lambda after: store.traces(after=after)) if trace_id in {None, one.id}]
    sessions = [one async for one in in_time(in_traces(store, Session, trace_id), when)]
    operations = Counter([one.kind.value async for one in in_traces(store, Operation, trace_id, when=when)])
    variables = Counter([one.kind.value async for one in in_traces(store, Variable, trace_id, when=when)])
    failures = [one for trace in traces for one in await every_failure(store, trace.id)]
    verdicts = await store.attributions([one.id for one in failures])
    labels = {
        Label.TRACE.value: sum(recorded_in(when, one.created_at) for one in traces),
        Label.SESSION.value: len(sessions),
        Label.OPERATION.value: operations.total(),
        Label.VARIABLE.value: variables.total(),
        Label.FAILURE.value: sum(recorded_in(when, one.created_at) for one in failures),
        Label.ATTRIBUTION.value: sum(recorded_in(when, one.created_at) for one in verdicts),
    }
    by_kind = {Label.OPERATION.value: operations, Label.VARIABLE.value: variables}
    kinds = {label: dict(sorted(counted.items())) for label, counted in by_kind.items() if counted}
    return replace(whole, labels=labels, kinds=kinds)
