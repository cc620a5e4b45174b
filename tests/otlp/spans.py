"""Hand-written OTLP spans: a conversation with a memory, and helpers for small spans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Status

BEGIN = 1_767_225_600_000_000_000
MILLISECOND = 1_000_000


@dataclass(frozen=True)
class Sent:
    """A span for the tests; ids are made from words, times are milliseconds after the first."""

    word: str
    name: str
    start: int
    end: int
    said: dict[str, Any] = field(default_factory=dict)
    parent: str | None = None
    trace: str = "one"
    links: tuple[tuple[str, str], ...] = ()
    moments: tuple[tuple[str, dict[str, Any]], ...] = ()
    error: str | None = None
    scope: str = "tests"
    kind: int = 1
    resource: dict[str, Any] = field(default_factory=lambda: {"service.name": "tests"})

    @property
    def trace_id(self) -> bytes:
        return _id(self.trace, 16)

    @property
    def span_id(self) -> bytes:
        return _id(self.word, 8)

    @property
    def operation(self) -> str:
        """The name of the span's operation in the graph."""
        return f"{self.trace_id.hex()}-{self.span_id.hex()}"

    def variable(self, side: str, place: int = 0) -> str:
        """The name of a variable of the span."""
        return f"{self.operation}/{side}/{place}"


def _id(word: str, size: int) -> bytes:
    return blake2b(word.encode(), digest_size=size).digest()


def protobuf(spans: Iterable[Sent]) -> bytes:
    """A request."""
    request = ExportTraceServiceRequest()
    for span in spans:
        of_resource = request.resource_spans.add()
        of_resource.resource.attributes.extend(_pairs(span.resource))
        of_scope = of_resource.scope_spans.add()
        of_scope.scope.name = span.scope
        wire = of_scope.spans.add(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_span_id=_id(span.parent, 8) if span.parent else b"",
            name=span.name,
            kind=span.kind,
            start_time_unix_nano=BEGIN + span.start * MILLISECOND,
            end_time_unix_nano=BEGIN + span.end * MILLISECOND,
        )
        wire.attributes.extend(_pairs(span.said))
        for trace, word in span.links:
            wire.links.add(trace_id=_id(trace, 16), span_id=_id(word, 8))
        for name, attributes in span.moments:
            wire.events.add(name=name, time_unix_nano=BEGIN).attributes.extend(_pairs(attributes))
        if span.error is not None:
            wire.status.code, wire.status.message = Status.STATUS_CODE_ERROR, span.error
    return request.SerializeToString()


def as_json(spans: Iterable[Sent]) -> bytes:
    """The same request in OTLP's JSON, written by hand."""
    return json.dumps({"resourceSpans": [_json_of(span) for span in spans]}).encode()


def _json_of(span: Sent) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "traceId": span.trace_id.hex().upper(),
        "spanId": span.span_id.hex(),
        "parentSpanId": _id(span.parent, 8).hex() if span.parent else "",
        "name": span.name,
        "kind": "SPAN_KIND_INTERNAL",
        "startTimeUnixNano": str(BEGIN + span.start * MILLISECOND),
        "endTimeUnixNano": BEGIN + span.end * MILLISECOND,
        "attributes": _json_pairs(span.said),
        "links": [{"traceId": _id(trace, 16).hex(), "spanId": _id(word, 8).hex()} for trace, word in span.links],
        "events": [
            {"name": name, "timeUnixNano": str(BEGIN), "attributes": _json_pairs(said)} for name, said in span.moments
        ],
        "fieldOfTheFuture": {"x": [1]},
    }
    if span.error is not None:
        wire["status"] = {"code": 2, "message": span.error}
    return {
        "resource": {"attributes": _json_pairs(span.resource)},
        "scopeSpans": [{"scope": {"name": span.scope}, "spans": [wire]}],
    }


def _pairs(said: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any(value)) for key, value in said.items()]


