"""Results of mutations: for each a success type, and a union with its expected errors."""

from typing import Annotated

import strawberry

from api.graphql.problems import Problems
from api.graphql.refs import ApiKeyRef, AttributionRef, FailureRef, JobRef, VariableRef
from api.graphql.trace import Counts


@strawberry.type(description="A job was accepted and stored; a crash does not lose it.")
class JobStarted:
    job: JobRef = strawberry.field(description="The job. `Subscription.job` reports its progress.")


@strawberry.type(description="A failure was stored.")
class FailureRecorded:
    failure: FailureRef = strawberry.field(description="The failure.")


@strawberry.type(description="A failure was withdrawn, with all verdicts on it.")
class FailureWithdrawn:
    id: strawberry.ID = strawberry.field(description="The id of what was removed.")
    counts: Counts = strawberry.field(description="How much was deleted.")


@strawberry.type(description="An answer was judged right.")
class RightMarked:
    answer: VariableRef = strawberry.field(description="The answer.")


@strawberry.type(description="A verdict was stored.")
class VerdictRecorded:
    attribution: AttributionRef = strawberry.field(description="The verdict.")


@strawberry.type(description="A verdict was withdrawn.")
class VerdictWithdrawn:
    id: strawberry.ID = strawberry.field(description="The id of what was removed.")


@strawberry.type(description="A trace was deleted, with all that belonged to it.")
class TraceDeleted:
    id: strawberry.ID = strawberry.field(description="The id of what was removed.")
    counts: Counts = strawberry.field(description="How much was deleted.")


@strawberry.type(description="A key was made.")
class KeyCreated:
    key: ApiKeyRef = strawberry.field(description="The stored key, without its secret.")
    secret: str = strawberry.field(description="The key itself. It is shown only now, and stored nowhere.")


@strawberry.type(description="Somebody can be invited.")
class InvitationCreated:
    key: ApiKeyRef = strawberry.field(description="The stored invitation, without its secret.")
    code: str = strawberry.field(
        description="The code for which the person gets a key, once. It is shown only now, and stored nowhere."
    )


@strawberry.type(description="A key was revoked. After about 5 seconds it gives no access.")
class KeyRevoked:
    key: ApiKeyRef = strawberry.field(description="The stored key, without its secret.")


JobResult = Annotated[
    JobStarted | Problems,
    strawberry.union("JobResult", description="The job, or why there is none."),
]
RecordFailureResult = Annotated[
    FailureRecorded | Problems,
    strawberry.union("RecordFailureResult", description="The stored failure, or why nothing was stored."),
]
WithdrawFailureResult = Annotated[
    FailureWithdrawn | Problems,
    strawberry.union("WithdrawFailureResult", description="What was removed, or why nothing was."),
]
MarkRightResult = Annotated[
    RightMarked | Problems,
    strawberry.union("MarkRightResult", description="An answer, or why it was not judged right."),
]
RecordVerdictResult = Annotated[
    VerdictRecorded | Problems,
    strawberry.union("RecordVerdictResult", description="The stored verdict, or why nothing was stored."),
]
WithdrawVerdictResult = Annotated[
    VerdictWithdrawn | Problems,
    strawberry.union("WithdrawVerdictResult", description="What was removed, or why nothing was."),
]
DeleteTraceResult = Annotated[
    TraceDeleted | Problems,
    strawberry.union("DeleteTraceResult", description="What was removed, or why nothing was."),
]
CreateKeyResult = Annotated[
    KeyCreated | Problems,
    strawberry.union("CreateKeyResult", description="The new key, or why none was made."),
]
CreateInvitationResult = Annotated[
    InvitationCreated | Problems,
    strawberry.union("CreateInvitationResult", description="The new invitation, or why none was made."),
]
RevokeKeyResult = Annotated[
    KeyRevoked | Problems,
    strawberry.union("RevokeKeyResult", description="The revoked key, or why it was not revoked."),
]
