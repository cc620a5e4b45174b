"""Which failures a job is about."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.verdicts.stored import by_id, every_failure
from schema.errors import NotFoundError
from schema.models import Failure, Trace
from store.contract.protocol import GraphStore


async def named(
    store: GraphStore, failure_ids: Sequence[str], trace_ids: Sequence[str]
) -> tuple[dict[str, Failure], dict[str, Trace]]:
    """The failures and traces with these ids.

    Raises:
        NotFoundError: a failure or a trace does not exist.
    """
    traces = await by_id(store, Trace, trace_ids)
    failures = await by_id(store, Failure, failure_ids)
    for ids, found, label in ((trace_ids, set(traces), "Trace"), (failure_ids, set(failures), "Failure")):
        for id_ in ids:
            if id_ not in found:
                raise NotFoundError(id_, label)
    return failures, traces


async def chosen_failures(store: GraphStore, failure_ids: Sequence[str], trace_ids: Sequence[str]) -> list[Failure]:
    """Failures by id and by trace. An empty list of ids or of traces does not restrict the failures.

    Raises:
        NotFoundError: a failure or a trace does not exist.
    """
    failures, traces = await named(store, failure_ids, trace_ids)
    if failures:
        return [failure for failure in failures.values() if not traces or failure.trace_id in traces]
    if traces:
        return [failure for id_ in traces for failure in await every_failure(store, id_)]
    return await every_failure(store, None)
