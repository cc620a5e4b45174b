"""Spans of OpenTelemetry that say nothing of a model or a memory, such as a web framework's, around recorded steps."""

from __future__ import annotations

from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import attributes
from ingest.otlp.names import OTEL, PLAIN
from schema.kinds import OperationKind


def plain_around_steps(graph: TraceGraph) -> set[str]:
    """The ids of the plain spans around steps: they are no steps of the memory, and need no kind."""
    said = {one.id: attributes(one).get(OTEL) for one in graph.operations.values() if one.kind is OperationKind.OTHER}
    # Any recorder may have written an attribute of this name.
    plain = {id_ for id_, its in said.items() if isinstance(its, dict) and its.get("dialect") == PLAIN}
    if not plain:
        return set()
    return plain & {str(attributes(one).get("parentId")) for one in graph.operations.values()}
