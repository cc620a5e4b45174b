"""Decodes the body of a request to ``/v1/traces``, protobuf or JSON, and encodes the response.

Source: opentelemetry-proto, docs/specification.md, "OTLP/HTTP". In JSON, ids are hexadecimal, names in lower camel
case, enums numbers or names, unknown fields ignored.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from ingest.otlp.media_types import PROTOBUF
from ingest.otlp.spans import Span, SpanError, plain_attributes, span_of
from schema.errors import InputError
from schema.outside_json import read_json
from store.runtime.processor_share import ProcessorShare

_MOST_SHOWN = 300
_LONG = 1 << 20
"""Size in bytes; a shorter request never needs too much memory."""

MOST_PARTS = 20_000
"""Largest number of resources and scopes in a request."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The spans of a request.

    Attributes:
        spans: the spans that could be read.
        refused: the reason for each other span.
        has_too_many_parts: whether the request has more than ``MOST_PARTS``; no span is read then.
    """

    spans: list[Span] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    has_too_many_parts: bool = False

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
    makers = _protobuf(body) if kind == PROTOBUF else _json(body)
    if makers is None:
        return Decoded(has_too_many_parts=True)
    found = Decoded()
    share = ProcessorShare()
    for make in makers:
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
_Found = TypeVar("_Found")
_Part = TypeVar("_Part")


def _are_too_many(parts: Sequence[_Part], scopes: Callable[[_Part], Sequence[object]]) -> bool:
    """Whether a request has too many resources or scopes. Without spans, nothing else bounds their number."""
    return len(parts) > MOST_PARTS or sum(max(1, len(scopes(part))) for part in parts) > MOST_PARTS


def _protobuf(body: bytes) -> Iterator[_Maker] | None:
    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        # The parser's error is the same for broken data and for too much memory.
        or_memory = ", or takes too much memory to read" if len(body) > _LONG else ""
        raise InputError(
            "body", "", f"is no ExportTraceServiceRequest in protobuf{or_memory}: {_shown(error)}"
        ) from None
    parts = request.resource_spans
    return None if _are_too_many(parts, lambda part: part.scope_spans) else _of_protobuf(parts)


def _of_protobuf(parts: Iterable[ResourceSpans]) -> Iterator[_Maker]:
    for of_resource in parts:
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


def _json(body: bytes) -> Iterator[_Maker] | None:
    try:
        request = msgspec.json.decode(body, type=_Request)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("body", "", f"is no ExportTraceServiceRequest in JSON: {_shown(error)}") from None
    parts = request.resource_spans or []
    return None if _are_too_many(parts, lambda part: part.scope_spans or ()) else _of_json(parts)


def _of_json(parts: Iterable[_ResourceSpans]) -> Iterator[_Maker]:
    for of_resource in parts:
        resource = _Once(_resource_of_json, bytes(of_resource.resource))
        for of_scope in of_resource.scope_spans or ():
            scope = _Once(_scope_of_json, bytes(of_scope.scope))
            for span in of_scope.spans or ():
                yield lambda span=span, scope=scope, resource=resource: _span_of_json(  # type: ignore[misc]
                    bytes(span), scope, resource
                )


class _Once(Generic[_Found]):
    """What spans share: read with the first of them. A bad scope or resource refuses its spans, and no others."""

    def __init__(self, read: Callable[[bytes], _Found], piece: bytes) -> None:
        self._read, self._piece = read, piece
        self._found: _Found | None = None
        self._error: Exception | None = None

    def get(self) -> _Found:
        """The result.

        Raises:
            ValueError: the JSON is bad; the same for each span.
        """
        if self._error is not None:
            raise self._error.with_traceback(None)  # else the traceback grows with each span
        if self._found is None:
            try:
                self._found = self._read(self._piece)
            except (json_format.ParseError, ValueError, TypeError, RecursionError) as error:
                self._error = error
                raise
        return self._found


def _scope_of_json(piece: bytes) -> InstrumentationScope:
    return json_format.ParseDict(_object(piece), InstrumentationScope(), ignore_unknown_fields=True)


def _resource_of_json(piece: bytes) -> Mapping[str, Any]:
    wire = json_format.ParseDict(_object(piece), Resource(), ignore_unknown_fields=True)
    return plain_attributes(wire.attributes)


def _span_of_json(span: bytes, scope: _Once[InstrumentationScope], resource: _Once[Mapping[str, Any]]) -> Span:
    """Parse a span.

    Raises:
        ValueError: the JSON does not describe a span, a scope or a resource.
    """
    found = _object(span)
    for fields in (found, *_objects(found.get("links"))):
        for name in ("traceId", "spanId", "parentSpanId"):
            if fields.get(name) is not None:
                fields[name] = _base64_of_hex(name, fields[name])
    wire = json_format.ParseDict(found, WireSpan(), ignore_unknown_fields=True)
    return span_of(wire, scope.get(), resource.get())


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
