"""MemTraceBench (2026, arXiv 2605.28732): graphs that smartcomment recorded, with annotated failures.

The messages in the graph are the conversation, the annotations are the questions; the recorded system's answers are not
used.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from optimization.harness.datasets.form import Record, checked, iso_time, record
from optimization.harness.datasets.model import Conversation, Message, Question, Session
from schema.outside_json import JsonError, read_json
from schema.readable import readable

_BELOW = re.compile(r"\n?Below is this message's metadata:\n.*\Z", re.DOTALL)
"""Matches the metadata that the recorded systems append to a message."""


class _Node(Record):
    full_node_id: str
    name: str
    value: str
    created_at: str
    category: str | None = None
    session_id: str | None = None
    metadata: dict[str, Any] | None = None


class _Annotation(Record):
    query_id: str
    query: str
    golden_answers: str | list[Any]
    source_evidence_ids: list[str] = []  # noqa: RUF012 (pydantic copies it)
    question_type: str | None = None


class _Data(Record):
    nodes: list[Any]
    annotations: list[Any]


class _Graph(Record):
    graph_id: str
    data: _Data
    user_id: str | None = None


class MemTraceBench:
    """A graph file is one conversation."""

    name = "memtracebench"

    def recognises(self, content: Any) -> bool:
        """Whether the content is a graph with ``data.nodes`` and ``data.annotations``."""
        data = content.get("data") if isinstance(content, dict) else None
        return isinstance(data, dict) and {"nodes", "annotations"} <= data.keys()

    def read(self, source: str, content: Any) -> list[Conversation]:
        """The conversation of the graph."""
        graph = record(_Graph, content, source, "")
        sessions: dict[str, list[tuple[str, int, Message]]] = {}
        names: dict[str, str] = {}
        seen: set[str] = set()
        for number, value in enumerate(graph.data.nodes):
            if not isinstance(value, dict) or value.get("category") != "message":
                continue
            node = record(_Node, value, source, f"data.nodes[{number}]")
            names[node.full_node_id] = node.name
            if node.name in seen:
                continue  # a later version of the same message
            seen.add(node.name)
            message = _message(node, source, f"data.nodes[{number}]")
            sessions.setdefault(node.session_id or "session", []).append((node.created_at, number, message))
        questions = []
        for number, value in enumerate(graph.data.annotations):
            said = record(_Annotation, value, source, f"data.annotations[{number}]")
            gold = [said.golden_answers] if isinstance(said.golden_answers, str) else said.golden_answers
            questions.append(
                Question(
                    said.query_id,
                    said.query,
                    tuple(str(one) for one in gold if one is not None),
                    tuple(names.get(one, one) for one in said.source_evidence_ids),
                    said.question_type,
                )
            )
        ordered = [
            Session(id_, tuple(message for _, _, message in sorted(said, key=lambda one: one[:2])), said[0][2].time)
            for id_, said in sessions.items()
        ]
        user = graph.user_id or graph.graph_id
        return [checked(Conversation(user, tuple(ordered), tuple(questions)), source, "")]


def _message(node: _Node, source: str, place: str) -> Message:
    text = readable(node.value)
    about: dict[str, Any] = node.metadata or {}
    try:
        said = read_json(text)
    except JsonError:
        said = None
    if isinstance(said, dict) and isinstance(said.get("content"), str):
        text = said["content"]
        about = {"speakers": said.get("name"), **about}
    moment = about.get("timestamp")
    time = iso_time(moment, source, f"{place}.metadata.timestamp") if isinstance(moment, str) else _written(node)
    speaker = about.get("speakers") or about.get("speaker_tag") or "user"
    return Message(node.name, str(speaker), _BELOW.sub("", text), time)


def _written(node: _Node) -> datetime | None:
    try:
        return datetime.fromisoformat(node.created_at).replace(tzinfo=UTC)
    except ValueError:
        return None
