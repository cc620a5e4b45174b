"""Graph files as smartcomment writes them, of any size, made up from numbers: no recorded text is in them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from ingest.files.smartcomment.read import full_name, full_node_id

_WORDS = ("amber", "basket", "candle", "dolphin", "ember", "falcon", "garden", "harbour", "island", "jasmine", "kettle")
_START = datetime(2026, 1, 5, 9, 0)

_NODE_KEYS = (
    "created_at",
    "filename",
    "lineno",
    "name",
    "version",
    "value",
    "comment",
    "category",
    "graph_id",
    "user_id",
    "class_name",
    "project_id",
    "session_id",
    "metadata",
    "trigger_point",
    "full_name",
    "node_id",
    "full_node_id",
)
_EDGE_KEYS = (
    "created_at",
    "filename",
    "lineno",
    "edge_id",
    "graph_id",
    "user_id",
    "project_id",
    "session_id",
    "op_id",
    "category",
    "source_full_node_id",
    "target_full_node_id",
    "comment",
    "metadata",
    "trigger_point",
)
_OPERATION_KEYS = (
    "created_at",
    "filename",
    "lineno",
    "op_id",
    "op_name",
    "comment",
    "category",
    "graph_id",
    "user_id",
    "project_id",
    "session_id",
    "metadata",
    "trigger_point",
)
_SESSION_KEYS = (
    "created_at",
    "filename",
    "lineno",
    "session_id",
    "session_name",
    "graph_id",
    "user_id",
    "project_id",
    "comment",
    "category",
    "metadata",
    "trigger_point",
)


@dataclass
class GraphFile:
    """Records one graph. Ids are counted, so the same calls give the same file."""

    graph_id: str = "graph-made-up"
    user_id: str = "user-1"
    project_id: str = "Notes"
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: list[dict[str, Any]] = field(default_factory=list)
    operations: list[dict[str, Any]] = field(default_factory=list)
    sessions: list[dict[str, Any]] = field(default_factory=list)
    _versions: dict[str, int] = field(default_factory=dict)
    _ticks: int = 0

    def _record(self, keys: Iterable[str], line: int, **known: Any) -> dict[str, Any]:
        self._ticks += 1
        moment = _START + timedelta(milliseconds=7 * self._ticks)
        filename = "notes/memory.py"
        values = {
            "created_at": moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3],
            "filename": filename,
            "lineno": line,
            "graph_id": self.graph_id,
            "user_id": self.user_id,
            "project_id": self.project_id,
            "session_id": self.sessions[-1]["session_id"] if self.sessions else None,
            "comment": None,
            "metadata": {},
            "trigger_point": f"{filename}:{line}",
            **known,
        }
        return {key: values[key] for key in keys}

    def session(self, category: str) -> None:
        """Begin a session; what follows belongs to it."""
        name = f"session-{len(self.sessions)}"
        known = {"session_id": name, "session_name": None, "category": category}
        self.sessions.append(self._record(_SESSION_KEYS, 10, **known))

    def variable(
        self,
        name: str,
        value: str,
        category: str,
        class_name: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> str:
        """The key of a variable's newest version; a changed value adds a version."""
        named = full_name(class_name, name)
        version = self._versions.get(named, 0)
        key = full_node_id(class_name, name, version)
        if version and self.nodes[key]["value"] == value:
            return key
        self._versions[named] = version = version + 1
        key = full_node_id(class_name, name, version)
        known = {
            "name": name,
            "version": version,
            "value": value,
            "category": category,
            "class_name": class_name,
            "metadata": metadata or {},
            "full_name": named,
            "node_id": f"{name}@{version}",
            "full_node_id": key,
        }
        self.nodes[key] = self._record(_NODE_KEYS, 20, comment=f"A value of {category}.", **known)
        return key

    def text(self, value: str, category: str, class_name: str | None = None) -> str:
        """As ``variable``, named after its value: equal texts are one variable."""
        return self.variable(f"str:{value[:200]}", value, category, class_name)

    def operation(self, name: str, category: str, *steps: tuple[Iterable[str], str], edges: str = "operation") -> None:
        """Record an operation: each step makes a target from sources."""
        op_id = f"op-{len(self.operations):08x}"
        self.operations.append(self._record(_OPERATION_KEYS, 30, op_id=op_id, op_name=name, category=category))
        for sources, target in steps:
            for source in sources:
                known = {
                    "edge_id": f"edge-{len(self.edges):08x}",
                    "op_id": op_id,
                    "category": edges,
                    "source_full_node_id": source,
                    "target_full_node_id": target,
                }
                self.edges.append(self._record(_EDGE_KEYS, 40, **known))

    def as_dict(self) -> dict[str, Any]:
        """The whole file."""
        return {
            "graph_id": self.graph_id,
            "user_id": self.user_id,
            "project_id": self.project_id,
            "storage_path": None,
            "strict": True,
            "driver_type": "in_memory",
            "created_at": "2026-01-05 09:00:00.000",
            "metadata": {"layer_type": self.project_id},
            "data": {
                "nodes": list(self.nodes.values()),
                "edges": self.edges,
                "operations": self.operations,
                "sessions": self.sessions,
            },
        }

    def as_bytes(self) -> bytes:
        """The file as smartcomment's users write it."""
        return json.dumps(self.as_dict(), indent=4, ensure_ascii=False).encode()

    def write(self, path: Path) -> Path:
        """Write the file."""
        path.write_bytes(self.as_bytes())
        return path


