"""Comparing two sources of verdicts."""

import strawberry

from api.errors import TooManyError
from api.graphql.scalars import ErrorType
from attribution.statistics import kappa
from store.contract.protocol import GraphStore

MAX_FAILURES = 10_000
_PAGE = 1000


@strawberry.type(description="How often the first source named one error type where the second named the other.")
class Confusion:
    first: ErrorType = strawberry.field(description="The error type that the first source named.")
    second: ErrorType = strawberry.field(description="The error type that the second source named.")
    count: int = strawberry.field(description="The number of failures.")


@strawberry.type(
    description="How far two sources of verdicts agree. A source is a method, such as flow, or a person. Only "
    "failures for which both have named an error type are compared."
)
class Agreement:
    """The fields of ``attribution.statistics.kappa.SourceAgreement``."""

    first: str = strawberry.field(description="The first source.")
    second: str = strawberry.field(description="The second source.")
    cases: int = strawberry.field(
        description="How many failures are compared: those for which both sources have named an error type."
    )
    abstained: int = strawberry.field(
        description="How many failures both have judged where at least one of them abstained, that is, named no "
        "error type. These are not compared."
    )
    type_accuracy: float | None = strawberry.field(
        description="The share of cases, from 0 to 1, for which both name the same error type; null without cases."
    )
    type_kappa: float | None = strawberry.field(
        description="Cohen's kappa of the error types: agreement beyond what chance would give. 1 is full agreement, "
        "0 no more than chance."
    )
    operation_accuracy: float | None = strawberry.field(
        description="The share of cases, from 0 to 1, for which both name the same operation, or none."
    )
    operation_kappa: float | None = strawberry.field(
        description="Cohen's kappa of the operations, as for the error types."
    )
    joint_accuracy: float | None = strawberry.field(
        description="The share of cases, from 0 to 1, for which both name the same error type and the same operation."
    )
    joint_kappa: float | None = strawberry.field(
        description="Cohen's kappa of error type and operation together, as for the error types."
    )
    confusion: list[Confusion] = strawberry.field(description="How often each pair of error types was named.")


async def agreement_of(store: GraphStore, first: str, second: str, trace: str | None) -> Agreement | None:
    """How far two sources agree; None if a source gave no verdict.

    Raises:
        TooManyError: the project has too many failures for one answer.
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
            raise TooManyError("failures", MAX_FAILURES, "name a trace")
    given = await store.attributions(failures)
    if not {first, second} <= set(kappa.sources_of(given)):
        return None
    return agreement_type(kappa.agreement(given, first, second))


def agreement_type(found: kappa.SourceAgreement) -> Agreement:
    """The GraphQL type of an agreement."""
    return Agreement(
        first=found.first,
        second=found.second,
        cases=found.cases,
        abstained=found.abstained,
        type_accuracy=found.type_accuracy,
        type_kappa=found.type_kappa,
        operation_accuracy=found.operation_accuracy,
        operation_kappa=found.operation_kappa,
        joint_accuracy=found.joint_accuracy,
        joint_kappa=found.joint_kappa,
        confusion=[
            Confusion(first=ErrorType(one), second=ErrorType(other), count=count)
            for one, row in sorted(found.confusion.items())
            for other, count in sorted(row.items())
        ],
    )
