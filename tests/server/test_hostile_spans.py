"""What is hostile to the door of events is tried at that of OpenTelemetry, and at the exports of what came of it.

The watchdog of the server (see tests.server.watchdog) fails a test in which anything holds the event loop for long.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
import zstandard

import ingest.exports.otlp
from api.http.bodies import SpansBody
from tests.otlp.spans import Sent, as_json, chat, memory, protobuf
from tests.server.running import RunningServer
from tests.server.wire_events import arrives, drained, lines, message, metrics, send

pytestmark = pytest.mark.one_engine

PROTOBUF, JSON = "application/x-protobuf", "application/json"
DEEP = 100_000
FORMATS = ("otlp", "prov-json", "openlineage")


def _post(server: RunningServer, body: bytes, kind: str = PROTOBUF) -> httpx.Response:
    with server.client("writer") as client:
        packed = zstandard.compress(body)
        return client.post("/v1/traces", content=packed, headers={"Content-Type": kind, "Content-Encoding": "zstd"})


def _export(server: RunningServer, trace: str, form: str) -> httpx.Response:
    with server.client() as client:
        return client.get(f"/v1/export/{trace}", params={"format": form})


def _dead(server: RunningServer) -> float:
    drained(server)
    return metrics(server.url)["memtrace_dead_letters"]


@pytest.mark.parametrize(
    "said",
    [
        {"gen_ai.input.messages": "[" * DEEP},
        {"gen_ai.output.messages": '{"a":' * DEEP + "1" + "}" * DEEP},
        {"gen_ai.input.messages": "[" + '{"role":"user","parts":[]},' * 5_000 + "{}]"},
        {"gen_ai.memory.records": "[" * DEEP + "]" * DEEP, "gen_ai.operation.name": "search_memory"},
        {"memtrace.events": "[" * DEEP},
        {"memtrace.events": "5"},
        {"gen_ai.input.messages": "[" * 700 + "]" * 700},
        {"memtrace.events": json.dumps([{"type": "variable", "attributes": {"a": "x" * 300_000}}])},
        {"input.value": "[" * DEEP, "openinference.span.kind": "LLM"},
        {"traceloop.entity.input": "{" * DEEP, "traceloop.span.kind": "tool"},
        {f"key{number}": "x" * 1_000 for number in range(5_000)},
        {"k" * 300_000: "x" * 3_000_000},
        {"gen_ai.input.messages": "9" * 10_000, "gen_ai.usage.input_tokens": "9" * 10_000},
    ],
    ids=lambda said: f"{next(iter(said))[:40]}-{len(str(said))}",
)
@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
def test_attributes(server: RunningServer, said: dict[str, Any], kind: str) -> None:
    """The span is in the graph, with what of its attributes fits, or it is refused with a reason."""
    trace, before = uuid4().hex, _dead(server)
    spans = [Sent("a", "odd", 0, 1, said, resource={"memtrace.trace": trace}) for _ in (1,)]
    answer = _post(server, (protobuf if kind == PROTOBUF else as_json)(spans), kind)
    assert answer.status_code == 200, answer.text
    if not answer.content.strip(b"{}"):
        assert _dead(server) == before
        for form in FORMATS:
            assert _export(server, trace, form).status_code == 200


def test_numbers_that_json_does_not_have(server: RunningServer) -> None:
    trace, said = uuid4().hex, {"gen_ai.request.temperature": float("nan"), "gen_ai.request.top_p": float("inf")}
    assert _post(server, protobuf([Sent("a", "odd", 0, 1, said, resource={"memtrace.trace": trace})])).content == b""
    drained(server)
    assert _export(server, trace, "prov-json").status_code == 200


def test_a_span_that_says_no_events_is_not_lost_in_silence() -> None:
    body = protobuf([Sent("a", "a", 0, 1, {"memtrace.events": "[" * DEEP}), Sent("b", "b", 0, 1)])
    read = SpansBody(body, PROTOBUF, "identity", 1 << 30).read("p", 1 << 30)
    assert read is not None
    assert (read.refused_spans, read.rejected) == ((1, 2), 1)
    assert b"memtrace.events is no list of events in JSON" in read.answer


@pytest.mark.parametrize(
    "body",
    [
        b'{"resourceSpans":' * DEEP,
        b'{"resourceSpans":[{"resource":{"attributes":' + b"[" * DEEP,
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":'
        + b'{"arrayValue":{"values":[' * DEEP,
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"\\ud800"}]}]}]}',
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":' + b"9" * 5_000 + b"}]}]}]}",
        b'"x"',
        b"null",
        b"[]",
        b"\xed\xa0\x80",
    ],
)
def test_bodies_in_json(server: RunningServer, body: bytes) -> None:
    answer = _post(server, body, JSON)
    assert answer.status_code == 400 or "partialSuccess" in answer.json(), answer.text


def test_deep_values_in_json_that_close(server: RunningServer) -> None:
    value = '{"arrayValue":{"values":[' * 5_000 + "]}}" * 5_000
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "a"}
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span | {"attributes": "HERE"}]}]}]})
    body = body.replace('"HERE"', f'[{{"key":"a","value":{value}}}]')
    answer = _post(server, body.encode(), JSON)
    assert answer.status_code == 400 or answer.json()["partialSuccess"]["rejectedSpans"] == "1", answer.text


@pytest.mark.parametrize(("start", "end"), [(-1_767_225_600_000, 0), (0, -1_767_225_600_000), (10, 5), (0, 10**13)])
def test_times(server: RunningServer, start: int, end: int) -> None:
    """A span without an end, without a beginning, backwards, and in another century."""
    trace, before = uuid4().hex, _dead(server)
    answer = _post(server, protobuf([Sent("a", "a", start, end, resource={"memtrace.trace": trace})]))
    assert answer.status_code == 200
    if not answer.content:
        assert _dead(server) == before
        assert _export(server, trace, "openlineage").status_code == 200


@pytest.mark.full
def test_a_flood_of_spans_is_taken_beside_others(server: RunningServer) -> None:
    """5,000 spans of one trace, each with a memory."""
    trace = uuid4().hex
    resource = {"memtrace.trace": trace}
    flood = [
        Sent(
            f"s{number}",
            "create",
            number,
            number + 1,
            memory("create_memory", f"u{number}", "x" * 500),
            resource=resource,
        )
        for number in range(5_000)
    ]
    assert _post(server, protobuf(flood)).content == b""
    beside = uuid4().hex
    spans = [Sent("a", "chat", 0, 1, chat([("user", "hello")], "yes"), resource={"memtrace.trace": beside})]
    assert _post(server, protobuf(spans)).content == b""
    drained(server)
    for form in FORMATS:
        assert _export(server, trace, form).status_code == 200


def test_what_one_span_would_hold_is_bounded(server: RunningServer) -> None:
    """A trace whose values are rebuilt from a base takes few bytes to send, and would take gigabytes to export."""
    trace, size = uuid4().hex, 14 << 20
    base = {"variable": "m0", "kept": size - 1, "size": size}
    assert send(server, zstandard.compress(lines(message(trace, "m0", "x" * size))), encoding="zstd").status_code == 200
    arrives(server, trace, 1)
    sent = lines(*(message(trace, f"m{n}", "!") | {"base": base} for n in range(1, 6)))
    assert send(server, sent).json() == {"accepted": 5, "rejected": []}
    arrives(server, trace, 6)
    answer = _export(server, trace, "otlp")
    assert answer.status_code == 400
    assert f"{6 * size:,} bytes of values" in answer.json()["detail"]
    assert f"at most {ingest.exports.otlp.MOST_BYTES:,}" in answer.json()["detail"]
    assert _export(server, trace, "prov-json").status_code == 200
