"""Chooses the trace of each span of a request: a conversation is one trace, also over many traces of OpenTelemetry.

Ids of conversations are the application's own words, such as "1". So the name of a conversation's trace begins with the
program (``service.namespace`` and ``service.name``), and two programs do not share a conversation. An application that
wants another trace names it with ``memtrace.trace``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest.otlp.dialects.items import conversation_of
from ingest.otlp.dialects.memtrace import TRACE
from ingest.otlp.names import short
from ingest.otlp.reading import words
from ingest.otlp.spans import Span


def trace_names(spans: Sequence[Span]) -> list[str]:
    """The name of each span's trace in the graph, in the order of the spans of a request.

    A span without a conversation belongs to the conversation of the nearest span around it; else to the only
    conversation of its trace of OpenTelemetry in this request. Without either conversation, the span stays in its
    trace of OpenTelemetry.
    """
    own = {(span.trace_id, span.span_id): conversation_of(span) for span in spans}
    around = {(span.trace_id, span.span_id): span.parent_id for span in spans}
    in_trace: dict[str, set[str]] = {}
    for (trace_id, _), conversation in own.items():
        if conversation is not None:
            in_trace.setdefault(trace_id, set()).add(conversation)
    found: dict[tuple[str, str], str | None] = {}

    def belongs_to(span: Span) -> str | None:
        path: dict[tuple[str, str], None] = {}
        key, result = (span.trace_id, span.span_id), None
        while key in own and key not in path:
            path[key] = None
            result = found.get(key) or own[key]
            if result is not None or key in found:
                break
            key = span.trace_id, around[key] or ""
        if result is None:
            only = in_trace.get(span.trace_id, set())
            result = next(iter(only)) if len(only) == 1 else None
        found.update(dict.fromkeys(path, result))
        return result

    return [_name(span, belongs_to(span) if in_trace.get(span.trace_id) else None) for span in spans]


def _name(span: Span, conversation: str | None) -> str:
    named = words(span.attributes.get(TRACE)) or words(span.resource.get(TRACE))
    if named is None and conversation is not None:
        named = ": ".join([*_program(span.resource), conversation])
    return short(named or span.trace_id)


def _program(resource: Mapping[str, object]) -> list[str]:
    """The name of the program that made the span, as a list of at most one text."""
    parts = [words(resource.get(name)) for name in ("service.namespace", "service.name")]
    name = "/".join(part for part in parts if part)
    return [name] if name else []
