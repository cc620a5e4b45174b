"""The steps of each dialect's spans."""

from __future__ import annotations

import json

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from ingest.otlp import admission
from ingest.otlp.conversations import trace_names
from ingest.otlp.decoding import answer, decode
from ingest.otlp.dialects.registry import step_of
from ingest.otlp.events import events_of
from ingest.otlp.keeping import MOST_BYTES, bounded
from ingest.otlp.media_types import JSON, PROTOBUF
from ingest.otlp.reading import messages, nested
from ingest.queue.admission import Sent as Pieces
from ingest.queue.admission import prepare
from tests.otlp.dialects import Said, examples
from tests.otlp.spans import Sent, as_json, chat, protobuf


@pytest.mark.parametrize(("span", "said"), examples("t"), ids=lambda one: one.name if isinstance(one, Sent) else "")
def test_what_a_span_says(span: Sent, said: Said) -> None:
    for body, kind in ((protobuf([span]), PROTOBUF), (as_json([span]), JSON)):
        decoded = decode(body, kind, 10)
        assert decoded.refused == []
        step = step_of(decoded.spans[0])
        found = [[(piece.kind.value, piece.text or "") for piece in side] for side in (step.inputs, step.outputs)]
        assert (step.kind.value, *found) == said


def test_both_encodings_are_the_same_spans() -> None:
    spans = [span for span, _ in examples("t")]
    first, second = decode(protobuf(spans), PROTOBUF, 100), decode(as_json(spans), JSON, 100)
    assert len(first.spans) == len(spans)
    assert first == second


def test_lists_that_are_spread_over_names() -> None:
    said = {"a.0.x": 1, "a.10.x": 2, "a.2.x.y": 3, "a.2": "a value", "b": "[1, 2]", "a.x": 4}
    assert nested(said, "a") == {"0": {"x": 1}, "10": {"x": 2}, "2": {"x": {"y": 3}}, "x": 4}
    assert nested({key: value for key, value in said.items() if key != "a.x"}, "a") == [
        {"x": 1},
        {"x": {"y": 3}},
        {"x": 2},
    ]
    assert nested(said, "b") == [1, 2]
    assert nested(said, "c") is None


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "hi"}],
        '[{"role": "user", "content": "hi"}]',
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
        {"messages": '[{"role": "user", "content": "hi"}]'},
        '{"messages": "[{\\"role\\": \\"user\\", \\"content\\": \\"hi\\"}]"}',
        {"messages": {"role": "assistant"}, "role": "user", "content": "hi"},
        [[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]],
        [{"message": {"role": "user", "contents": [{"message_content": {"type": "text", "text": "hi"}}]}}],
        {"role": "user", "content": "hi"},
    ],
)
def test_messages_in_all_their_forms(value: object) -> None:
    assert messages(value) == [("user", "hi")]


