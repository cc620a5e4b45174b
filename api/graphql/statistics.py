"""Counts of a project, at the moment and over time."""

from datetime import datetime

import strawberry

from api.graphql.scalars import ErrorType
from store.contract import answers


@strawberry.type(description="How many elements of the graph have a label, or a label and a kind.")
class Count:
    label: str = strawberry.field(
        description="The label: Trace, Session, Operation, Variable, Derivation, Failure or Attribution."
    )
    kind: str | None = strawberry.field(description="The kind; null if all elements with the label are counted.")
    count: int = strawberry.field(description="How many.")


@strawberry.type(description="How many elements a project has.")
class Statistics:
    labels: list[Count] = strawberry.field(description="By label.")
    kinds: list[Count] = strawberry.field(description="By label and kind.")
    right_answers: int = strawberry.field(description="How many answers were judged right.")


@strawberry.type(description="How many verdicts named an error type.")
class VerdictCount:
    error_type: ErrorType | None = strawberry.field(description="The error type; null counts abstentions.")
    count: int = strawberry.field(description="How many.")


@strawberry.type(description="What was added to a project in one period of time.")
class Period:
    """The fields of ``store.contract.answers.Period``."""

    start: datetime = strawberry.field(description="When the period begins.")
    traces: int = strawberry.field(description="How many traces were recorded in it.")
    failures: int = strawberry.field(description="How many failures were recorded in it.")
    verdicts: list[VerdictCount] = strawberry.field(
        description="How many verdicts were given in it, by error type.", metadata={"size": 1}
    )


def statistics_of(found: answers.Stats) -> Statistics:
    """Counts as they go out."""
    labels = [Count(label=label, kind=None, count=count) for label, count in found.labels.items()]
    kinds = [
        Count(label=label, kind=kind, count=count)
        for label, counts in found.kinds.items()
        for kind, count in sorted(counts.items())
    ]
    return Statistics(labels=labels, kinds=kinds, right_answers=found.right_answers)


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
