"""Making a report. The result is the report as data; HTML and Markdown are made when the report is read."""

from __future__ import annotations

import msgspec

from api.jobs.arguments import ReportArguments
from api.jobs.work.context import Context, Document
from api.jobs.work.selection import chosen_failures, named
from attribution.report.make import known_sources, make
from schema.errors import NotFoundError
from store.blind import blind_store
from store.contract.protocol import GraphStore


async def check(store: GraphStore, arguments: ReportArguments) -> None:
    """Refuse failures and traces that are not in the project.

    Raises:
        NotFoundError: a failure or a trace does not exist.
    """
    await named(store, arguments.failure_ids, arguments.trace_ids)


async def run(context: Context, arguments: ReportArguments) -> Document:
    """Make the report."""
    context.tell("gather", 0, 1)
    store, withheld = context.store, frozenset[str]()
    if arguments.person is not None:
        withheld = await context.queues.withheld(arguments.person)
        store = blind_store(store, context.queues, arguments.person)
    failures = await chosen_failures(store, arguments.failure_ids, arguments.trace_ids)
    if arguments.source is not None and arguments.source not in await known_sources(store, failures):
        raise NotFoundError(arguments.source, "source")
    report = await make(
        store,
        failures,
        arguments.source,
        is_selection=bool(arguments.failure_ids),
        trace_ids=arguments.trace_ids,
    )
    context.tell("gather", 1, 1)
    document: Document = msgspec.to_builtins(report)
    # The verdicts that were withheld when the report was made. A later reader may see the report if no further verdicts
    # are withheld from that reader.
    return document | {"withheld": sorted(withheld)}
