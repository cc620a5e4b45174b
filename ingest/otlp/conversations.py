"""Chooses the trace of each span of a request: a conversation is one trace, also over many traces of OpenTelemetry.

Ids of conversations are the application's own words, such as "1". So the name of a conversation's trace begins with the
program (``service.namespace`` and ``service.name``), and two programs do not share a conversation. An application that
wants another trace names it with ``memtrace.trace``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

from ingest.otlp.dialects.items import conversation_of
from ingest.otlp.dialects.memtrace import TRACE
from ingest.otlp.names import short
from ingest.otlp.reading import words
from ingest.otlp.spans import Span

MOST_REMEMBERED = 10_000
"""The most traces of OpenTelemetry whose conversations are remembered."""


class RecentConversations:
    """The conversations of the traces of OpenTelemetry that came last.

    A span around others comes after them, often in a later request, and its own attributes often name no conversation.
    """

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._held: OrderedDict[tuple[str, str], set[str]] = OrderedDict()
        self._lock = Lock()

    def merged(self, project_id: str, found: Mapping[str, set[str]], traces: Sequence[str]) -> dict[str, set[str]]:
        """The conversations of some traces, with those of earlier requests.

        Args:
            project_id: the project that receives the spans.
            found: the conversations that a request names, by trace; they are remembered.
            traces: the traces of the request.
        """
        merged = {}
        with self._lock:
            for trace in dict.fromkeys(traces):
                known = self._held.pop((project_id, trace), set()) | found.get(trace, set())
                if known:
                    # Two are as good as many: a span belongs to the only conversation, or to none.
                    self._held[project_id, trace] = set(sorted(known)[:2])
                    merged[trace] = known
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        return merged


def trace_names(spans: Sequence[Span], project_id: str = "", recent: RecentConversations | None = None) -> list[str]:
    """The name of each span's trace in the graph, in the order of the spans of a request.

    A span without a conversation belongs to the conversation of the nearest span around it; else to the only
    conversation of its trace of OpenTelemetry in this request and in recent ones. Without either conversation, the span
    stays in its trace of OpenTelemetry.

    Args:
        spans: the spans of the request.
        project_id: the project that receives them.
        recent: the conversations of recent requests; None if only this request counts.
    """
    own = {(span.trace_id, span.span_id): conversation_of(span) for span in spans}
    around = {(span.trace_id, span.span_id): span.parent_id for span in spans}
    in_trace: dict[str, set[str]] = {}
    for (trace_id, _), conversation in own.items():
        if conversation is not None:
            in_trace.setdefault(trace_id, set()).add(conversation)
    if recent is not None:
        in_trace = recent.merged(project_id, in_trace, [span.trace_id for span in spans])
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
