"""Attributing failures. Each verdict is stored as soon as it is made; the result counts them by kind."""

from __future__ import annotations

from collections import Counter

from api.jobs.arguments import AttributeArguments
from api.jobs.runner_options import runner_options
from api.jobs.work.context import Context, Document
from api.jobs.work.selection import chosen_failures, named
from attribution.run import Options, attribute
from store.contract.protocol import GraphStore

_CONCURRENCY = 4


async def check(store: GraphStore, arguments: AttributeArguments) -> None:
    """Refuse failures that are not in the project, and a method whose model this server does not know.

    Raises:
        InputError: the settings of the model are missing or wrong.
        NotFoundError: a failure or the trace does not exist.
    """
    _options(arguments)
    await named(store, arguments.failure_ids, _traces(arguments))


async def run(context: Context, arguments: AttributeArguments) -> Document:
    """Attribute the failures. A failure that was attributed before in the same way keeps its verdict.

    Failures that are withdrawn meanwhile are skipped and counted in ``withdrawn``.
    """
    failures = await chosen_failures(context.store, arguments.failure_ids, _traces(arguments))
    total = len(failures)
    kinds: Counter[str] = Counter()
    made: dict[str, str] = {}
    abstained = cached = 0
    context.tell("attribute", 0, total)
    async for outcome in attribute(context.store, failures, _options(arguments)):
        found = outcome.attribution
        made[outcome.failure.id] = found.id
        cached += outcome.cached
        if found.error_type is None:
            abstained += 1
        else:
            kinds[found.error_type.value] += 1
        context.tell("attribute", len(made), total)
    return {
        "failures": total,
        "errorTypes": dict(sorted(kinds.items())),
        "abstained": abstained,
        "cached": cached,
        "withdrawn": total - len(made),
        "attributionIds": [made[failure.id] for failure in failures if failure.id in made],
    }


def _traces(arguments: AttributeArguments) -> tuple[str, ...]:
    return (arguments.trace_id,) if arguments.trace_id else ()


def _options(arguments: AttributeArguments) -> Options:
    return runner_options(
        arguments.method, arguments.gold_free, arguments.retrieve_evidence, _CONCURRENCY, arguments.min_confidence
    )