def conversation(
    messages: int, questions: int, buffer_characters: int = 8_000, graph_id: str = "graph-made-up"
) -> GraphFile:
    """The life of a memory that keeps what it hears in a buffer and makes a unit of every fifth message.

    The buffer is rewritten with each message, up to ``buffer_characters``. Each question reads up to ten units, and
    several have the same answer; the answer of every third is judged wrong.
    """
    random = Random(f"{messages} {questions} {buffer_characters}")
    graph = GraphFile(graph_id)
    units = _remember(graph, random, messages, buffer_characters)
    graph.session("memory_search")
    found = [random.sample(units, min(10, len(units))) for _ in range(questions)]
    asked = [_query(graph, number, random.randrange(messages)) for number in range(questions)]
    for query, memories in zip(asked, found, strict=True):
        graph.operation("memory_system.retrieve", "retrieval", *(([query], unit) for unit in memories))
    graph.session("memory_evaluation")
    for number, (query, memories) in enumerate(zip(asked, found, strict=True)):
        _answer(graph, number, query, memories)
    return graph


def _remember(graph: GraphFile, random: Random, messages: int, buffer_characters: int) -> list[str]:
    units: list[str] = []
    text = ""
    buffer = ""
    for number in range(messages):
        if number % 50 == 0:
            graph.session("memory_construction")
        said = " ".join(random.choices(_WORDS, k=30))
        message = graph.variable(f"U1:D1:{number}", f"message {number}: {said}", "message")
        text = f"{text}\n{number}: {said}"[-buffer_characters:]
        before = [buffer] if buffer else []
        buffer = graph.variable("message-buffer", text, "message_buffer")
        graph.operation("memory_system.message_buffer_update", "update", ([*before, message], buffer), edges="update")
        if number % 5 == 4 or number == messages - 1:
            extracted = graph.text(f"facts of {number}: {said[:80]}", "llm_response", "extracted_facts")
            unit = graph.variable(f"memory-unit-{number:06}", f"Remember {number}: {said}", "memory_entry")
            graph.operation("memory_system.extract", "extraction", ([buffer], extracted), ([extracted], unit))
            units.append(unit)
    return units


def _query(graph: GraphFile, number: int, evidence: int) -> str:
    text = f"'What was said about {_WORDS[number % len(_WORDS)]} in message {evidence}, asked as {number}?'"
    return graph.variable(f"str:{number}", text, "message & query", "query", {"evidence": [f"U1:D1:{evidence}"]})


def _answer(graph: GraphFile, number: int, query: str, memories: list[str]) -> None:
    prompt = graph.variable("qa-prompt", "'Answer from the memories.'", "prompt")
    context = graph.text("\n".join(graph.nodes[unit]["value"] for unit in memories), "memory_context", "context")
    answer = graph.text(f"'{_WORDS[number % 7]}'", "llm_response", "prediction")
    graph.operation("question-answering", "evaluation", (memories, context), ([query, context, prompt], answer))
    gold = graph.text(f"'{_WORDS[number % 11]}'", "golden_answers", "golden_answers")
    template = graph.variable("judge-prompt", "'Is it the same?'", "prompt", "judge_prompt")
    reply = graph.text(f"'{'no' if number % 3 == 0 else 'yes'}'", "llm_response", "judge_response")
    score = graph.text(f"{int(number % 3 != 0)}", "variable", "judge_score")
    graph.operation("llm-judge", "evaluation", ([query, gold, template, answer], reply), ([reply], score))
