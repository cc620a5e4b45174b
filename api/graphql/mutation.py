"""All mutations. Each names its project, checks the role, and is written to the audit log."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Annotated

import strawberry
from pydantic import ValidationError

from api.auth.access import ProjectDoor
from api.auth.invitations import make_invitation
from api.auth.keys import make_key
from api.graphql.annotating import AnnotationMutations
from api.graphql.context import Info
from api.graphql.inputs import AttributeInput, FailureInput, ImportInput, ProjectName, ReportInput, VerdictInput
from api.graphql.judgements import complaint_of, judgement_of
from api.graphql.problems import outcome
from api.graphql.resolving import id_of, ids_of
from api.graphql.results import (
    CreateInvitationResult,
    CreateKeyResult,
    DeleteTraceResult,
    FailureRecorded,
    FailureWithdrawn,
    InvitationCreated,
    JobResult,
    JobStarted,
    KeyCreated,
    KeyRevoked,
    MarkRightResult,
    RecordFailureResult,
    RecordVerdictResult,
    RevokeKeyResult,
    RightMarked,
    TraceDeleted,
    VerdictRecorded,
    VerdictWithdrawn,
    WithdrawFailureResult,
    WithdrawVerdictResult,
)
from api.graphql.retention import RetentionMutations
from api.graphql.scalars import JobKind, Role
from api.graphql.trace import counts_of
from api.jobs.arguments import AttributeArguments, ImportArguments, ReportArguments
from attribution.review.people import record_verdict, withdraw_verdict
from ingest.events.feedback import find_reported, record_failure, record_right, withdraw_failure
from schema.errors import InputError
from schema.models import Trace, Variable
from store.contract.answers import Label

MAX_NAME = 200


@strawberry.type(
    description="All changes that you can make. Errors to be expected, such as NotFound, are among the possible "
    "results of each."
)
class Mutation(AnnotationMutations, RetentionMutations):
    @strawberry.mutation(
        description="Start a job that imports a small graph file. Needs the role writer.", metadata={"cost": 100}
    )
    @outcome
    async def import_trace(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[ImportInput, strawberry.argument(description="The file.")],
    ) -> JobResult:
        door = info.context.door(project, Role.WRITER)
        job_id = token_hex(16)
        upload, _ = await info.context.platform.uploads.put(door.project_id, job_id, _once(input.content))
        arguments = ImportArguments(upload=upload, name=input.name, timezone=input.timezone)
        try:
            return await _start(info, door, JobKind.IMPORT, arguments, job_id)
        except InputError:
            await info.context.platform.uploads.delete(upload)
            raise

    @strawberry.mutation(
        description="Start a job that attributes failures: finds the operations at fault. Needs the role writer.",
        metadata={"cost": 100},
    )
    @outcome
    async def attribute(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[AttributeInput, strawberry.argument(description="Which failures, and how.")],
    ) -> JobResult:
        door = info.context.door(project, Role.WRITER)
        with _valid("attribute"):
            arguments = AttributeArguments(
                failure_ids=tuple(input.failures),
                trace_id=input.trace,
                method=input.method,
                gold_free=input.gold_free,
                retrieve_evidence=input.retrieve_evidence,
                min_confidence=input.min_confidence,
            )
        failures = await ids_of(door.store, Label.FAILURE, arguments.failure_ids)
        trace = None if input.trace is None else await id_of(door.store, Label.TRACE, input.trace)
        arguments = arguments.model_copy(update={"failure_ids": tuple(failures), "trace_id": trace})
        return await _start(info, door, JobKind.ATTRIBUTE, arguments)

    @strawberry.mutation(
        description="Start a job that makes a report; `GET /v1/reports/{job}` shows the report. Needs the role writer.",
        metadata={"cost": 100},
    )
    @outcome
    async def report(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[ReportInput, strawberry.argument(description="What the report is about.")],
    ) -> JobResult:
        door = info.context.door(project, Role.WRITER)
        with _valid("report"):
            arguments = ReportArguments(
                trace_ids=tuple(input.traces), failure_ids=tuple(input.failures), source=input.source
            )
        traces = await ids_of(door.store, Label.TRACE, arguments.trace_ids)
        failures = await ids_of(door.store, Label.FAILURE, arguments.failure_ids)
        arguments = arguments.model_copy(update={"trace_ids": tuple(traces), "failure_ids": tuple(failures)})
        return await _start(info, door, JobKind.REPORT, arguments)

    @strawberry.mutation(
        description="Cancel a job. The finished part of its work stays. Needs the role writer.", metadata={"cost": 20}
    )
    @outcome
    async def cancel_job(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the job.")],
    ) -> JobResult:
        door = info.context.door(project, Role.WRITER)
        return JobStarted(job=await info.context.platform.queue.cancel(door, id))

    @strawberry.mutation(
        description="Record that an answer is wrong. If that is already recorded, what you say is added to it. Needs "
        "the role writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def record_failure(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[FailureInput, strawberry.argument(description="The wrong answer.")],
    ) -> RecordFailureResult:
        door = info.context.door(project, Role.WRITER)
        complaint = await complaint_of(door.store, input)
        failure = await record_failure(door.store, complaint, door.actor, partial(door.entry, "recordFailure"))
        return FailureRecorded(failure=failure)

    @strawberry.mutation(
        description="Withdraw a failure that a user reported, with all verdicts on it: nobody has judged its answer "
        "then, unless another failure has the same answer. Needs the role writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def withdraw_failure(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[
            strawberry.ID,
            strawberry.argument(
                description="The failure: an id, or a unique prefix of one. Or the answer of a failure, if users "
                "reported only one failure of this answer."
            ),
        ],
    ) -> WithdrawFailureResult:
        door = info.context.door(project, Role.WRITER)
        failure = await find_reported(door.store, id)
        counts = await withdraw_failure(door.store, failure, partial(door.entry, "withdrawFailure"))
        return FailureWithdrawn(id=strawberry.ID(failure.id), counts=counts_of(counts))

    @strawberry.mutation(
        description="Record that an answer is right. An answer that was recorded as wrong stays wrong. Needs the role "
        "writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def mark_right(
        self,
        info: Info,
        project: ProjectName,
        answer: Annotated[
            strawberry.ID,
            strawberry.argument(description="The answer: its id, a unique prefix of it, or its id in the source."),
        ],
    ) -> MarkRightResult:
        door = info.context.door(project, Role.WRITER)
        found = await door.store.resolve(answer, Label.VARIABLE)
        assert isinstance(found, Variable)
        return RightMarked(answer=await record_right(door.store, found, entry_of=partial(door.entry, "markRight")))

    @strawberry.mutation(
        description="Record why an answer is wrong. This replaces your earlier verdict on the same failure, which "
        "stays in the history. Needs the role writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def record_verdict(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[VerdictInput, strawberry.argument(description="Your verdict.")],
    ) -> RecordVerdictResult:
        door = info.context.door(project, Role.WRITER)
        judgement = await judgement_of(door.store, input)
        verdict = await record_verdict(door.store, judgement, door.author, partial(door.entry, "recordVerdict"))
        return VerdictRecorded(attribution=verdict)

    @strawberry.mutation(
        description="Withdraw a person's verdict. A writer may withdraw their own, an admin anybody's.",
        metadata={"cost": 20},
    )
    @outcome
    async def withdraw_verdict(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The verdict: an id, or a unique prefix of one.")],
    ) -> WithdrawVerdictResult:
        door = info.context.door(project, Role.WRITER)
        author = None if door.role.allows(Role.ADMIN) else door.author
        found = await id_of(door.store, Label.ATTRIBUTION, id)
        await withdraw_verdict(door.store, found, author, door.entry("withdrawVerdict", found), door.author)
        return VerdictWithdrawn(id=strawberry.ID(found))

    @strawberry.mutation(
        description="Delete a trace and everything that belongs to it. Needs the role admin.", metadata={"cost": 100}
    )
    @outcome
    async def delete_trace(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[
            strawberry.ID, strawberry.argument(description="The trace: its whole id, or its id in the source.")
        ],
    ) -> DeleteTraceResult:
        door = info.context.door(project, Role.ADMIN)
        found = await door.store.resolve(id, Label.TRACE)
        if not isinstance(found, Trace) or id not in {found.id, found.external_id}:
            # A deletion can't be undone, so a prefix of an id is not accepted.
            problem = f"is the beginning of {found.id}: a trace is deleted by its whole id, or by its id in the source"
            raise InputError("deleteTrace", "id", problem)
        counts = await door.store.delete_trace(found.id, door.entry("deleteTrace", found.id))
        return TraceDeleted(id=strawberry.ID(found.id), counts=counts_of(counts))

    @strawberry.mutation(description="Make an API key of the project. Needs the role admin.", metadata={"cost": 20})
    @outcome
    async def create_key(
        self,
        info: Info,
        project: ProjectName,
        name: Annotated[str, strawberry.argument(description="What the key is for, as its maker said.")],
        role: Annotated[
            Role, strawberry.argument(description="What somebody with this key may do in the project.")
        ] = Role.READER,
        expires_at: Annotated[
            datetime | None, strawberry.argument(description="When it expires; null if it never does.")
        ] = None,
        person: Annotated[
            str | None,
            strawberry.argument(
                description="The owner of the key: the author of verdicts that are sent with the key. If null, the "
                "key's name is the author."
            ),
        ] = None,
    ) -> CreateKeyResult:
        door = info.context.door(project, Role.ADMIN)
        now = datetime.now(UTC)
        if not 1 <= len(name) <= MAX_NAME:
            raise InputError("createKey", "name", f"a name of 1 to {MAX_NAME} characters is needed")
        if expires_at is not None and expires_at <= now:
            raise InputError("createKey", "expiresAt", "is past")
        secret, key = make_key(door.project_id, name, role, door.actor, now, expires_at, person)
        await door.records.add_key(key, door.entry("createKey", key.id))
        return KeyCreated(key=key, secret=secret)

    @strawberry.mutation(
        description="Invite a person: make a code for which they get a key of their own, once, on the page "
        "`/ui/invitation`. Needs the role admin.",
        metadata={"cost": 20},
    )
    @outcome
    async def create_invitation(
        self,
        info: Info,
        project: ProjectName,
        person: Annotated[str, strawberry.argument(description="The author of verdicts that are sent with the key.")],
        expires_at: Annotated[
            datetime, strawberry.argument(description="Until when the code can be used: at most 30 days from now.")
        ],
        role: Annotated[
            Role, strawberry.argument(description="What the person may do in the project; not admin.")
        ] = Role.ANNOTATOR,
    ) -> CreateInvitationResult:
        door = info.context.door(project, Role.ADMIN)
        code, key = make_invitation(door.project_id, person, role, door.actor, datetime.now(UTC), expires_at)
        await door.records.add_key(key, door.entry("createInvitation", key.id))
        return InvitationCreated(key=key, code=code)

    @strawberry.mutation(description="Revoke an API key of the project. Needs the role admin.", metadata={"cost": 20})
    @outcome
    async def revoke_key(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the key.")],
    ) -> RevokeKeyResult:
        door = info.context.door(project, Role.ADMIN)
        key = await door.records.revoke_key(id, datetime.now(UTC), door.entry("revokeKey", id))
        return KeyRevoked(key=key)


async def _start(
    info: Info,
    door: ProjectDoor,
    kind: JobKind,
    arguments: ImportArguments | AttributeArguments | ReportArguments,
    job_id: str | None = None,
) -> JobStarted:
    return JobStarted(job=await info.context.platform.queue.submit(door, kind, arguments, job_id))


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode("utf-8", "surrogatepass")


@contextmanager
def _valid(what: str) -> Iterator[None]:
    """The result of a check; a validation error becomes an ``InputError``."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(what, place, str(first["msg"]).removeprefix("Value error, ")) from error
