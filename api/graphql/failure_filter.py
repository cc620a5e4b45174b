"""Filters and orders of failures, and counts of failures by their verdicts."""

from dataclasses import fields
from datetime import datetime

import strawberry

from api.graphql.scalars import ErrorType, QuestionKind
from api.graphql.times import check_time
from schema.errors import InputError
from store.contract import answers

_LONGEST = 1000


@strawberry.input(
    description="Which failures you want. Every condition that is not null must hold. `method`, `errorType`, "
    "`abstained`, `operation`, `questionKind` and both bounds of confidence must apply to one and the "
    "same verdict."
)
class FailureFilter:
    """See ``store.contract.answers.FailureFilter``."""

    text: str | None = strawberry.field(
        default=None,
        description="Must be in the question, the answer that was given or a gold answer; capitals don't matter.",
    )
    labelled: bool | None = strawberry.field(
        default=None, description="Whether a person has given a verdict (true), or nobody has (false)."
    )
    method: str | None = strawberry.field(
        default=None, description="The method of a verdict, such as `flow`; `human` for a person's."
    )
    error_type: ErrorType | None = strawberry.field(default=None, description="The error type that a verdict names.")
    abstained: bool | None = strawberry.field(default=None, description="Whether a verdict names no error type.")
    operation: str | None = strawberry.field(
        default=None,
        description="The name of the operation that a verdict blames; its category or kind if it has no name.",
    )
    question_kind: QuestionKind | None = strawberry.field(
        default=None, description="What the right answer needs, as a verdict says."
    )
    min_confidence: float | None = strawberry.field(
        default=None,
        description="The least confidence of a verdict, from 0 to 1. A verdict that states none does not count.",
    )
    max_confidence: float | None = strawberry.field(
        default=None,
        description="The greatest confidence of a verdict, from 0 to 1. A verdict that states none does not count.",
    )
    since: datetime | None = strawberry.field(default=None, description="Recorded at this time or later.")
    until: datetime | None = strawberry.field(default=None, description="Recorded before this time.")


strawberry.enum(
    answers.FailureKey,
    description="The value that failures are sorted by. time: when the failure was recorded; confidence, errorType "
    "and operation: a value of its verdict. An operation is sorted by its name, or by its category or "
    "kind if it has no name.",
    graphql_name_from="value",
)


@strawberry.input(
    description="In which order failures are listed. A failure with several matching verdicts is sorted by the "
    "verdict that comes first. Failures without a value come last."
)
class FailureOrder:
    """See ``store.contract.answers.FailureOrder``."""

    by: answers.FailureKey = strawberry.field(description="The value that failures are sorted by.")
    descending: bool = strawberry.field(default=False, description="Whether the largest comes first.")


@strawberry.type(
    description="How many failures have a verdict of one method that names one error type and blames one operation."
)
class VerdictGroup:
    """The fields of ``store.contract.answers.VerdictGroup``."""

    method: str = strawberry.field(description="The method of the verdicts; `human` for people's.")
    error_type: ErrorType | None = strawberry.field(description="The error type; null counts abstentions.")
    operation: str | None = strawberry.field(
        description="The name of the operation, or its category or kind; null if none is blamed."
    )
    failures: int = strawberry.field(description="How many failures.")


def wanted_failures(asked: FailureFilter | None) -> answers.FailureFilter:
    """The store's form of a filter.

    Raises:
        InputError: a text is too long or could not be stored, a confidence is not from 0 to 1, the least confidence is
        above the greatest, or the end of a time is not after its beginning.
    """
    if asked is None:
        return answers.ALL_FAILURES
    for name in ("text", "method", "operation"):
        text: str | None = getattr(asked, name)
        if text is None:
            continue
        if len(text) > _LONGEST:
            raise InputError("filter", name, f"is longer than {_LONGEST:,} characters")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise InputError("filter", name, "has half of a surrogate pair")
    least, most = asked.min_confidence, asked.max_confidence
    for name, bound in (("minConfidence", least), ("maxConfidence", most)):
        if bound is not None and not 0 <= bound <= 1:
            raise InputError("filter", name, f"must be from 0 to 1, not {bound}")
    if least is not None and most is not None and least > most:
        raise InputError("filter", "minConfidence", f"is {least}, above maxConfidence, which is {most}")
    check_time("filter", asked.since, asked.until)
    return answers.FailureFilter(**{field.name: getattr(asked, field.name) for field in fields(asked)})


def wanted_order(asked: FailureOrder | None) -> answers.FailureOrder | None:
    """The store's form of an order."""
    return None if asked is None else answers.FailureOrder(asked.by, asked.descending)


def groups_of(found: list[answers.VerdictGroup]) -> list[VerdictGroup]:
    """The GraphQL types of groups."""
    return [
        VerdictGroup(
            method=group.method,
            error_type=ErrorType(group.error_type) if group.error_type else None,
            operation=group.operation,
            failures=group.failures,
        )
        for group in found
    ]
