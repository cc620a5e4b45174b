"""What was recorded last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema.kinds import VariableKind
from schema.models import Element, Failure, Operation, Trace, Variable
from store.contract.answers import ALL_FAILURES, FailureKey, FailureOrder, Label
from store.shared.paging import every, in_trace

if TYPE_CHECKING:
    from store.contract.protocol import GraphStore

LAST = ("last", "latest", "newest")
"""What was recorded last: a failure, a trace, an operation, or else an answer, unless something has this name."""
MOST_TRACES = 1_000
"""Among so many traces, the newest ones, the last answer and the name of an operation are looked for."""


async def newest(store: GraphStore, model: type[Element], trace_id: str | None) -> Element | None:
    """The newest failure, trace or operation, or the last answer; None if there is none, or for other models."""
    if model is Failure:
        return await newest_failure(store, trace_id)
    if model is Trace:
        return await _newest_trace(store)
    if model is Operation:
        return await _last_operation(store, trace_id)
    return await last_answer(store, trace_id) if model is Variable else None


async def newest_failure(store: GraphStore, trace_id: str | None) -> Failure | None:
    """The failure that was recorded last, in one trace or in the project."""
    page = await store.failures(trace_id, 1, None, ALL_FAILURES, FailureOrder(FailureKey.TIME, descending=True))
    return next(iter(page.items), None)


async def last_answer(store: GraphStore, trace_id: str | None) -> Variable | None:
    """The answer that was recorded last, in one trace or in the project; None if there is none."""
    ids = [trace_id] if trace_id else [one.id async for one in every(lambda after: store.traces(after=after))]
    found: list[Variable] = []
    for id_ in ids[-MOST_TRACES:]:
        last = None
        async for one in in_trace(store, Label.VARIABLE, id_, [VariableKind.ANSWER.value]):
            last = one
        if isinstance(last, Variable):
            found.append(last)
    return max(reversed(found), key=lambda one: (one.created_at is not None, one.created_at), default=None)


async def _newest_trace(store: GraphStore) -> Trace | None:
    found = None
    async for one in every(lambda after: store.traces(after=after)):
        found = one
    return found


async def _last_operation(store: GraphStore, trace_id: str | None) -> Operation | None:
    """The last operation of a trace, or of the newest trace."""
    if trace_id is None:
        trace = await _newest_trace(store)
        trace_id = None if trace is None else trace.id
    found: Element | None = None
    if trace_id is not None:
        async for one in in_trace(store, Label.OPERATION, trace_id):
            found = one
    return found if isinstance(found, Operation) else None
