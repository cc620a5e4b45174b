"""Spans that say nothing of a model or a memory, as web frameworks make them, around the turns of a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Tracer

from attribution.trace.advice import advised
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import holes
from ingest.events.attributes import MOST_BYTES
from ingest.events.questions import questions_of
from ingest.otlp.conversations import RecentConversations
from ingest.otlp.decoding import decode
from ingest.otlp.events import events_of
from ingest.otlp.media_types import PROTOBUF
from schema.ids import trace_id
from schema.kinds import VariableKind
from schema.models import Operation, Trace, Variable
from store.contract.answers import Label
from store.shared.paging import elements
from tests.otlp.conftest import Takes, without_project
from tests.otlp.spans import Sent, protobuf
from tests.otlp.spans import chat as chat_attributes
from tests.queue.sets import graph_of

TOLD = "My bicycle is locked at the harbour, behind the boathouse."
ASKED = "Where is my bicycle?"
TURNS = [(TOLD, "Noted."), (ASKED, "At the station.")]


class Requests(SpanExporter):
    """Keeps the requests that an exporter would send."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def export(self, spans: object) -> SpanExportResult:
        self.bodies.append(encode_spans(spans).SerializeToString())  # type: ignore[arg-type]
        return SpanExportResult.SUCCESS


def in_events(tracer: Tracer, said: str, answer: str) -> None:
    """A call of a model with the messages of the older conventions."""
    with tracer.start_as_current_span("chat m", kind=SpanKind.CLIENT) as span:
        span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c1"})
        span.add_event("gen_ai.system.message", {"content": "Answer."})
        span.add_event("gen_ai.user.message", {"content": said})
        span.add_event("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": answer})})


def in_attributes(tracer: Tracer, said: str, answer: str) -> None:
    """A call of a model with its messages in attributes."""
    with tracer.start_as_current_span("chat m", kind=SpanKind.CLIENT) as span:
        span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c1"})
        for name, role, text in (("input", "user", said), ("output", "assistant", answer)):
            message = {"role": role, "parts": [{"type": "text", "content": text}]}
            span.set_attribute(f"gen_ai.{name}.messages", json.dumps([message]))


def in_a_chain(tracer: Tracer, said: str, answer: str) -> None:
    """A chain of OpenInference around a call of a model."""
    with tracer.start_as_current_span("chain") as span:
        span.set_attributes({"openinference.span.kind": "CHAIN", "session.id": "c1"})
        span.set_attributes({"input.value": said, "output.value": answer})
        in_attributes(tracer, f"Answer shortly: {said}", answer)


