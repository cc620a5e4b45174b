"""Jobs in requests and answers."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from fastapi import Header
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from schema.control import Job, JobKind, JobState
from schema.ids import make_id

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="Any text of your choice. A second request with the same text starts nothing: it gets the "
        "receipt of the first.",
    ),
]


_UNKNOWN_TOLD = 10


class Public(BaseModel):
    """A model whose names are public: in camel case. Unknown members are refused; the first ten are told."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, said: Any) -> Any:
        """Leave out unknown members after the first ten: Pydantic makes an error object for each."""
        if not isinstance(said, dict) or len(said) <= len(cls.model_fields) + _UNKNOWN_TOLD:
            return said
        known = {field.alias for field in cls.model_fields.values()}
        unknown = islice((name for name in said if name not in known), _UNKNOWN_TOLD)
        return {name: said[name] for name in (*unknown, *(name for name in said if name in known))}


class Receipt(Public):
    """A job: what was asked for, how far it is, and how it ended."""

    model_config = ConfigDict(validate_by_name=True)

    id: str
    project_id: str
    kind: JobKind
    state: JobState
    created_at: datetime
    created_by: str = Field(description="Who asked for the job.")
    started_at: datetime | None = Field(description="When it was first started; null while it waits.")
    ended_at: datetime | None
    stage: str | None = Field(description="The present stage of the work.")
    done: int = Field(description="How many of `total` items are done.")
    total: int | None = Field(description="How many items there are to do; null while that is not known.")
    result: dict[str, Any] | None = Field(
        description="The result, after the job is done. Its members depend on the kind of job."
    )
    error: str | None = Field(description="Why it failed; null if it did not.")
    attempts: int = Field(description="How many times it was started.")
    cancel_requested: bool


def receipt_of(job: Job) -> Receipt:
    """The receipt of a job."""
    return Receipt(
        id=job.id,
        project_id=job.project_id,
        kind=job.kind,
        state=job.state,
        created_at=job.created_at,
        created_by=job.created_by,
        started_at=job.started_at,
        ended_at=job.ended_at,
        stage=job.stage,
        done=job.done,
        total=job.total,
        result=msgspec.json.decode(job.result) if job.result is not None else None,
        error=job.error,
        attempts=job.attempts,
        cancel_requested=job.cancel_requested,
    )


def accepted(job: Job, response: Response) -> Receipt:
    """The receipt of a job that was accepted; the header ``Location`` names its address."""
    response.headers["Location"] = f"/v1/jobs/{job.id}?project={quote(job.project_id, safe='')}"
    return receipt_of(job)


def job_id_of(project_id: str, kind: JobKind, key: str | None) -> str | None:
    """The id of the job for an idempotency key; None without a key."""
    return make_id("Job", project_id, kind.value, key) if key is not None else None


LOCATION = {"Location": {"description": "The address where you can follow the job.", "schema": {"type": "string"}}}
