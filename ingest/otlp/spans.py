"""An OpenTelemetry span as plain Python data."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_ERROR = 2


class SpanError(ValueError):
    """A span that can't be accepted; the message says why."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A span event of OpenTelemetry: a name and attributes at one time."""

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a program, as an exporter sends it.

    Attributes:
        trace_id: 32 hexadecimal digits.
        span_id: 16 hexadecimal digits.
        parent_id: id of the parent span; None for a root.
        started_ns: nanoseconds since 1970, UTC.
        ended_ns: nanoseconds since 1970, never before ``started_ns``; None for a span without an end.
        attributes: JSON values by name; bytes are Base64.
        resource: attributes of the program that made the span.
        is_error: whether the status is an error.
        message: the message of the status.
        links: trace id and span id of each linked span.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: str
    started_ns: int
    ended_ns: int | None
    attributes: Mapping[str, Any]
    resource: Mapping[str, Any]
    scope: str
    scope_version: str
    is_error: bool
    message: str
    links: tuple[tuple[str, str], ...]
    moments: tuple[Moment, ...]

    @property
    def is_root(self) -> bool:
        """Whether the span has no parent."""
        return self.parent_id is None


def span_of(span: WireSpan, scope: InstrumentationScope, resource: Mapping[str, Any]) -> Span:
    """Convert a span of a request.

    Raises:
        SpanError: an id does not have the form that OpenTelemetry defines.
    """
    if len(span.trace_id) != 16 or not any(span.trace_id):
        raise SpanError(f"traceId: {len(span.trace_id)} bytes, or all zero; a trace id has 16 bytes")
    if len(span.span_id) != 8 or not any(span.span_id):
        raise SpanError(f"spanId: {len(span.span_id)} bytes, or all zero; a span id has 8 bytes")
    started, ended = span.start_time_unix_nano, span.end_time_unix_nano
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() if any(span.parent_span_id) else None,
        name=span.name,
        kind=_KINDS[span.kind] if 0 <= span.kind < len(_KINDS) else str(span.kind),
        started_ns=started,
        ended_ns=max(started, ended) if ended else None,
        attributes=plain_attributes(span.attributes),
        resource=resource,
        scope=scope.name,
        scope_version=scope.version,
        is_error=span.status.code == _ERROR,
        message=span.status.message,
        links=tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
        moments=tuple(Moment(event.name, plain_attributes(event.attributes)) for event in span.events),
    )


def plain_attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    """Attributes as JSON values by name; if a name is repeated, the last value counts."""
    return {pair.key: _plain(pair.value) for pair in pairs}


def time_of(nanoseconds: int) -> str:
    """A time in the format of wire events, in whole microseconds."""
    moment = _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    match kind:
        case None:
            return None
        case "array_value":
            return [_plain(one) for one in value.array_value.values]
        case "kvlist_value":
            return plain_attributes(value.kvlist_value.values)
        case "bytes_value":
            return b64encode(value.bytes_value).decode()
        case "double_value":
            number = value.double_value
            return number if math.isfinite(number) else str(number)  # JSON has no such numbers
        case _:
            return getattr(value, kind)
