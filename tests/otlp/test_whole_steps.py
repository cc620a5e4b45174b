"""All events of a span of each dialect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ingest.otlp import admission
from ingest.otlp.media_types import PROTOBUF
from tests.expected import compare
from tests.otlp.dialects import examples
from tests.otlp.spans import Sent, conversation, protobuf

USER, REPLY = {"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Here."}
EVENT = {"event.name": "gen_ai.user.message", "role": "user", "content": "Where?"}
SESSION = {"gen_ai.conversation.id": "c1", "session.id": "s1"}
ITEM = {"kind": "MemoryUnit", "value": "a unit", "store": "db", "id": "u1", "write": True}
VERSION = ITEM | {"version": 7}


def _odd() -> Iterator[Sent]:
    """Spans that lack something, or say something twice."""
    said: list[tuple[str, dict[str, Any]]] = [
        ("pydantic run, only messages", {"pydantic_ai.all_messages": json.dumps([USER, REPLY])}),
        ("pydantic run, only events", {"all_messages_events": json.dumps([EVENT])}),
        ("pydantic run, both", {"all_messages": json.dumps([USER]), "all_messages_events": json.dumps([EVENT, EVENT])}),
        ("pydantic run, result", {"all_messages": json.dumps([USER, REPLY]), "final_result": "There."}),
        ("pydantic run, no list", {"all_messages": "nothing", "final_result": "There."}),
        ("pydantic run, an object", {"all_messages": json.dumps(REPLY)}),
        ("pydantic chat", {"events": json.dumps([EVENT])}),
        ("pydantic tool", {"gen_ai.tool.name": "map", "tool_arguments": "{}", "tool_response": "Rome"}),
        ("vercel tool without a name", {"ai.operationId": "ai.toolCall", "ai.toolCall.args": "{}"}),
        (
            "vercel system",
            {"ai.operationId": "ai.generateText", "ai.prompt": '{"system": "Be short."}'},
        ),
        ("vercel text", {"ai.operationId": "ai.generateText", "ai.prompt": "Hi", "ai.response.text": "Ho"}),
        ("vercel object", {"ai.operationId": "ai.generateObject", "ai.response.object": '{"town": "Rome"}'}),
        ("vercel calls", {"ai.operationId": "ai.generateText.doGenerate", "ai.response.toolCalls": "[{}]"}),
        ("vercel vectors", {"ai.operationId": "ai.embed.doEmbed", "ai.values": ["a"], "ai.embeddings": ["[0.5]"]}),
        ("memtrace write", {"memtrace.operation.kind": "Update", "memtrace.outputs": json.dumps([ITEM])}),
        (
            "memtrace version",
            {"memtrace.operation.kind": "Update", "memtrace.outputs": json.dumps([VERSION])},
        ),
        (
            "memtrace bad version",
            {"memtrace.operation.kind": "Tool", "memtrace.inputs": '[{"version": true}]'},
        ),
        ("memtrace no kind", {"memtrace.operation.kind": "Luck", "memtrace.inputs": '[{"kind": 1, "score": 0.5}]'}),
        (
            "memtrace outside",
            {"memtrace.operation.kind": "Tool", "memtrace.outputs": '[{"outside": true}]'},
        ),
        (
            "memtrace deleted",
            {"memtrace.operation.kind": "Deletion", "memtrace.deleted": '[{"id": "u1"}]'},
        ),
    ]
    for name, attributes in said:
        scope = "pydantic-ai" if name.startswith("pydantic") else "tests"
        yield Sent(name, name, 0, 5, attributes | SESSION, scope=scope)


SETS: dict[str, list[Sent]] = {
    "conversation": conversation(),
    **{span.name: [span] for span in _odd()},
    **{f"{place:02}-{span.name.replace('/', ' ')}": [span] for place, (span, _) in enumerate(examples("t"))},
}


@pytest.mark.parametrize("name", SETS)
def test_events(name: str) -> None:
    read = admission.read("whole", protobuf(SETS[name]), PROTOBUF, 1_000)
    assert len(read.span_of) == len(read.pieces)
    found = {
        "refused": read.refused,
        "cut": read.cut,
        "events": [{"span": place} | json.loads(event) for place, event in zip(read.span_of, read.pieces, strict=True)],
    }
    compare(__file__, f"{name}.json", found)


@pytest.mark.parametrize(
    ("refused", "events", "told"),
    [
        ([], [], (0, "")),
        (["no id"], [], (1, "no id")),
        ([], [(0, "first"), (1, "second of the same span"), (2, "third")], (2, "first; third")),
        (list("abcd"), [(2, "e")], (5, "a; b; c; d; e")),
        (list("abcde"), [(2, "f")], (6, "a; b; c; d; e; and 1 more")),
    ],
)
def test_refusals_are_counted_by_span_and_five_are_told(
    refused: list[str], events: list[tuple[int, str]], told: tuple[int, str]
) -> None:
    spans = admission.Spans([b""] * 3, [0, 0, 1], refused, 9)
    assert admission.refusals(spans, events) == told
    cut = admission.Spans([b""] * 3, [0, 0, 1], refused, 9, ["span a: x"])
    both = f"{told[1]}; kept in part: span a: x".removeprefix("; ")
    assert admission.refusals(cut, events) == (told[0], both)
