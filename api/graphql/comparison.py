"""Comparing two sources of verdicts."""

from __future__ import annotations

import strawberry

from api.graphql.scalars import ErrorType
from attribution import kappa
from schema.errors import InputError
from store.protocol import GraphStore

MAX_FAILURES = 10_000
_PAGE = 1000


@strawberry.type(description="How often two error types met: one of the first source, one of the second.")
class Confusion:
    """A cell of the confusion matrix."""

    first: ErrorType = strawberry.field(description="What the first source said.")
    second: ErrorType = strawberry.field(description="What the second source said.")
    count: int = strawberry.field(description="On how many failures.")


@strawberry.type(description="How far two sources agree on the failures on which both have named an error type.")
class Agreement:
    """Read off ``attribution.kappa.Agreement``."""

    first: str = strawberry.field(description="The first source.")
    second: str = strawberry.field(description="The second source.")
    cases: int = strawberry.field(description="Failures that both have judged, without abstentions.")
    abstained: int = strawberry.field(description="Failures on which at least one of them abstained.")
    type_accuracy: float | None = strawberry.field(description="Share of cases with the same error type.")
    type_kappa: float | None = strawberry.field(description="Cohen's kappa of the error types: chance counted out.")
    operation_accuracy: float | None = strawberry.field(description="Share of cases with the same operation.")
    operation_kappa: float | None = strawberry.field(description="Cohen's kappa of the operations.")
    joint_accuracy: float | None = strawberry.field(description="Share of cases with both the same.")
    confusion: list[Confusion] = strawberry.field(description="Which error types met how often.")


async def agreement_of(store: GraphStore, first: str, second: str, trace: str | None) -> Agreement | None:
    """How far two sources agree; None where one of them gave no verdict.

    Raises:
        InputError: there are too many failures for one answer.
    """
    failures: list[str] = []
    after: str | None = None
    while True:
        page = await store.failures(trace, _PAGE, after)
        failures += [failure.id for failure in page.items]
        after = page.next
        if after is None:
            break
        if len(failures) >= MAX_FAILURES:
            raise InputError("agreement", "", f"there are more than {MAX_FAILURES:,} failures: name a trace")
    given = await store.attributions(failures)
    if not {first, second} <= set(kappa.sources_of(given)):
        return None
    found = kappa.agreement(given, first, second)
    return Agreement(
        first=first,
        second=second,
        cases=found.cases,
        abstained=found.abstained,
        type_accuracy=found.type_accuracy,
        type_kappa=found.type_kappa,
        operation_accuracy=found.operation_accuracy,
        operation_kappa=found.operation_kappa,
        joint_accuracy=found.joint_accuracy,
        confusion=[
            Confusion(first=ErrorType(one), second=ErrorType(other), count=count)
            for one, row in sorted(found.confusion.items())
            for other, count in sorted(row.items())
        ],
    )
