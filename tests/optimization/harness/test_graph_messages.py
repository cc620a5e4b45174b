"""Messages of a MemTraceBench graph: text, speaker, time, and order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from optimization.harness.datasets.memtracebench import MemTraceBench
from optimization.harness.datasets.model import Conversation, Message

WRITTEN = "2026-07-01 12:00:00.390"
AT = datetime(2026, 7, 1, 12, 0, 0, 390_000, tzinfo=UTC)


def node(name: str, value: str = "tea", **more: Any) -> dict[str, Any]:
    usual = {"full_node_id": f"{name}@1", "name": name, "value": value, "created_at": WRITTEN, "category": "message"}
    return usual | more


def read(*nodes: object, annotations: list[dict[str, Any]] | None = None, **more: Any) -> Conversation:
    graph = {"graph_id": "g", "data": {"nodes": list(nodes), "annotations": annotations or []}} | more
    (found,) = MemTraceBench().read("a.json", graph)
    return found


def messages(*nodes: object) -> list[Message]:
    return [one for session in read(*nodes).sessions for one in session.messages]


@pytest.mark.parametrize(
    ("change", "speaker", "text", "time"),
    [
        ({}, "user", "tea", AT),
        ({"created_at": "long ago"}, "user", "tea", None),
        ({"created_at": "2026-07-01T12:00:00.390"}, "user", "tea", AT),
        ({"metadata": {"speakers": "Mara"}}, "Mara", "tea", AT),
        ({"metadata": {"speaker_tag": "Ben"}}, "Ben", "tea", AT),
        ({"metadata": {"speakers": "Mara", "speaker_tag": "Ben"}}, "Mara", "tea", AT),
        ({"metadata": {"timestamp": "2026-07-01T13:00:00.390Z"}}, "user", "tea", AT + timedelta(hours=1)),
        ({"metadata": {"timestamp": 5}}, "user", "tea", AT),
        ({"value": '{"content": "tea at four", "name": "Cy"}'}, "Cy", "tea at four", AT),
        ({"value": '{"content": "tea", "name": "Cy"}', "metadata": {"speakers": "Mara"}}, "Mara", "tea", AT),
        ({"value": '{"content": "tea"}', "metadata": {"speaker_tag": "Ben"}}, "Ben", "tea", AT),
        ({"value": "tea\nBelow is this message's metadata:\nspeaker: Mara\n"}, "user", "tea", AT),
        (
            {"value": "Below is this message's metadata: no line"},
            "user",
            "Below is this message's metadata: no line",
            AT,
        ),
    ],
)
def test_a_message_has_its_text_speaker_and_time(
    change: dict[str, Any], speaker: str, text: str, time: datetime | None
) -> None:
    assert messages(node("m1", **change)) == [Message("m1", speaker, text, time)]


def test_messages_are_in_the_order_of_their_times_and_each_is_read_once() -> None:
    later = "2026-07-01 12:00:01.000"
    found = messages(
        node("late", created_at=later),
        node("first"),
        node("second"),
        node("first", "again", full_node_id="first@2"),
        node("fact", category="memory"),
        "no node",
        {"category": "message", **node("third")},
    )
    assert [(one.id, one.text) for one in found] == [
        ("first", "tea"),
        ("second", "tea"),
        ("third", "tea"),
        ("late", "tea"),
    ]


def test_sessions_begin_with_their_first_message_in_the_file() -> None:
    found = read(node("a", session_id="s1"), node("b"), node("c", session_id="s1"), user_id="u")
    assert [(one.id, [said.id for said in one.messages], one.time) for one in found.sessions] == [
        ("s1", ["a", "c"], AT),
        ("session", ["b"], AT),
    ]
    assert (found.user, read(node("a")).user) == ("u", "g")


def test_questions_name_messages_as_the_conversation_does() -> None:
    asked = {"query_id": "q1", "query": "When?", "golden_answers": ["four", None, 4]}
    found = read(
        node("a"),
        annotations=[
            asked | {"source_evidence_ids": ["a@1", "unknown"], "question_type": "time"},
            asked | {"query_id": "q2", "golden_answers": "four"},
        ],
    )
    first, second = found.questions
    assert (first.id, first.text, first.gold, first.evidence, first.kind) == (
        "q1",
        "When?",
        ("four", "4"),
        ("a", "unknown"),
        "time",
    )
    assert (second.gold, second.evidence, second.kind) == (("four",), (), None)


@pytest.mark.parametrize(
    ("content", "is_known"),
    [
        ({"data": {"nodes": [], "annotations": []}}, True),
        ({"data": {"nodes": []}}, False),
        ({"data": {"annotations": []}}, False),
        ({"data": []}, False),
        ({}, False),
        ([], False),
        (None, False),
    ],
)
def test_a_graph_with_annotations_is_recognised(content: object, is_known: bool) -> None:
    assert MemTraceBench().recognises(content) is is_known
