"""Decodes the body of a request to ``/v1/traces``, protobuf or JSON, and encodes the response.

Source: opentelemetry-proto, docs/specification.md, "OTLP/HTTP". In JSON, ids are hexadecimal, names in lower camel
case, enums numbers or names, unknown fields ignored.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from ingest.otlp.media_types import PROTOBUF
from ingest.otlp.spans import Span, SpanError, plain_attributes, span_of
from schema.errors import InputError
from schema.outside_json import read_json
from store.runtime.processor_share import ProcessorShare

_MOST_SHOWN = 300
_LONG = 1 << 20
"""Size in bytes; a shorter request never needs too much memory."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The spans of a request.

    Attributes:
        spans: the spans that could be read.
        refused: the reason for each other span.
    """

    spans: list[Span] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of spans, good or refused."""
        return len(self.spans) + len(self.refused)


def decode(body: bytes, kind: str, most: int) -> Decoded:
    """The spans of a request; a bad span keeps no other span out.

    Args:
        body: the unpacked body.
        kind: ``PROTOBUF`` or ``JSON``.
        most: limit of the caller; reading stops at ``most + 1`` spans.

    Raises:
        InputError: the body is no OTLP request.
    """
    found = Decoded()
    share = ProcessorShare()
    for make in _protobuf(body) if kind == PROTOBUF else _json(body):
        share.step()
        if found.count > most:
            break
        try:
            found.spans.append(make())
        except (SpanError, json_format.ParseError, ValueError, TypeError, RecursionError) as error:
            found.refused.append(f"span {found.count}: {_shown(error)}")
    return found


def answer(kind: str, refused: int, message: str) -> bytes:
    """The body of the response: success, or a partial success with the number of refused spans and a message."""
    response = ExportTraceServiceResponse()
    if refused or message:
        response.partial_success.rejected_spans = refused
        response.partial_success.error_message = message
    return response.SerializeToString() if kind == PROTOBUF else json_format.MessageToJson(response).encode()


_Maker = Callable[[], Span]


def _protobuf(body: bytes) -> Iterator[_Maker]:
    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        # The parser's error is the same for broken data and for too much memory.
        or_memory = ", or takes too much memory to read" if len(body) > _LONG else ""
        raise InputError(
            "body", "", f"is no ExportTraceServiceRequest in protobuf{or_memory}: {_shown(error)}"
        ) from None
    for of_resource in request.resource_spans:
        resource = plain_attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            scope = of_scope.scope
            for span in of_scope.spans:
                yield lambda span=span, scope=scope, resource=resource: span_of(span, scope, resource)  # type: ignore[misc]


class _ScopeSpans(msgspec.Struct, rename="camel"):
    scope: msgspec.Raw = msgspec.Raw(b"{}")
    spans: list[msgspec.Raw] | None = None


class _ResourceSpans(msgspec.Struct, rename="camel"):
    resource: msgspec.Raw = msgspec.Raw(b"{}")
    scope_spans: list[_ScopeSpans] | None = None


class _Request(msgspec.Struct, rename="camel"):
    resource_spans: list[_ResourceSpans] | None = None


def _json(body: bytes) -> Iterator[_Maker]:
    try:
        request = msgspec.json.decode(body, type=_Request)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("body", "", f"is no ExportTraceServiceRequest in JSON: {_shown(error)}") from None
    for of_resource in request.resource_spans or ():
        for of_scope in of_resource.scope_spans or ():
            for span in of_scope.spans or ():
                yield lambda span=span, scope=of_scope, resource=of_resource: _span_of_json(  # type: ignore[misc]
                    bytes(span), bytes(scope.scope), bytes(resource.resource)
                )


def _span_of_json(span: bytes, scope: bytes, resource: bytes) -> Span:
    """Parse a span with its scope and resource, each time anew, so that a bad scope or resource only sinks its spans.

    Raises:
        ValueError: the JSON does not describe a span.
    """
    found = _object(span)
    for fields in (found, *_objects(found.get("links"))):
        for name in ("traceId", "spanId", "parentSpanId"):
            if fields.get(name) is not None:
                fields[name] = _base64_of_hex(name, fields[name])
    wire = json_format.ParseDict(found, WireSpan(), ignore_unknown_fields=True)
    wire_scope = json_format.ParseDict(_object(scope), InstrumentationScope(), ignore_unknown_fields=True)
    wire_resource = json_format.ParseDict(_object(resource), Resource(), ignore_unknown_fields=True)
    return span_of(wire, wire_scope, plain_attributes(wire_resource.attributes))


def _base64_of_hex(name: str, value: object) -> str:
    """Recode an id: OTLP's JSON has hexadecimal, protobuf's JSON parser expects Base64."""
    if not isinstance(value, str):
        raise SpanError(f"{name}: expected hexadecimal digits")
    try:
        return base64.b64encode(bytes.fromhex(value)).decode()
    except ValueError:
        raise SpanError(f"{name}: expected hexadecimal digits") from None


def _object(piece: bytes) -> dict[str, Any]:
    found = read_json(piece)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise SpanError(f"expected a JSON object, got {type(found).__name__}")
    return found


def _objects(found: object) -> Iterator[dict[str, Any]]:
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            yield one


def _shown(error: Exception) -> str:
    """The message of an error, shortened, because a message may repeat the input."""
    text = str(error).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
