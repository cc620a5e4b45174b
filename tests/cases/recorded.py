"""Runs a program in this process with the recorder, and gives the verdicts on the answers that it called wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import memtrace
from memtrace import context
from memtrace.exporters.memory import MemoryExporter

from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import problems
from attribution.trace.graph import TraceGraph
from attribution.verdicts.stored import every_failure
from attribution.verdicts.verdict import Verdict
from ingest.files.registry import import_path
from schema.models import Failure
from store.contract.protocol import GraphStore


@dataclass
class Case:
    """What was recorded of a program, and the verdicts by the answer's text."""

    graph: TraceGraph
    failures: list[Failure]
    verdicts: list[Verdict]

    def blamed(self, verdict: Verdict) -> str | None:
        """The name of the operation that a verdict blames."""
        return None if verdict.operation_id is None else self.graph.operations[verdict.operation_id].name

    def shape(self) -> list[object]:
        """Kinds of all elements and the edges between them, without names and texts."""
        variables = {one.id: n for n, one in enumerate(self.graph.variables.values())}
        operations = {one.id: n for n, one in enumerate(self.graph.operations.values())}
        return [
            [one.kind for one in self.graph.operations.values()],
            [(one.kind, operations.get(one.operation_id or "")) for one in self.graph.variables.values()],
            sorted(
                (variables[d.source], variables[d.target], d.kind) for v in variables for d in self.graph.parents(v)
            ),
        ]


async def judged(program: Callable[[], None], store: GraphStore, folder: Path) -> Case:
    """Run a program that records one trace and calls answers wrong; returns the verdicts, whose paths must be right."""
    context.forget()
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    before = memtrace.fault_counts()
    try:
        program()
    finally:
        memtrace.configure(exporter=MemoryExporter())
    assert memtrace.fault_counts() == before
    path = folder / "events.ndjson"
    path.write_text("".join(json.dumps(event) + "\n" for event in exporter.events), "utf-8")
    trace = (await import_path(store, path)).trace_id
    graph, failures = await TraceGraph.load(store, trace), await every_failure(store, trace)
    verdicts = [await FlowPass().attribute(graph, one) for one in failures]
    for verdict in verdicts:
        assert await problems(verdict, graph) == []
    return Case(graph, failures, verdicts)
