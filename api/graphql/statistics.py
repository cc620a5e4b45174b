"""Counts of a project, at the moment and over time."""

from __future__ import annotations

from datetime import datetime

import strawberry

from api.graphql.scalars import ErrorType
from store import answers


@strawberry.type(description="How many elements have a label and, where they have kinds, a kind.")
class Count:
    """A count."""

    label: str = strawberry.field(
        description="Trace, Session, Operation, Variable, Derivation, Failure or Attribution."
    )
    kind: str | None = strawberry.field(description="The kind; null for all of the label together.")
    count: int = strawberry.field(description="How many.")


@strawberry.type(description="How much a project has of everything.")
class Statistics:
    """Counts by label and by kind. Bytes are not told: they are those of all projects of a store together."""

    labels: list[Count] = strawberry.field(description="By label.")
    kinds: list[Count] = strawberry.field(description="By label and kind.")


@strawberry.type(description="How many verdicts named an error type.")
class VerdictCount:
    """A count of verdicts."""

    error_type: ErrorType | None = strawberry.field(description="The error type; null for abstentions.")
    count: int = strawberry.field(description="How many.")


@strawberry.type(description="What came into a project in one stretch of time.")
class Period:
    """Read off ``store.answers.Period``."""

    start: datetime = strawberry.field(description="Its first moment.")
    traces: int = strawberry.field(description="Traces that were recorded in it.")
    failures: int = strawberry.field(description="Failures that were found in it.")
    verdicts: list[VerdictCount] = strawberry.field(description="Verdicts that were given in it.", metadata={"size": 1})


def statistics_of(found: answers.Stats) -> Statistics:
    """Counts as they go out."""
    labels = [Count(label=label, kind=None, count=count) for label, count in found.labels.items()]
    kinds = [
        Count(label=label, kind=kind, count=count)
        for label, counts in found.kinds.items()
        for kind, count in sorted(counts.items())
    ]
    return Statistics(labels=labels, kinds=kinds)


def periods_of(found: list[answers.Period]) -> list[Period]:
    """Stretches of time as they go out."""
    return [
        Period(
            start=period.start,
            traces=period.traces,
            failures=period.failures,
            verdicts=[
                VerdictCount(error_type=ErrorType(name) if name else None, count=count)
                for name, count in sorted(period.verdicts.items())
            ],
        )
        for period in found
    ]
