"""Exporting traces."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import StreamingResponse

from api.http.dependencies import Reader
from api.http.documented import answers, binary
from api.http.files import attachment, begun, gzipped, streamed, takes_gzip
from ingest.exports.registry import EXPORTS, own_export
from ingest.files.registry import format_of_trace
from schema.errors import NotFoundError
from schema.models import Trace
from store.contract.answers import Label

router = APIRouter(prefix="/v1", tags=["traces"])

ExportFormat = Literal["otlp", "prov-json", "openlineage"]

_HEADERS = {"Content-Disposition": "A name for the file.", "Vary": "Accept-Encoding."}


@router.get(
    "/export/{trace}",
    response_class=StreamingResponse,
    responses=answers(
        400,
        409,
        ok={
            200: binary(
                "The trace, in the format that was asked for.",
                *sorted({"application/json", *(one.media_type for one in EXPORTS.values())}),
                headers=_HEADERS,
            )
        },
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
    format_: Annotated[
        ExportFormat | None,
        Query(
            alias="format",
            description="`otlp` (spans of OpenTelemetry in protobuf), `prov-json` (W3C PROV) or `openlineage` (events, "
            "one a line); without it, the format in which the trace came in.",
        ),
    ] = None,
    accept_encoding: Annotated[
        str, Header(max_length=1000, description="With `gzip` the response is compressed.")
    ] = "",
) -> StreamingResponse:
    """A trace as it was recorded, without the verdicts that were added since."""
    trace = await door.store.resolve(reference, Label.TRACE)
    if not isinstance(trace, Trace):
        raise NotFoundError(reference, Label.TRACE.value)
    other = own_export(trace) if format_ is None else EXPORTS[format_]
    if other is not None:
        suffix, media_type = other.suffix, other.media_type
        blocks = await begun(streamed(lambda file: other.write(door.store, trace, file)))
    else:
        written = format_of_trace(trace)
        suffix, media_type = written.suffix, written.media_type
        blocks = streamed(lambda file: written.write(door.store, trace.id, file))
    headers = attachment(f"{trace.external_id}{suffix}") | {"Vary": "Accept-Encoding"}
    if takes_gzip(accept_encoding):
        blocks = gzipped(blocks)
        headers["Content-Encoding"] = "gzip"
    return StreamingResponse(blocks, headers=headers, media_type=media_type)
