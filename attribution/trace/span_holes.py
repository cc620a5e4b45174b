"""Holes in a recording of OpenTelemetry's spans: calls without contents, and spans that name no conversation."""

from __future__ import annotations

import re

from attribution.trace.graph import TraceGraph
from attribution.trace.holes import Hole
from attribution.trace.vain_searches import says
from schema.kinds import OperationKind, VariableKind
from schema.models import Trace

CAPTURE = (
    "let the instrumentation write contents into the spans: "
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY with "
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental (older ones of OpenTelemetry: =true), "
    "TRACELOOP_TRACE_CONTENT=true (OpenLLMetry), or the option of the framework; in spans of your own, set "
    "gen_ai.input.messages and gen_ai.output.messages; contents that are sent as logs are not taken"
)
_NAME_CONVERSATION = (
    "if a question rests on what was said before, give the spans of a conversation the same gen_ai.conversation.id "
    "or session.id (thread_id, chat_id and the like of a framework are known, too), or name the memory of a program: "
    "OTEL_RESOURCE_ATTRIBUTES=memtrace.trace=NAME; see docs/otlp.md"
)
_OF_OPENTELEMETRY = re.compile(r"[0-9a-f]{32}")
"""The name of a trace without a conversation: its id in OpenTelemetry."""
_TELL = frozenset({OperationKind.GENERATION, OperationKind.RETRIEVAL})
_EXAMPLES = 5


def is_of_spans(graph: TraceGraph) -> bool:
    """Whether a trace was recorded by OpenTelemetry."""
    return any('"otel":' in one.attributes for one in graph.operations.values())


def span_holes(trace: Trace, graph: TraceGraph) -> list[Hole]:
    """What the spans of a trace do not tell."""
    calls = [one.id for one in graph.operations.values() if one.kind in _TELL]
    silent = [one for one in calls if not _tells(graph, one)]
    asked = [one for one in graph.variables.values() if one.kind in {VariableKind.QUERY, VariableKind.MESSAGE}]
    found = []
    if silent:
        problem = f"{len(silent):,} of {len(calls):,} calls of models and searches tell no contents"
        found.append(Hole(problem, len(silent), tuple(silent[:_EXAMPLES]), CAPTURE))
    if _OF_OPENTELEMETRY.fullmatch(trace.external_id) and calls and len(asked) <= 1:
        problem = "the spans name no conversation, so nothing that was said or stored before belongs to this trace"
        found.append(Hole(problem, 1, (), _NAME_CONVERSATION))
    return found


def _tells(graph: TraceGraph, operation_id: str) -> bool:
    """Whether any text that an operation used or made is recorded."""
    near = (*graph.used(operation_id), *graph.made(operation_id))
    return any(says(graph.variables[one].preview) for one in near)
