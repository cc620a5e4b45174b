"""What mutations give: what they did, or the expected error that kept them from it."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.graphql.problems import Problems
from api.graphql.refs import ApiKeyRef, AttributionRef, FailureRef, JobRef
from api.graphql.trace import Counts


@strawberry.type(description="A job was taken; it is durable.")
class JobStarted:
    """What starts work."""

    job: JobRef = strawberry.field(description="The job; `Subscription.job` follows it.")


@strawberry.type(description="A failure was stored.")
class FailureRecorded:
    """What recordFailure does."""

    failure: FailureRef = strawberry.field(description="The failure.")


@strawberry.type(description="A verdict was stored.")
class VerdictRecorded:
    """What recordVerdict does."""

    attribution: AttributionRef = strawberry.field(description="The verdict.")


@strawberry.type(description="A verdict was taken back.")
class VerdictWithdrawn:
    """What withdrawVerdict does."""

    id: strawberry.ID = strawberry.field(description="The id that it had.")


@strawberry.type(description="A trace was deleted, with all that belonged to it.")
class TraceDeleted:
    """What deleteTrace does."""

    id: strawberry.ID = strawberry.field(description="The id that it had.")
    counts: Counts = strawberry.field(description="How much was deleted.")


@strawberry.type(description="A key was made.")
class KeyCreated:
    """What createKey does."""

    key: ApiKeyRef = strawberry.field(description="What is kept of it.")
    secret: str = strawberry.field(description="The key itself. It is shown this once, and kept nowhere.")


@strawberry.type(description="A key was revoked; it opens nothing from about 5 seconds later on.")
class KeyRevoked:
    """What revokeKey does."""

    key: ApiKeyRef = strawberry.field(description="What is kept of it.")


JobResult = Annotated[
    JobStarted | Problems,
    strawberry.union("JobResult", description="A job, or why there is none."),
]
RecordFailureResult = Annotated[
    FailureRecorded | Problems,
    strawberry.union("RecordFailureResult", description="A failure, or why there is none."),
]
RecordVerdictResult = Annotated[
    VerdictRecorded | Problems,
    strawberry.union("RecordVerdictResult", description="A verdict, or why there is none."),
]
WithdrawVerdictResult = Annotated[
    VerdictWithdrawn | Problems,
    strawberry.union("WithdrawVerdictResult", description="That it is gone, or why it is not."),
]
DeleteTraceResult = Annotated[
    TraceDeleted | Problems,
    strawberry.union("DeleteTraceResult", description="That it is gone, or why it is not."),
]
CreateKeyResult = Annotated[
    KeyCreated | Problems,
    strawberry.union("CreateKeyResult", description="A key, or why there is none."),
]
RevokeKeyResult = Annotated[
    KeyRevoked | Problems,
    strawberry.union("RevokeKeyResult", description="That it is revoked, or why it is not."),
]