def _any(value: Any) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case list():
            return AnyValue(array_value=ArrayValue(values=[_any(one) for one in value]))
        case dict():
            return AnyValue(kvlist_value=KeyValueList(values=_pairs(value)))
        case _:
            return AnyValue(string_value=value)


def _json_pairs(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _json_any(value)} for key, value in said.items()]


def _json_any(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_json_any(one) for one in value]}}
        case dict():
            return {"kvlistValue": {"values": _json_pairs(value)}}
        case _:
            return {"stringValue": value}


def chat(given: Sequence[tuple[str, str]], got: str) -> dict[str, Any]:
    """GenAI attributes of a model call."""
    said = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in given]
    reply = [{"role": "assistant", "parts": [{"type": "text", "content": got}], "finish_reason": "stop"}]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.input.messages": json.dumps(said),
        "gen_ai.output.messages": json.dumps(reply),
    }


def memory(name: str, record: str | None = None, content: str | None = None, **more: Any) -> dict[str, Any]:
    """Attributes of a span of a memory."""
    said: dict[str, Any] = {"gen_ai.operation.name": name, "gen_ai.memory.store.id": "s"} | more
    if record is not None:
        said["gen_ai.memory.record.id"] = record
    if content is not None:
        said["gen_ai.memory.records"] = [{"id": record, "content": content}]
    return said


BO, REX = "The user has a dog that is called Bo.", "The user has a dog that is called Rex."
TOLD, CHANGED, ASKED = "My dog is called Bo.", "I have renamed my dog, he is Rex now.", "What is my dog called?"


def conversation() -> list[Sent]:
    """Two messages change a memory, a question reads it, and another trace deletes it: four OpenTelemetry traces.

    All spans name the same MemTrace trace in a resource attribute, and have parent spans of a web server, which no
    dialect knows.
    """
    resource = {"service.name": "agent", "memtrace.trace": "agent of Ada"}
    session = {"gen_ai.conversation.id": "c1"}

    def span(word: str, name: str, start: int, end: int, said: dict[str, Any], parent: str | None, trace: str) -> Sent:
        return Sent(word, name, start, end, said | session, parent, trace, resource=resource)

    found = []
    for trace, start, message, fact, name in (
        ("t1", 0, TOLD, BO, "create_memory"),
        ("t2", 1000, CHANGED, REX, "update_memory"),
    ):
        agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": _user(message)}
        agent |= {"gen_ai.output.messages": json.dumps([{"role": "assistant", "content": "Noted."}])}
        found += [
            span(f"{trace}-agent", "invoke_agent", start, start + 900, agent, None, trace),
            span(f"{trace}-http", "POST", start + 10, start + 500, {"http.route": "/v1"}, f"{trace}-agent", trace),
            span(
                f"{trace}-chat",
                "chat m",
                start + 20,
                start + 400,
                chat([("system", "List the facts."), ("user", message)], fact),
                f"{trace}-http",
                trace,
            ),
            span(f"{trace}-add", name, start + 600, start + 700, memory(name, "u1", fact), f"{trace}-agent", trace),
        ]
    records = [{"id": "u1", "content": REX, "score": 0.75}]
    search = memory("search_memory") | {"gen_ai.memory.query.text": ASKED, "gen_ai.memory.records": records}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": _user(ASKED)}
    agent |= {"gen_ai.output.messages": json.dumps([{"role": "assistant", "content": "Your dog is called Rex."}])}
    prompt = [("system", f"Facts:\n{REX}"), ("user", ASKED)]
    found += [
        span("t3-agent", "invoke_agent", 2000, 2900, agent, None, "t3"),
        span("t3-search", "search_memory", 2100, 2200, search, "t3-agent", "t3"),
        span("t3-chat", "chat m", 2300, 2800, chat(prompt, "Your dog is called Rex."), "t3-agent", "t3"),
        span("t4-delete", "delete_memory", 3000, 3100, memory("delete_memory", "u1"), None, "t4"),
    ]
    return found


def _user(text: str) -> str:
    return json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}])
