"""How exact the causal past of an answer is, before and after the repair, over recorded graph files.

What belongs to a question is derived from the recorded file alone, by operations and the nodes that only one operation
made, so that the repair is not measured against itself.

Run: ``python -m benchmarks.exactness FILE...`` prints a Markdown table, a row a file.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ingest.files.opening import mapped
from ingest.files.registry import import_path
from schema.models import Operation, Variable
from store.contract.answers import Closure
from store.contract.protocol import GraphStore
from store.open import open_database
from store.shared.paging import elements


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a recorded file, by external ids.

    Attributes:
        answer: the node of the answer; several questions may share the node.
        answered_by: the operation that made the answer.
        searches: all retrieval operations for the question.
        evidence: messages with the answer, according to the data set.
    """

    query: str
    answer: str
    answered_by: str
    searches: frozenset[str]
    evidence: frozenset[str]


class RecordedFile:
    """A recorded graph as the file has it."""

    def __init__(self, path: Path) -> None:
        """Read a graph file, compressed or not."""
        with mapped(path) as mapping:
            graph = msgspec.json.decode(mapping)
        self.graph_id: str = graph["graph_id"]
        data = graph["data"]
        self.nodes: dict[str, dict[str, Any]] = {node["full_node_id"]: node for node in data["nodes"]}
        self.edges: list[dict[str, Any]] = data["edges"]
        self.operations: dict[str, dict[str, Any]] = {item["op_id"]: item for item in data["operations"]}
        self.counts = {name: len(data[name]) for name in ("nodes", "edges", "operations", "sessions")}
        self.raw: dict[str, Any] = graph

    def questions(self) -> list[Question]:
        """The questions that were answered."""
        searches = self._searches()
        messages = {node["name"]: key for key, node in self.nodes.items() if node["category"] == "message"}
        found = {}
        for edge in self.edges:
            query, answer = edge["source_full_node_id"], edge["target_full_node_id"]
            if self.nodes[query]["class_name"] == "query" and self.nodes[answer]["class_name"] == "prediction":
                named = self.nodes[query]["metadata"].get("evidence") or []
                evidence = frozenset(messages[name] for name in named if name in messages)
                found[query] = Question(query, answer, edge["op_id"], frozenset(searches[query]), evidence)
        return list(found.values())

    def _searches(self) -> dict[str, set[str]]:
        """Retrieval operations by the query that they use, or that an operation used whose result only they share."""
        inputs: dict[str, set[str]] = defaultdict(set)
        makers: dict[str, set[str]] = defaultdict(set)
        for edge in self.edges:
            inputs[edge["op_id"]].add(edge["source_full_node_id"])
            makers[edge["target_full_node_id"]].add(edge["op_id"])
        served: dict[str, set[str]] = defaultdict(set)
        queries_of: dict[str, set[str]] = {}
        for operation, item in self.operations.items():
            if item["category"] != "retrieval":
                continue
            queries = {node for node in inputs[operation] if self.nodes[node]["class_name"] == "query"}
            for node in inputs[operation]:
                if len(makers[node]) == 1:
                    queries |= queries_of.get(next(iter(makers[node])), set())
            queries_of[operation] = queries
            for query in queries:
                served[query].add(operation)
        return served

    def ancestors(self, node: str) -> set[str]:
        """The causal past by the recorded edges."""
        sources: dict[str, list[str]] = defaultdict(list)
        for edge in self.edges:
            sources[edge["target_full_node_id"]].append(edge["source_full_node_id"])
        past = {node}
        waiting = [node]
        while waiting:
            for source in sources[waiting.pop()]:
                if source not in past:
                    past.add(source)
                    waiting.append(source)
        return past

    def queries_in(self, nodes: Iterable[str]) -> set[str]:
        """The queries among some nodes."""
        return {node for node in nodes if self.nodes[node]["class_name"] == "query"}


async def answer_ids(store: GraphStore, trace_id: str, questions: list[Question]) -> dict[str, str]:
    """The id of each question's own answer: the variable of the answer's node that the answering operation made."""
    operations = await elements(store, Operation, trace_id)
    variables = await elements(store, Variable, trace_id)
    names = {operation.id: operation.external_id for operation in operations}
    made = {(v.external_id, names[v.operation_id]): v.id for v in variables if v.operation_id is not None}
    return {question.query: made[question.answer, question.answered_by] for question in questions}


def is_exact(question: Question, closure: Closure) -> bool:
    """Whether a closure holds the question's own query and no other."""
    return {v.external_id for v in closure.variables if v.kind == "Query"} == {question.query}


async def measure(path: Path) -> list[str]:
    """The row of one file."""
    recorded = RecordedFile(path)
    questions = recorded.questions()
    before = sum(recorded.queries_in(recorded.ancestors(q.answer)) == {q.query} for q in questions)
    after = searches = found_searches = evidence = found_evidence = size = 0
    with tempfile.TemporaryDirectory() as folder:
        async with await open_database(f"sqlite:///{folder}/exactness.db") as database:
            store = database.project("exactness")
            report = await import_path(store, path)
            answers = await answer_ids(store, report.trace_id, questions)
            for question in questions:
                closure = await store.closure([answers[question.query]])
                past = {variable.external_id for variable in closure.variables}
                after += is_exact(question, closure)
                searches += len(question.searches)
                found_searches += len(question.searches & {o.external_id for o in closure.operations})
                evidence += len(question.evidence)
                found_evidence += len(question.evidence & past)
                size += len(closure.variables)
    average = f"{size / len(questions):,.0f}" if questions else "–"
    return [
        f"{path.parent.name}/{path.name.partition('.')[0]}",
        str(len(questions)),
        str(before),
        str(after),
        f"{found_searches} of {searches}",
        average,
        f"{found_evidence} of {evidence}",
        f"{report.occurrences:,}",
        f"{report.reads:,}",
    ]


async def _main(paths: list[Path]) -> None:
    head = [
        "file",
        "questions",
        "only own query, recorded",
        "only own query, exact",
        "retrieval operations inside",
        "average closure",
        "evidence messages inside",
        "occurrences added",
        "of them reads",
    ]
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for path in paths:
        print("| " + " | ".join(await measure(path)) + " |", flush=True)


if __name__ == "__main__":
    asyncio.run(_main([Path(argument) for argument in sys.argv[1:]]))
