"""Stretches of time in arguments."""

from datetime import datetime
from typing import Annotated

import strawberry

from schema.errors import InputError
from store.contract.answers import ALWAYS, Span


@strawberry.input(description="A stretch of time. What was recorded without a time is in none.")
class TimeSpan:
    """See ``store.contract.answers.Span``."""

    since: datetime | None = strawberry.field(default=None, description="The first moment; null for no bound.")
    until: datetime | None = strawberry.field(
        default=None, description="The first moment after the end; null for no bound."
    )


Recorded = Annotated[
    TimeSpan | None, strawberry.argument(description="Only what was recorded (operations: what began) in this time.")
]


def check_time(source: str, since: datetime | None, until: datetime | None) -> None:
    """Check that the end of a time is after its beginning.

    Raises:
        InputError: it is not.
    """
    if since is not None and until is not None and until <= since:
        raise InputError(source, "until", "must be after since")


def span_of(asked: TimeSpan | None) -> Span:
    """The store's form of a stretch of time.

    Raises:
        InputError: its end is not after its beginning.
    """
    if asked is None:
        return ALWAYS
    check_time("recorded", asked.since, asked.until)
    return Span(asked.since, asked.until)
