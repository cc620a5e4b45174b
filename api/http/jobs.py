"""Starting, reading and cancelling jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from fastapi import Request as HttpRequest
from pydantic import FailFast, Field, model_validator

from api.http.dependencies import Reader, Writer, platform_of
from api.http.documented import Responses, answers
from api.http.receipts import LOCATION, IdempotencyKey, Public, Receipt, accepted, job_id_of, receipt_of
from api.jobs.arguments import AttributeArguments, ReportArguments
from attribution.verdicts.verdict import Method
from schema.control import JobKind
from schema.errors import NotFoundError

router = APIRouter(prefix="/v1", tags=["jobs"])

JobPath = Annotated[str, Path(alias="job", max_length=200, description="The id of the job, as in its receipt.")]
_ACCEPTED: Responses = {202: {"description": "The job is stored, and will be run.", "headers": LOCATION}}
_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Ids = Annotated[tuple[_Id, ...], FailFast()]
"""Ids; only the first wrong one is told, because an error object for each of thousands would take long."""


class AttributionRequest(Public):
    """Which failures to attribute, and how. If no failures and no trace are named: all of the project."""

    failure_ids: _Ids = Field((), max_length=10_000)
    trace_id: _Id | None = None
    method: Method = Field(
        Method.FLOW,
        description="How to find the cause. All methods but `flow` need a language model, which the server's "
        "settings name.",
    )
    gold_free: bool = Field(
        False, description="Work without the gold answers (the known right answers), even if there are some."
    )
    retrieve_evidence: bool = Field(
        False, description="Search for the evidence messages, even if the failure names them."
    )
    min_confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Verdicts with a lower confidence (0 to 1) become abstentions, which show their candidates. If "
        "null: the fitted threshold for flow with gold answers, 0 for all else.",
    )

    @model_validator(mode="after")
    def _one_choice(self) -> AttributionRequest:
        if self.failure_ids and self.trace_id is not None:
            raise ValueError("name failures or a trace, not both")
        return self


class ReportRequest(Public):
    """What to report on. If no failures and traces are named: all of the project."""

    trace_ids: _Ids = Field((), max_length=1000)
    failure_ids: _Ids = Field((), max_length=10_000)
    source: _Id | None = Field(
        None,
        description="Whose verdicts the report uses: a method or a person. If null, the method with the newest "
        "verdict.",
    )


@router.post("/attributions", status_code=202, responses=answers(ok=_ACCEPTED))
async def start_attribution(
    door: Writer, http: HttpRequest, response: Response, asked: AttributionRequest, key: IdempotencyKey = None
) -> Receipt:
    """Find the operations that made answers wrong. The verdicts are stored with the failures."""
    arguments = AttributeArguments(**asked.model_dump())
    job_id = job_id_of(door.project_id, JobKind.ATTRIBUTE, key)
    return accepted(await platform_of(http).queue.submit(door, JobKind.ATTRIBUTE, arguments, job_id), response)


@router.post("/reports", status_code=202, responses=answers(ok=_ACCEPTED))
async def start_report(
    door: Writer, http: HttpRequest, response: Response, asked: ReportRequest, key: IdempotencyKey = None
) -> Receipt:
    """Start a job that makes a report on failures and their verdicts; read the report at `/v1/reports/{job}`."""
    arguments = ReportArguments(**asked.model_dump())
    job_id = job_id_of(door.project_id, JobKind.REPORT, key)
    return accepted(await platform_of(http).queue.submit(door, JobKind.REPORT, arguments, job_id), response)


@router.get("/jobs/{job}", responses=answers())
async def read_job(door: Reader, job_id: JobPath) -> Receipt:
    """The state of a job."""
    found = await door.records.jobs([job_id])
    if not found:
        raise NotFoundError(job_id, "job")
    return receipt_of(found[0])


@router.delete("/jobs/{job}", responses=answers())
async def cancel_job(door: Writer, http: HttpRequest, job_id: JobPath) -> Receipt:
    """Ask to stop a job.

    A waiting job is cancelled at once. A running job stops at its next step, unless it ends before. A job that has
    ended does not change.
    """
    return receipt_of(await platform_of(http).queue.cancel(door, job_id))
