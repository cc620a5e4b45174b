"""Advice on holes for programs that call nothing of the recorder: recorded by instruments, or by OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from attribution.trace.fixes import CONNECT_ANSWER, NAME_KIND, RECORD_ANSWERS, RECORD_MESSAGES, RECORD_UNITS
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import Hole
from attribution.trace.span_holes import is_of_spans, span_holes
from schema.kinds import VariableKind
from schema.models import Trace

_PLACED = frozenset({"program", "namespace", "store"})
"""Attributes of a trace that an instrument opened."""

_OF_INSTRUMENTS: Mapping[str, str] = {
    RECORD_MESSAGES: (
        "the program is not decorated: send what a user says as a message of its own, with the role user and "
        "without a template around it, or give it to a recorded memory; or record it with "
        'memtrace.variable(..., kind="Message")'
    ),
    RECORD_ANSWERS: (
        "the program is not decorated, so no reply is marked as the answer: find it with `memtrace search`, "
        "and name it with `memtrace fail`; or decorate what answers with "
        '@memtrace.operation(kind="Generation", output="Answer")'
    ),
    RECORD_UNITS: (
        "the program is not decorated: `memtrace run` records the memories of the packages in "
        "docs/instruments.md; for a memory of your own, " + RECORD_UNITS
    ),
    CONNECT_ANSWER: (
        "the program is not decorated: send the history with the call, or name its conversation (metadata "
        "with a session_id, previous_response_id, a thread_id in the configuration), so that the calls are "
        "one conversation"
    ),
    NAME_KIND: "steps of recorded packages are well as they are; of functions that you decorated, " + NAME_KIND,
}

_OF_OPENTELEMETRY: Mapping[str, str] = {
    RECORD_MESSAGES: (
        "the spans tell no message that the memory was made from: capture the contents "
        "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, or the option of the framework), and give the "
        "spans that write the memory the attributes memtrace.operation.kind, memtrace.inputs and "
        "memtrace.outputs; see docs/otlp.md"
    ),
    RECORD_ANSWERS: ("the outermost span, or the span of an agent, must tell its output: capture the contents"),
    RECORD_UNITS: (
        "give the spans that write the memory the attributes memtrace.operation.kind and memtrace.outputs "
        "with store, id and write, and those that search it the same ids; see docs/otlp.md"
    ),
    CONNECT_ANSWER: (
        "let the spans of a conversation have the same gen_ai.conversation.id, or name the trace with memtrace.trace"
    ),
    NAME_KIND: (
        "spans of chains and agents are well as they are; give those that change or search a memory the "
        "attribute memtrace.operation.kind"
    ),
}


def advised(found: Iterable[Hole], trace: Trace, graph: TraceGraph) -> list[Hole]:
    """The holes of a trace, each with a fix that suits how the trace was recorded."""
    fixes: Mapping[str, str] = {}
    if is_of_spans(graph):
        fixes = _OF_OPENTELEMETRY
        if _tells_turns(graph):
            found = [one for one in found if one.fix not in {RECORD_MESSAGES, CONNECT_ANSWER}]
        found = [*found, *span_holes(trace, graph)]
    elif _PLACED & msgspec.json.decode(trace.attributes).keys():
        fixes = _OF_INSTRUMENTS
    return [replace(one, fix=fixes.get(one.fix, one.fix)) for one in found]


def fix_for(graph: TraceGraph, fix: str) -> str:
    """The fix of a hole as a program that sends spans can apply it; any other program gets it unchanged."""
    return _OF_OPENTELEMETRY.get(fix, fix) if is_of_spans(graph) else fix


def _tells_turns(graph: TraceGraph) -> bool:
    """Whether spans tell what a user said at each turn: as questions, and as no messages."""
    variables = graph.variables.values()
    has_messages = any(graph.is_message(one.id) for one in variables)
    return not has_messages and any(one.kind is VariableKind.QUERY and one.size for one in variables)
