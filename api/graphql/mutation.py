"""What can be changed. Each mutation names its project, checks the role, and stands in the audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Annotated

import strawberry
from pydantic import ValidationError

from api.auth.access import ProjectDoor
from api.auth.keys import make_key
from api.graphql.context import Info
from api.graphql.inputs import AttributeInput, FailureInput, ImportInput, ReportInput, VerdictInput
from api.graphql.meant import id_of, ids_of
from api.graphql.problems import outcome
from api.graphql.results import (
    CreateKeyResult,
    DeleteTraceResult,
    FailureRecorded,
    JobResult,
    JobStarted,
    KeyCreated,
    KeyRevoked,
    RecordFailureResult,
    RecordVerdictResult,
    RevokeKeyResult,
    TraceDeleted,
    VerdictRecorded,
    VerdictWithdrawn,
    WithdrawVerdictResult,
)
from api.graphql.saying import complaint_of, judgement_of
from api.graphql.scalars import JobKind, Role
from api.graphql.trace import counts_of
from api.jobs.arguments import AttributeArguments, ImportArguments, ReportArguments
from attribution.people import record_verdict, withdraw_verdict
from ingest.events.complaints import record_failure
from schema.errors import InputError
from schema.models import Trace
from store.answers import Label

MAX_NAME = 200

ProjectName = Annotated[str, strawberry.argument(description="The project.")]


@strawberry.type(description="What can be changed. Expected errors are part of each result.")
class Mutation:
    """The roots of mutations."""

    @strawberry.mutation(
        description="Import a small graph file, as a job. Needs the role writer.", metadata={"cost": 100}
    )
    @outcome
    async def import_trace(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[ImportInput, strawberry.argument(description="The file.")],
    ) -> JobResult:
        """Start an import."""
        door = info.context.door(project, Role.WRITER)
        job_id = token_hex(16)
        upload, _ = await info.context.platform.uploads.put(door.project_id, job_id, _once(input.content))
        arguments = ImportArguments(upload=upload, name=input.name, timezone=input.timezone)
        try:
            return await _start(info, door, JobKind.IMPORT, arguments, job_id)
        except InputError:
            await info.context.platform.uploads.delete(upload)
            raise

    @strawberry.mutation(description="Attribute failures, as a job. Needs the role writer.", metadata={"cost": 100})
    @outcome
    async def attribute(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[AttributeInput, strawberry.argument(description="Which failures, and how.")],
    ) -> JobResult:
        """Start an attribution."""
        door = info.context.door(project, Role.WRITER)
        with _valid("attribute"):
            arguments = AttributeArguments(
                failure_ids=tuple(input.failures),
                trace_id=input.trace,
                method=input.method,
                gold_free=input.gold_free,
                retrieve_evidence=input.retrieve_evidence,
            )
        failures = await ids_of(door.store, Label.FAILURE, arguments.failure_ids)
        trace = None if input.trace is None else await id_of(door.store, Label.TRACE, input.trace)
        arguments = arguments.model_copy(update={"failure_ids": tuple(failures), "trace_id": trace})
        return await _start(info, door, JobKind.ATTRIBUTE, arguments)

    @strawberry.mutation(
        description="Make a report, as a job; `GET /v1/reports/{job}` shows it. Needs the role writer.",
        metadata={"cost": 100},
    )
    @outcome
    async def report(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[ReportInput, strawberry.argument(description="What it is about.")],
    ) -> JobResult:
        """Start a report."""
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
        description="Stop a job; what it has done stays. Needs the role writer.", metadata={"cost": 20}
    )
    @outcome
    async def cancel_job(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the job.")],
    ) -> JobResult:
        """Cancel a job."""
        door = info.context.door(project, Role.WRITER)
        return JobStarted(job=await info.context.platform.queue.cancel(door, id))

    @strawberry.mutation(
        description="Say that an answer is wrong. One that is known takes what you add. Needs the role writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def record_failure(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[FailureInput, strawberry.argument(description="The wrong answer.")],
    ) -> RecordFailureResult:
        """Record a failure."""
        door = info.context.door(project, Role.WRITER)
        complaint = await complaint_of(door.store, input)
        failure = await record_failure(door.store, complaint, door.actor, partial(door.entry, "recordFailure"))
        return FailureRecorded(failure=failure)

    @strawberry.mutation(
        description="Say why an answer is wrong; it replaces what you said before. Needs the role writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def record_verdict(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[VerdictInput, strawberry.argument(description="What you found.")],
    ) -> RecordVerdictResult:
        """Record a verdict."""
        door = info.context.door(project, Role.WRITER)
        judgement = await judgement_of(door.store, input)
        verdict = await record_verdict(door.store, judgement, door.actor, partial(door.entry, "recordVerdict"))
        return VerdictRecorded(attribution=verdict)

    @strawberry.mutation(
        description="Take back a person's verdict: your own, as a writer; anybody's, as an admin.",
        metadata={"cost": 20},
    )
    @outcome
    async def withdraw_verdict(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The verdict: an id, or a unique prefix of one.")],
    ) -> WithdrawVerdictResult:
        """Withdraw a verdict."""
        door = info.context.door(project, Role.WRITER)
        author = None if door.role.allows(Role.ADMIN) else door.actor
        found = await id_of(door.store, Label.ATTRIBUTION, id)
        await withdraw_verdict(door.store, found, author, door.entry("withdrawVerdict", found))
        return VerdictWithdrawn(id=strawberry.ID(found))

    @strawberry.mutation(
        description="Delete a trace with all that belongs to it. Needs the role admin.", metadata={"cost": 100}
    )
    @outcome
    async def delete_trace(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[
            strawberry.ID, strawberry.argument(description="The trace: its id, whole, or its id in the source.")
        ],
    ) -> DeleteTraceResult:
        """Delete a trace."""
        door = info.context.door(project, Role.ADMIN)
        found = await door.store.resolve(id, Label.TRACE)
        if not isinstance(found, Trace) or id not in {found.id, found.external_id}:
            # What is gone is gone: half of an id is too little to say what.
            raise InputError(
                "deleteTrace", "id", "is the beginning of an id: give the whole id, or the id in the source"
            )
        counts = await door.store.delete_trace(found.id, door.entry("deleteTrace", found.id))
        return TraceDeleted(id=strawberry.ID(found.id), counts=counts_of(counts))

    @strawberry.mutation(description="Make an API key of the project. Needs the role admin.", metadata={"cost": 20})
    @outcome
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
        door = info.context.door(project, Role.ADMIN)
        now = datetime.now(UTC)
        if not 1 <= len(name) <= MAX_NAME:
            raise InputError("createKey", "name", f"a name of 1 to {MAX_NAME} characters is needed")
        if expires_at is not None and expires_at <= now:
            raise InputError("createKey", "expiresAt", "is past")
        secret, key = make_key(door.project_id, name, role, door.actor, now, expires_at)
        await door.records.add_key(key, door.entry("createKey", key.id))
        return KeyCreated(key=key, secret=secret)

    @strawberry.mutation(description="End an API key of the project. Needs the role admin.", metadata={"cost": 20})
    @outcome
    async def revoke_key(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the key.")],
    ) -> RevokeKeyResult:
        """Revoke a key."""
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
    """What arguments of jobs refuse is the input's fault."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(what, place, str(first["msg"]).removeprefix("Value error, ")) from error
