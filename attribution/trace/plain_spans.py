"""Spans of OpenTelemetry that say nothing of a model or a memory, such as a web framework's, around recorded steps."""

from __future__ import annotations

from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import attributes
from schema.kinds import OperationKind

_PLAIN = "other"
"""The dialect of such a span, in the data that the import of OpenTelemetry's spans keeps."""


def plain_around_steps(graph: TraceGraph) -> set[str]:
    """The ids of the plain spans around steps: they are no steps of the memory, and need no kind."""
    said = {one.id: attributes(one) for one in graph.operations.values() if one.kind is OperationKind.OTHER}
    plain = {id_ for id_, its in said.items() if isinstance(its.get("otel"), dict) and its["otel"]["dialect"] == _PLAIN}
    if not plain:
        return set()
    return plain & {str(attributes(one).get("parentId")) for one in graph.operations.values()}
