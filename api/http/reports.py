"""Reports of jobs, in the requested format."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.http.dependencies import Reader, platform_of
from api.http.documented import answers, binary
from api.http.files import attachment
from api.http.jobs import JobPath
from api.http.windows import WINDOW_BYTES, Windows
from attribution.report import html, markdown
from attribution.report.model import ReportData
from schema.control import JobKind, JobState
from schema.errors import NotFoundError

router = APIRouter(prefix="/v1", tags=["reports"])

_PAGE = {
    # The page brings its style and its charts, and needs nothing else: no script, no network, no frame around it.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-popups",
    "X-Content-Type-Options": "nosniff",
}


_TYPES = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
}


class Form(StrEnum):
    """The format of a report."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


@router.get(
    "/reports/{job}",
    response_class=Response,
    responses=answers(409, ok={200: binary("The report.", "application/json", "text/html", "text/markdown")}),
)
async def read_report(
    door: Reader,
    request: Request,
    job_id: JobPath,
    form: Annotated[Form, Query(alias="format", description="The format of the report.")] = Form.JSON,
) -> Response:
    """The report that a job made."""
    found = await door.records.jobs([job_id])
    if not found or found[0].kind is not JobKind.REPORT:
        raise NotFoundError(job_id, "report")
    job = found[0]
    if job.state is JobState.DONE and job.error is not None:
        raise HTTPException(409, job.error)
    if job.state is not JobState.DONE or job.result is None:
        raise HTTPException(409, f"the report is not there: its job is {job.state}")
    text = job.result if form is Form.JSON else await asyncio.to_thread(_rendered, job.result, form)
    data = text.encode()
    headers = {"Content-Type": _TYPES[form]}
    if form is Form.HTML:
        headers |= _PAGE
    elif form is Form.MARKDOWN:
        headers |= attachment(f"report-{job.id}.md")
    if len(data) <= WINDOW_BYTES:
        return Response(data, headers=headers)

    async def read() -> bytes:
        return data

    return Windows(platform_of(request).copies, (door.project_id, job.id, form), len(data), read, headers)


def _rendered(result: str, form: Form) -> str:
    data = msgspec.json.decode(result, type=ReportData)
    return html.render(data) if form is Form.HTML else markdown.render(data)
