"""Taking OpenTelemetry in: OTLP over HTTP, as every OpenTelemetry SDK and Collector sends it."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog
from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from api.http.dependencies import Writer, platform_of
from api.http.documented import answers, binary
from api.http.events import encoding_of, keep, kind_of
from api.http.inflate import inflate
from ingest.otlp import admission
from ingest.otlp.decoding import JSON, PROTOBUF, answer
from ingest.queue.admission import Sent

router = APIRouter(prefix="/v1", tags=["traces"])

MAX_SPANS = 20_000

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
    "were not accepted, and why.",
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
    body, limit = await request.body(), platform.settings.max_traces_bytes
    spans = admission.Spans([], [], [], 0)

    def read() -> Sent:
        nonlocal spans
        spans = admission.read(door.project_id, inflate(body, encoding, limit), kind, MAX_SPANS)
        if spans.count > MAX_SPANS:
            raise HTTPException(413, f"a request holds at most {MAX_SPANS:,} spans: send several")
        return Sent(spans.pieces)

    prepared = await platform.reading.prepare(door.project_id, read, platform.events.max_packet_bytes)
    if prepared.packets:
        await keep(platform, door.project_id, prepared)
    refused, why = admission.refusals(spans, ((one.index, one.reason) for one in prepared.refused))
    platform.metrics.received.labels("accepted").inc(prepared.accepted)
    platform.metrics.received.labels("rejected").inc(len(prepared.refused) + len(spans.refused))
    if refused:
        # Exporters do not log it: without this line nobody would learn of it. The reasons may repeat what was sent.
        _log.warning("spans were not accepted", project=door.project_id, refused=refused, spans=spans.count)
    return Response(await asyncio.to_thread(answer, kind, refused, why), media_type=kind)
