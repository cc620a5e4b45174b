"""What can be changed. Each mutation names its project, checks the role, and stands in the audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from secrets import token_hex
from typing import Annotated

import strawberry
from pydantic import ValidationError

from api.auth.access import ProjectDoor
from api.auth.keys import make_key
from api.graphql.context import Info
from api.graphql.keys import ApiKey
from api.graphql.problems import Conflict, Forbidden, InvalidInput, NotFound, outcome
from api.graphql.refs import AttributionRef, FailureRef, JobRef
from api.graphql.scalars import ErrorType, JobKind, Method, Role
from api.graphql.trace import Counts, counts_of
from api.jobs.arguments import AttributeArguments, ImportArguments, ReportArguments
from attribution.people import Complaint, Judgement, record_failure, record_verdict, withdraw_verdict
from schema.errors import InputError

MAX_NAME = 200

ProjectName = Annotated[str, strawberry.argument(description="The project.")]


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

    key: ApiKey = strawberry.field(description="What is kept of it.")
    secret: str = strawberry.field(description="The key itself. It is shown this once, and kept nowhere.")


@strawberry.type(description="A key was revoked; it opens nothing from about 5 seconds later on.")
class KeyRevoked:
    """What revokeKey does."""

    key: ApiKey = strawberry.field(description="What is kept of it.")


@strawberry.input(description="A wrong answer.")
class FailureInput:
    """See ``attribution.people.Complaint``."""

    question: strawberry.ID = strawberry.field(description="The id of the variable that was asked.")
    answer: strawberry.ID | None = strawberry.field(
        default=None, description="The id of the variable that was answered."
    )
    gold_answers: list[str] = strawberry.field(
        default_factory=list, description="Answers that would have been right, where they are known."
    )
    evidence: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="Ids of the messages that hold the answer, where they are known."
    )
    comment: str | None = strawberry.field(default=None, description="What else there is to say.")


@strawberry.input(description="Why an answer is wrong, as a person sees it.")
class VerdictInput:
    """See ``attribution.people.Judgement``."""

    failure: strawberry.ID = strawberry.field(description="The id of the failure.")
    error_type: ErrorType | None = strawberry.field(default=None, description="Why; null is an abstention.")
    operation: strawberry.ID | None = strawberry.field(default=None, description="The id of the operation at fault.")
    reason: str | None = strawberry.field(default=None, description="Why, in words.")
    confidence: float | None = strawberry.field(default=None, description="How sure you are, 0 to 1.")


@strawberry.input(description="Failures to attribute: those that are named, or a trace's, or all.")
class AttributeInput:
    """See ``api.jobs.arguments.AttributeArguments``."""

    failures: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of failures.")
    trace: strawberry.ID | None = strawberry.field(default=None, description="The id of a trace.")
    method: Method = strawberry.field(default=Method.FLOW, description="How; flow is free.")
    gold_free: bool = strawberry.field(default=False, description="Do without the gold answers.")
    retrieve_evidence: bool = strawberry.field(default=False, description="Find the evidence, also where it is given.")


@strawberry.input(description="What a report is about; everything where nothing is named.")
class ReportInput:
    """See ``api.jobs.arguments.ReportArguments``."""

    traces: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of traces.")
    failures: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of failures.")
    source: str | None = strawberry.field(
        default=None, description="Whose verdicts count: a method or an author; null is the newest method's."
    )


@strawberry.input(description="A small graph file; larger ones go to `POST /v1/import`.")
class ImportInput:
    """A file as text."""

    content: str = strawberry.field(description="The file's text, JSON in the source's own format.")
    name: str = strawberry.field(default="upload.json", description="What you call it; it stands in errors.")
    timezone: str = strawberry.field(default="UTC", description="The zone of times that do not say theirs.")


JobResult = Annotated[
    JobStarted | NotFound | Forbidden | InvalidInput | Conflict,
    strawberry.union("JobResult", description="A job, or why there is none."),
]
RecordFailureResult = Annotated[
    FailureRecorded | NotFound | Forbidden | InvalidInput | Conflict,
    strawberry.union("RecordFailureResult", description="A failure, or why there is none."),
]
RecordVerdictResult = Annotated[
    VerdictRecorded | NotFound | Forbidden | InvalidInput | Conflict,
    strawberry.union("RecordVerdictResult", description="A verdict, or why there is none."),
]
WithdrawVerdictResult = Annotated[
    VerdictWithdrawn | NotFound | Forbidden | InvalidInput | Conflict,
    strawberry.union("WithdrawVerdictResult", description="That it is gone, or why it is not."),
]
DeleteTraceResult = Annotated[
    TraceDeleted | NotFound | Forbidden | InvalidInput | Conflict,
    strawberry.union("DeleteTraceResult", description="That it is gone, or why it is not."),
]
CreateKeyResult = Annotated[
    KeyCreated | NotFound | Forbidden | InvalidInput | Conflict,
    strawberry.union("CreateKeyResult", description="A key, or why there is none."),
]
RevokeKeyResult = Annotated[
    KeyRevoked | NotFound | Forbidden | InvalidInput | Conflict,
    strawberry.union("RevokeKeyResult", description="That it is revoked, or why it is not."),
]


@strawberry.type(description="What can be changed. Expected errors are part of each result.")
class Mutation:
    """The roots of mutations."""

    @strawberry.mutation(
        description="Import a small graph file, as a job. Needs the role writer.", metadata={"cost": 100}
    )
    async def import_trace(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[ImportInput, strawberry.argument(description="The file.")],
    ) -> JobResult:
        """Start an import."""

        async def work() -> JobStarted:
            door = info.context.door(project, Role.WRITER)
            job_id = token_hex(16)
            upload, _ = await info.context.platform.uploads.put(door.project_id, job_id, _once(input.content))
            arguments = ImportArguments(upload=upload, name=input.name, timezone=input.timezone)
            try:
                return await _start(info, door, JobKind.IMPORT, arguments, job_id)
            except InputError:
                await info.context.platform.uploads.delete(upload)
                raise

        return await outcome(work())

    @strawberry.mutation(description="Attribute failures, as a job. Needs the role writer.", metadata={"cost": 100})
    async def attribute(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[AttributeInput, strawberry.argument(description="Which failures, and how.")],
    ) -> JobResult:
        """Start an attribution."""

        async def work() -> JobStarted:
            door = info.context.door(project, Role.WRITER)
            try:
                arguments = AttributeArguments(
                    failure_ids=tuple(input.failures),
                    trace_id=input.trace,
                    method=input.method,
                    gold_free=input.gold_free,
                    retrieve_evidence=input.retrieve_evidence,
                )
            except ValidationError as error:
                raise _invalid("attribute", error) from error
            return await _start(info, door, JobKind.ATTRIBUTE, arguments)

        return await outcome(work())

    @strawberry.mutation(
        description="Make a report, as a job; `GET /v1/reports/{job}` shows it. Needs the role writer.",
        metadata={"cost": 100},
    )
    async def report(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[ReportInput, strawberry.argument(description="What it is about.")],
    ) -> JobResult:
        """Start a report."""

        async def work() -> JobStarted:
            door = info.context.door(project, Role.WRITER)
            try:
                arguments = ReportArguments(
                    trace_ids=tuple(input.traces), failure_ids=tuple(input.failures), source=input.source
                )
            except ValidationError as error:
                raise _invalid("report", error) from error
            return await _start(info, door, JobKind.REPORT, arguments)

        return await outcome(work())

    @strawberry.mutation(
        description="Stop a job; what it has done stays. Needs the role writer.", metadata={"cost": 20}
    )
    async def cancel_job(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the job.")],
    ) -> JobResult:
        """Cancel a job."""

        async def work() -> JobStarted:
            door = info.context.door(project, Role.WRITER)
            return JobStarted(job=await info.context.platform.queue.cancel(door, id))

        return await outcome(work())

    @strawberry.mutation(
        description="Say that an answer is wrong. One that is known takes what you add. Needs the role writer.",
        metadata={"cost": 20},
    )
    async def record_failure(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[FailureInput, strawberry.argument(description="The wrong answer.")],
    ) -> RecordFailureResult:
        """Record a failure."""

        async def work() -> FailureRecorded:
            door = info.context.door(project, Role.WRITER)
            complaint = Complaint(
                input.question, input.answer, tuple(input.gold_answers), tuple(input.evidence), input.comment
            )
            failure = await record_failure(door.store, complaint, door.actor)
            await door.audit("recordFailure", failure.id)
            return FailureRecorded(failure=failure)

        return await outcome(work())

    @strawberry.mutation(
        description="Say why an answer is wrong; it replaces what you said before. Needs the role writer.",
        metadata={"cost": 20},
    )
    async def record_verdict(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[VerdictInput, strawberry.argument(description="What you found.")],
    ) -> RecordVerdictResult:
        """Record a verdict."""

        async def work() -> VerdictRecorded:
            door = info.context.door(project, Role.WRITER)
            judgement = Judgement(input.failure, input.error_type, input.operation, input.reason, input.confidence)
            verdict = await record_verdict(door.store, judgement, door.actor)
            await door.audit("recordVerdict", verdict.id)
            return VerdictRecorded(attribution=verdict)

        return await outcome(work())

    @strawberry.mutation(
        description="Take back a person's verdict: your own, as a writer; anybody's, as an admin.",
        metadata={"cost": 20},
    )
    async def withdraw_verdict(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the verdict.")],
    ) -> WithdrawVerdictResult:
        """Withdraw a verdict."""

        async def work() -> VerdictWithdrawn:
            door = info.context.door(project, Role.WRITER)
            await withdraw_verdict(door.store, id, None if door.role.allows(Role.ADMIN) else door.actor)
            await door.audit("withdrawVerdict", id)
            return VerdictWithdrawn(id=id)

        return await outcome(work())

    @strawberry.mutation(
        description="Delete a trace with all that belongs to it. Needs the role admin.", metadata={"cost": 100}
    )
    async def delete_trace(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the trace, whole.")],
    ) -> DeleteTraceResult:
        """Delete a trace."""

        async def work() -> TraceDeleted:
            door = info.context.door(project, Role.ADMIN)
            counts = await door.store.delete_trace(id)
            await door.audit("deleteTrace", id)
            return TraceDeleted(id=id, counts=counts_of(counts))

        return await outcome(work())

    @strawberry.mutation(description="Make an API key of the project. Needs the role admin.", metadata={"cost": 20})
    async def create_key(
        self,
        info: Info,
        project: ProjectName,
        name: Annotated[str, strawberry.argument(description="What it is for.")],
        role: Annotated[Role, strawberry.argument(description="What its bearer may do.")] = Role.READER,
        expires_at: Annotated[
            datetime | None, strawberry.argument(description="From when on it opens nothing; null is never.")
        ] = None,
    ) -> CreateKeyResult:
        """Create a key."""

        async def work() -> KeyCreated:
            door = info.context.door(project, Role.ADMIN)
            now = datetime.now(UTC)
            if not 1 <= len(name) <= MAX_NAME:
                raise InputError("createKey", "name", f"a name of 1 to {MAX_NAME} characters is needed")
            if expires_at is not None and expires_at <= now:
                raise InputError("createKey", "expiresAt", "is past")
            secret, key = make_key(door.project_id, name, role, door.actor, now, expires_at)
            await door.records.add_key(key)
            await door.audit("createKey", key.id)
            return KeyCreated(key=key, secret=secret)  # type: ignore[arg-type]

        return await outcome(work())

    @strawberry.mutation(description="End an API key of the project. Needs the role admin.", metadata={"cost": 20})
    async def revoke_key(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the key.")],
    ) -> RevokeKeyResult:
        """Revoke a key."""

        async def work() -> KeyRevoked:
            door = info.context.door(project, Role.ADMIN)
            key = await door.records.revoke_key(id, datetime.now(UTC))
            await door.audit("revokeKey", key.id)
            return KeyRevoked(key=key)  # type: ignore[arg-type]

        return await outcome(work())


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


def _invalid(what: str, error: ValidationError) -> InputError:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return InputError(what, place, str(first["msg"]).removeprefix("Value error, "))
