"""OTLP: one span per operation, with GenAI attributes for other tools and the complete data in ``memtrace.events``.

The output is one ``ExportTraceServiceRequest`` in protobuf, as ``POST /v1/traces`` and other backends accept it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, BinaryIO

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from ingest.exports.content import Content, content_of, whole_values
from ingest.exports.genai import genai_attributes
from ingest.exports.turns import in_turn
from ingest.exports.wire import Events
from ingest.otlp.dialects.memtrace import EVENTS, TRACE
from schema.errors import InputError
from schema.kinds import Status as Ended
from schema.models import Operation, Trace
from store.contract.protocol import GraphStore

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_BYTES = 64 << 20
"""Largest total size of the values in one span, in bytes: a span is built in memory, and no backend accepts 64 MiB."""

_SPANS = 200
_BYTES = 8 << 20


async def write(store: GraphStore, trace: Trace, out: BinaryIO) -> None:
    """Write a trace in parts: protobuf joins consecutive messages into one, so only one part is in memory.

    Raises:
        InputError: the values of one operation, or the values from outside, are too large for a span.
    """
    content = await content_of(store, trace)
    for operation, made in content.made.items():
        if (size := sum(variable.size for variable in made)) > MOST_BYTES:
            where = f"operation {operation}" if operation else "what comes from outside"
            way_out = "ask for prov-json, and read the values one by one"
            problem = f"{size:,} bytes of values; a span has at most {MOST_BYTES:,}: {way_out}"
            raise InputError(trace.external_id, where, problem)
    part: list[Span] = []
    size = 0
    async for span, span_bytes in _spans(store, content):
        part.append(span)
        size += span_bytes
        if len(part) >= _SPANS or size >= _BYTES:
            await in_turn(_write, trace, part, out)
            part, size = [], 0
    await in_turn(_write, trace, part, out)


_Sized = tuple[Span, int]
"""A span and its size in bytes, which takes long to count."""


async def _spans(store: GraphStore, content: Content) -> AsyncIterator[_Sized]:
    events = await in_turn(Events, content)
    outside = {variable.id: text async for variable, text in whole_values(store, content.made.get(None, []))}
    yield await in_turn(_around, content, events, outside)
    for operation in content.operations:
        made = {one.id: text async for one, text in whole_values(store, content.made.get(operation.id, []))}
        yield await in_turn(_told, content, operation, events, made)


def _told(content: Content, operation: Operation, events: Events, texts: dict[str, str]) -> _Sized:
    span = _span(content, operation)
    said = {EVENTS: msgspec.json.encode(events.of_operation(operation, texts)).decode()}
    span.attributes.extend(_pairs(genai_attributes(content, operation) | said))
    return span, span.ByteSize()


def _around(content: Content, events: Events, texts: dict[str, str]) -> _Sized:
    """The root span, which stands for the trace."""
    trace = content.trace
    moments = [one for operation in content.operations for one in (operation.started_at, operation.ended_at) if one]
    span = Span(
        trace_id=bytes.fromhex(trace.id),
        span_id=_root(trace),
        name=trace.name or trace.external_id,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=_nanoseconds(min(moments, default=content.time(None))),
        end_time_unix_nano=_nanoseconds(max(moments, default=content.time(None))),
    )
    said = {"gen_ai.operation.name": "invoke_workflow", EVENTS: msgspec.json.encode(events.of_trace(texts)).decode()}
    span.attributes.extend(_pairs(said))
    return span, span.ByteSize()


def _span(content: Content, operation: Operation) -> Span:
    parent = str(msgspec.json.decode(operation.attributes).get("parentId"))
    began = content.time(operation.started_at)
    span = Span(
        trace_id=bytes.fromhex(content.trace.id),
        span_id=bytes.fromhex(operation.id)[:8],
        parent_span_id=bytes.fromhex(parent)[:8] if parent in content.of_id else _root(content.trace),
        name=operation.name or operation.kind.value,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=_nanoseconds(began),
        end_time_unix_nano=_nanoseconds(operation.ended_at or began),
    )
    if operation.status is Ended.ERROR:
        span.status.code = Status.STATUS_CODE_ERROR
    return span


def _root(trace: Trace) -> bytes:
    return blake2b(trace.id.encode(), digest_size=8).digest()


def _write(trace: Trace, spans: list[Span], out: BinaryIO) -> None:
    request = ExportTraceServiceRequest()
    of_resource = request.resource_spans.add()
    of_resource.resource.attributes.extend(_pairs({"service.name": "memtrace", TRACE: trace.external_id}))
    of_scope = of_resource.scope_spans.add()
    of_scope.scope.name = "memtrace"
    of_scope.spans.extend(spans)
    out.write(request.SerializeToString())


def _pairs(said: dict[str, Any]) -> list[KeyValue]:
    return [
        KeyValue(
            key=key,
            value=AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value),
        )
        for key, value in said.items()
    ]


def _nanoseconds(moment: datetime) -> int:
    delta = moment - _EPOCH
    return max(1, ((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds) * 1_000)
