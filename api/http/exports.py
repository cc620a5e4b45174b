"""Giving traces back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path
from starlette.responses import StreamingResponse

from api.http.dependencies import Reader
from api.http.documented import answers, binary
from api.http.files import attachment, gzipped, streamed, takes_gzip
from ingest.files.registry import format_of_trace
from schema.errors import NotFoundError
from schema.models import Trace
from store.answers import Label

router = APIRouter(prefix="/v1", tags=["traces"])

_HEADERS = {"Content-Disposition": "A name for the file.", "Vary": "Accept-Encoding."}


@router.get(
    "/export/{trace}",
    response_class=StreamingResponse,
    responses=answers(
        409,
        ok={200: binary("The trace, in the format in which it was recorded.", "application/json", headers=_HEADERS)},
    ),
)
async def export(
    door: Reader,
    reference: Annotated[
        str,
        Path(
            alias="trace",
            max_length=1000,
            description="The trace's id, a unique prefix of it of 8 or more characters, or its external id.",
        ),
    ],
    accept_encoding: Annotated[
        str, Header(max_length=1000, description="With `gzip` the response is compressed.")
    ] = "",
) -> StreamingResponse:
    """A trace as it was recorded, in the format in which it came in, without the verdicts that were added since."""
    trace = await door.store.resolve(reference, Label.TRACE)
    if not isinstance(trace, Trace):
        raise NotFoundError(reference, Label.TRACE.value)
    written = format_of_trace(trace)
    blocks = streamed(lambda file: written.write(door.store, trace.id, file))
    headers = attachment(f"{trace.external_id}{written.suffix}") | {"Vary": "Accept-Encoding"}
    if takes_gzip(accept_encoding):
        blocks = gzipped(blocks)
        headers["Content-Encoding"] = "gzip"
    return StreamingResponse(blocks, headers=headers, media_type=written.media_type)