def test_calls_of_tools_are_part_of_a_message() -> None:
    said = messages([{"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]}])
    assert said == [("assistant", '{"function":{"name":"f"}}')]


def test_attributes_are_cut_where_an_element_could_not_have_them() -> None:
    cut: list[str] = []
    found = bounded(
        {"long": "x" * 100_000, "short": "whole"} | {f"k{place:02}": "y" * 15_000 for place in range(30)}, cut=cut
    )
    assert MOST_BYTES * 0.9 < len(json.dumps(found)) < MOST_BYTES + 1_000
    assert found["short"] == "whole"
    assert found["long"].startswith("x" * 1_000)
    assert found["long"].endswith("… (100,002 bytes)")
    assert len(cut) == 31
    many = bounded({f"k{place:05}": "y" * 100 for place in range(5_000)}, cut=cut)
    assert "attributes are left out" in many["memtrace.cut"]
    span = Sent("s", "s", 0, 1, {f"k{place}": "z" * 20_000 for place in range(500)} | chat([("user", "q")], "a"))
    events = _events(span)
    assert prepare("p", Pieces(events), 1 << 20).refused == []


def test_long_attributes_and_events_of_unknown_spans_are_kept_whole() -> None:
    long = "a line of a file\n" * 1_300
    span = Sent("s", "s", 0, 1, {"own": long}, moments=(("happened", {"what": long}),) * 3)
    cut: list[str] = []
    attributes = json.loads(_events(span, cut)[0])["attributes"]
    assert attributes["own"] == long
    assert [one["what"] for one in attributes["otel"]["events"]] == [long] * 3
    assert cut == []


def test_what_is_cut_is_told_as_a_warning_of_a_partial_success() -> None:
    spans = [Sent("s", "step", 0, 1, {"own": "x" * 300_000}), Sent("t", "t", 0, 1)]
    read = admission.read("p", protobuf(spans), PROTOBUF, 10)
    count, text = admission.refusals(read, ())
    assert count == 0
    assert text.startswith(
        f"kept in part: span {spans[0].span_id.hex()} (step): attribute own: 300,002 bytes, the first 19"
    )
    for kind, response in (
        (PROTOBUF, ExportTraceServiceResponse.FromString(answer(PROTOBUF, count, text))),
        (JSON, json_format.Parse(answer(JSON, count, text), ExportTraceServiceResponse())),
    ):
        assert response.partial_success.error_message == text, kind
        assert response.partial_success.rejected_spans == 0


def test_a_conversation_is_one_trace_over_many_traces_of_opentelemetry() -> None:
    talk = {"gen_ai.conversation.id": "t1"}
    spans = [
        Sent("a", "a", 0, 1, talk, None, "first", resource={"service.name": "shop"}),
        Sent("b", "b", 0, 1, {}, "a", "first", resource={"service.name": "shop"}),
        Sent("c", "c", 0, 1, talk, "root", "second", resource={"service.name": "shop"}),
        Sent("root", "root", 0, 1, {}, None, "second", resource={"service.name": "shop"}),
        Sent("d", "d", 0, 1, talk, None, "third", resource={"service.name": "other"}),
        Sent("e", "e", 0, 1, {}, None, "fourth", resource={"service.name": "shop"}),
        Sent("f", "f", 0, 1, talk | {"memtrace.trace": "mine"}, None, "fifth", resource={"service.name": "shop"}),
        Sent("g", "g", 0, 1, {"session.id": "s2"}, "job", "sixth"),
        Sent("h", "h", 0, 1, {"session.id": "s3"}, "job", "sixth"),
        Sent("i", "i", 0, 1, {}, "h", "sixth"),
        Sent("job", "job", 0, 1, {}, None, "sixth"),
    ]
    names = trace_names(decode(protobuf(spans), PROTOBUF, 20).spans)
    ours, theirs, alone, of_job = ["shop: t1"] * 4, "other: t1", spans[5].trace_id.hex(), spans[-1].trace_id.hex()
    assert names == [*ours, theirs, alone, "mine", "tests: s2", "tests: s3", "tests: s3", of_job]


def test_a_value_beyond_what_an_event_may_have_is_cut_and_says_so() -> None:
    span = Sent("s", "s", 0, 1, chat([("user", "q")], "ä" * (5 << 20)))
    events = _events(span)
    (cut,) = [event for event in map(json.loads, events) if event.get("truncated")]
    assert cut["size"] == 10 << 20
    assert prepare("p", Pieces(events), 64 << 20).refused == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"traceId": "00" * 16}, "traceId"),
        ({"traceId": "5b8e"}, "traceId"),
        ({"spanId": "xyz"}, "hexadecimal"),
        ({"spanId": 7}, "hexadecimal"),
        ({"startTimeUnixNano": "soon"}, "startTimeUnixNano"),
        ({"startTimeUnixNano": -1}, "startTimeUnixNano"),
        ({"attributes": {"a": 1}}, "attributes"),
    ],
)
def test_a_bad_span_is_refused_alone(change: dict[str, object], reason: str) -> None:
    document = json.loads(as_json([Sent("a", "a", 0, 1), Sent("b", "b", 0, 1)]))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0] |= change
    decoded = decode(json.dumps(document).encode(), JSON, 10)
    (refused,) = decoded.refused
    assert reason in refused
    assert [span.name for span in decoded.spans] == ["b"]


def _events(span: Sent, cut: list[str] | None = None) -> list[bytes]:
    spans = decode(protobuf([span]), PROTOBUF, 1).spans
    return events_of("p", spans[0], trace_names(spans)[0], cut)
