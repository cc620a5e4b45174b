"""What spans of a request share is read and cut once, and the number of parts is bounded."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ingest.otlp import admission, decoding, keeping
from ingest.otlp.decoding import MOST_PARTS, decode
from ingest.otlp.keeping import MOST_RESOURCE_BYTES, MOST_RESOURCES_BYTES, KeptResources
from ingest.otlp.media_types import JSON, PROTOBUF
from tests.otlp.spans import Sent, as_json, protobuf

SPANS = 50


def _request(resource: object, scope: object = None, spans: int = SPANS) -> dict[str, Any]:
    one = json.loads(as_json([Sent(str(number), "step", number, number + 1) for number in range(spans)]))
    found = [span for of in one["resourceSpans"] for scopes in of["scopeSpans"] for span in scopes["spans"]]
    return {"resource": resource, "scopeSpans": [{"scope": scope or {}, "spans": found}]}


def test_a_resource_and_a_scope_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    for module, name in ((decoding, "_resource_of_json"), (decoding, "_scope_of_json"), (keeping, "bounded")):
        inner = getattr(module, name)

        def counted(*arguments: Any, name: str = name, inner: Any = inner) -> Any:
            calls[name] += 1
            return inner(*arguments)

        monkeypatch.setattr(module, name, counted)
    attributes = [{"key": f"k{number}", "value": {"stringValue": "v"}} for number in range(300)]
    body = json.dumps({"resourceSpans": [_request({"attributes": attributes})]}).encode()
    read = admission.read("p", body, JSON, 1_000)
    assert read.refused == []
    assert calls == {"_resource_of_json": 1, "_scope_of_json": 1, "bounded": 1}
    started = [one for one in map(json.loads, read.pieces) if one["type"] == "operationStarted"]
    assert len(started) == SPANS
    assert all(len(one["attributes"]["otel"]["resource"]) == 300 for one in started)


@pytest.mark.parametrize("bad", [{"resource": 5}, {"scope": "x"}, {"resource": {"attributes": 1}}])
def test_a_bad_resource_or_scope_refuses_its_spans_and_no_others(bad: dict[str, Any]) -> None:
    first = _request(bad.get("resource", {}), bad.get("scope"), 3)
    body = json.dumps({"resourceSpans": [first, _request({}, None, 2)]}).encode()
    found = decode(body, JSON, 100)
    assert (len(found.refused), len(found.spans)) == (3, 2)


def test_the_resources_of_all_spans_together_are_bounded() -> None:
    large = {f"k{number}": "v" * 100 for number in range(1_000)}
    for spans, most in ((1, MOST_RESOURCE_BYTES), (20_000, MOST_RESOURCES_BYTES // 20_000)):
        cut: list[str] = []
        assert most / 2 < len(json.dumps(KeptResources(spans).of(large, cut))) < most * 1.2
        assert 0 < len(cut) <= 20
    small = {"service.name": "shop"}
    assert KeptResources(20_000).of(small, cut) == small


@pytest.mark.parametrize("is_scope", [False, True])
def test_empty_parts_are_bounded(is_scope: bool) -> None:
    def bodies(count: int) -> list[tuple[bytes, str]]:
        request = ExportTraceServiceRequest()
        if is_scope:
            of_resource = request.resource_spans.add()
            for _ in range(count):
                of_resource.scope_spans.add()
        else:
            for _ in range(count):
                request.resource_spans.add()
        parts: list[dict[str, Any]] = [{"scopeSpans": [{}] * count}] if is_scope else [{}] * count
        return [(request.SerializeToString(), PROTOBUF), (json.dumps({"resourceSpans": parts}).encode(), JSON)]

    for count in (MOST_PARTS, MOST_PARTS + 1):
        for body, kind in bodies(count):
            found = admission.read("p", body, kind, 10)
            assert (found.count, found.has_too_many_parts) == (0, count > MOST_PARTS)


def test_spans_of_several_resources_keep_their_own() -> None:
    sent = [Sent(name, "step", 0, 1, resource={"service.name": name}) for name in ("a", "b", "a")]
    for body, kind in ((protobuf(sent), PROTOBUF), (as_json(sent), JSON)):
        pieces = map(json.loads, admission.read("p", body, kind, 10).pieces)
        told = [one["attributes"]["otel"]["resource"] for one in pieces if one["type"] == "operationStarted"]
        assert sorted(one["service.name"] for one in told) == ["a", "a", "b"]
