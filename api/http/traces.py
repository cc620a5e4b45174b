"""Taking in spans: OTLP over HTTP, as every OpenTelemetry SDK and Collector sends it."""

from __future__ import annotations

from typing import Any

import structlog
from fastapi import APIRouter, Request, Response

from api.http.bodies import SpansBody
from api.http.dependencies import Writer, platform_of
from api.http.documented import answers, binary
from api.http.events import encoding_of, keep, kind_of
from ingest.otlp.media_types import JSON, PROTOBUF

router = APIRouter(prefix="/v1", tags=["traces"])

_KINDS = (PROTOBUF, JSON)

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "An `ExportTraceServiceRequest` of OTLP, as protobuf or JSON.",
        "content": {PROTOBUF: {"schema": {"type": "string", "format": "binary"}}, JSON: {"schema": {}}},
    }
}

_TAKEN = binary(
    "An `ExportTraceServiceResponse`, of the same media type as the request. Its `partialSuccess` says how many spans "
    "were not accepted, and why; and what was cut of the others.",
    *_KINDS,
)

_log = structlog.get_logger("memtrace.otlp")


@router.post("/traces", response_class=Response, openapi_extra=_BODY, responses=answers(413, 415, ok={200: _TAKEN}))
async def take(door: Writer, request: Request) -> Response:
    """Take spans of OpenTelemetry for the graph.

    When the response comes, the accepted spans are stored safely; a moment later they are in the graph. They may come
    in any order, in any number of requests, and more than once.
    """
    kind, encoding = kind_of(request, _KINDS), encoding_of(request)
    platform = platform_of(request)
    body = SpansBody(await request.body(), kind, encoding, platform.settings.max_traces_bytes)
    read = await platform.reading.read(door.project_id, body, platform.events.max_packet_bytes)
    await keep(platform, door.project_id, read)
    refused, count = read.refused_spans
    if refused:
        # Exporters do not log refused spans, so this line is the only notice. The reasons are left out: they may quote
        # values.
        _log.warning("spans were not accepted", project=door.project_id, refused=refused, spans=count)
    if read.cut_spans:
        _log.warning("spans were kept in part", project=door.project_id, cut=read.cut_spans, spans=count)
    return Response(read.answer, media_type=kind)