@pytest.mark.parametrize("program", [in_events, in_attributes, in_a_chain])
@pytest.mark.parametrize("batched", [False, True])
async def test_turns_inside_plain_spans_are_known(
    takes: Takes, program: Callable[[Tracer, str, str], None], batched: bool
) -> None:
    takes.anew()
    sent = Requests()
    provider = TracerProvider(resource=Resource.create({"service.name": "web"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(sent) if batched else SimpleSpanProcessor(sent))
    tracer = provider.get_tracer("tests")
    for said, answer in TURNS:
        with (
            tracer.start_as_current_span("POST /chat", kind=SpanKind.SERVER),
            tracer.start_as_current_span("handle"),
        ):
            program(tracer, said, answer)
    provider.shutdown()
    for body in sent.bodies:
        await takes.take(body)
    await takes.written()
    id_ = trace_id(takes.project, "web: c1")
    answers = await elements(takes.store, Variable, id_, [VariableKind.ANSWER.value])
    asked = await questions_of(takes.store, answers)
    assert [([one.value for one in asked[answer.id]], answer.value) for answer in answers] == [
        ([said], answer) for said, answer in TURNS
    ]
    operations = {one.id: one.name for one in await elements(takes.store, Operation, id_)}
    maker = "chain" if program is in_a_chain else "chat m"
    assert [operations[one.operation_id or ""] for one in answers] == [maker, maker]
    # The spans around the turns are in the same trace, and are no holes.
    assert list(operations.values()).count("handle") == len(TURNS)
    graph = await TraceGraph.load(takes.store, id_)
    (trace,) = [one for one in await takes.store.get(Label.TRACE, [id_]) if isinstance(one, Trace)]
    assert [one.problem for one in advised(await holes(graph), trace, graph) if "kind Other" in one.problem] == (
        ["operations are of kind Other: chain"] if program is in_a_chain else []
    )


SAID = chat_attributes([("user", ASKED)], "At the station.")


def _around(outer: dict[str, str], parent: str | None = None, kind: int = 1) -> list[Sent]:
    return [
        Sent("call", "chat", 2, 3, SAID, parent="plain"),
        Sent("plain", "handle", 1, 4, parent="outer"),
        Sent("outer", "outer", 0, 5, outer, parent=parent, kind=kind),
    ]


@pytest.mark.parametrize(
    ("spans", "is_turn"),
    [
        (_around({}), True),
        (_around({"gen_ai.operation.name": "invoke_agent"}), False),
        (_around({}, parent="elsewhere"), False),  # what is around it is not known
        (_around({}, parent="elsewhere", kind=2), True),  # a request from outside the program
    ],
)
async def test_the_same_graph_in_any_order(takes: Takes, spans: list[Sent], is_turn: bool) -> None:
    graphs = []
    for requests in ([spans], [[one] for one in spans], [[one] for one in reversed(spans)]):
        takes.anew()
        for request in requests:
            await takes.take(protobuf(request))
        await takes.written()
        graphs.append(without_project(await graph_of(takes.store, spans[0].trace_id.hex())))
    assert graphs[0] == graphs[1] == graphs[2]
    kinds = [one["kind"] for one in graphs[0]["variables"].values()]
    assert (VariableKind.ANSWER in kinds, VariableKind.QUERY in kinds) == (is_turn, is_turn)


async def test_a_reply_that_is_too_long_to_be_remembered_is_handed_out_whole(takes: Takes) -> None:
    takes.anew()
    reply = "At the station. " * 10_000
    spans = _around({})
    spans[0] = Sent("call", "chat", 2, 3, chat_attributes([("user", ASKED)], reply), parent="plain")
    for one in spans:
        await takes.take(protobuf([one]))
    await takes.written()
    (answer,) = await elements(
        takes.store, Variable, trace_id(takes.project, spans[0].trace_id.hex()), [VariableKind.ANSWER.value]
    )
    assert answer.size == len(reply)


@pytest.mark.parametrize("word", ["place ", "\x01"])
def test_a_long_question_and_long_attributes_fit_into_one_element(word: str) -> None:
    outer = {f"app.{number}": "x" * 20_000 for number in range(20)}
    said = chat_attributes([("user", word * 100_000)], "At the station.") | outer
    sent = Sent("call", "chat", 2, 3, said, parent="plain", resource={"service.name": "y" * 16_000})
    (span,) = decode(protobuf([sent]), PROTOBUF, 1).spans
    cut: list[str] = []
    events = [json.loads(one) for one in events_of("p", span, "t", cut)]
    (started,) = [one for one in events if one["type"] == "operationStarted"]
    assert len(msgspec.json.encode(started["attributes"])) < MOST_BYTES
    asked = started["attributes"]["otel"]["turn"]["asked"]
    assert asked
    assert (word * 100_000).startswith(asked)
    assert any(one.startswith(f"question: {len(word) * 100_000:,} bytes, the first {len(asked):,} are") for one in cut)


def test_only_the_newest_conversations_are_remembered() -> None:
    recent = RecentConversations(2)
    assert recent.merged("p", {"a": {"one"}, "b": {"two"}}, ["a", "b"]) == {"a": {"one"}, "b": {"two"}}
    assert recent.merged("p", {}, ["a"]) == {"a": {"one"}}
    assert recent.merged("other", {}, ["a"]) == {}
    recent.merged("p", {"c": {"three"}}, ["c"])
    assert recent.merged("p", {}, ["a", "b"]) == {"a": {"one"}}
