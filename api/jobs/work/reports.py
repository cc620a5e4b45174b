"""Making a report. The result is the report as data; pages are made of it when somebody reads it."""

from __future__ import annotations

import msgspec

from api.jobs.arguments import ReportArguments
from api.jobs.work.context import Context, Document
from api.jobs.work.selection import chosen_failures, named
from attribution.report.make import known_sources, make
from schema.errors import NotFoundError
from store.protocol import GraphStore


async def check(store: GraphStore, arguments: ReportArguments) -> None:
    """Refuse what is not in the project.

    Raises:
        NotFoundError: a failure or a trace does not exist.
    """
    await named(store, arguments.failure_ids, arguments.trace_ids)


async def run(context: Context, arguments: ReportArguments) -> Document:
    """Make the report."""
    context.tell("gather", 0, 1)
    failures = await chosen_failures(context.store, arguments.failure_ids, arguments.trace_ids)
    if arguments.source is not None and arguments.source not in await known_sources(context.store, failures):
        raise NotFoundError(arguments.source, "source")
    report = await make(
        context.store,
        failures,
        arguments.source,
        is_selection=bool(arguments.failure_ids),
        trace_ids=arguments.trace_ids,
    )
    context.tell("gather", 1, 1)
    document: Document = msgspec.to_builtins(report)
    return document
