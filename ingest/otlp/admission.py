"""Turns the body of an OTLP request into events for the queue, and remembers the span of each event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.otlp.conversations import RecentConversations, trace_names
from ingest.otlp.decoding import decode
from ingest.otlp.events import events_of
from ingest.otlp.keeping import KeptResources
from ingest.otlp.spans import SpanError
from store.runtime.processor_share import ProcessorShare

_RECENT = RecentConversations()
"""Of this process: the server reads all but the longest requests in one process."""

_SHOWN = 5
_LONG_NAME = 100


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans of a request as events.

    Attributes:
        pieces: the events of all spans, as JSON, in their order.
        span_of: position of the event's span, per event.
        refused: reasons of the spans that could not be read.
        count: number of spans in the request.
        cut: per span that is not kept whole, what is missing.
        has_too_many_parts: whether the request has too many resources and scopes (``decoding.MOST_PARTS``).
    """

    pieces: list[bytes]
    span_of: list[int]
    refused: list[str]
    count: int
    cut: list[str] = field(default_factory=list)
    has_too_many_parts: bool = False


def read(project_id: str, body: bytes, kind: str, most: int) -> Spans:
    """The spans of a request, as events.

    Args:
        project_id: the project that receives the spans.
        body: the unpacked body.
        kind: media type of the body.
        most: largest number of spans; for a larger request, no events are made.

    Raises:
        InputError: the body is no OTLP request.
    """
    decoded = decode(body, kind, most)
    found = Spans([], [], decoded.refused, decoded.count, has_too_many_parts=decoded.has_too_many_parts)
    if decoded.count > most:
        return found
    share, resources = ProcessorShare(), KeptResources(decoded.count)
    names = trace_names(decoded.spans, project_id, _RECENT)
    for place, (span, trace) in enumerate(zip(decoded.spans, names, strict=True)):
        share.step()
        cut: list[str] = []
        try:
            made = events_of(project_id, span, trace, cut, resources)
        except (SpanError, RecursionError) as error:
            why = "an attribute is nested too deeply" if isinstance(error, RecursionError) else str(error)
            found.refused.append(f"span {span.span_id}: {why}")
            continue
        found.pieces.extend(made)
        found.span_of.extend([place] * len(made))
        if cut:
            found.cut.append(f"span {span.span_id} ({span.name[:_LONG_NAME]}): {', '.join(cut[:_SHOWN])}")
    return found


def refusals(spans: Spans, refused: Iterable[tuple[int, str]]) -> tuple[int, str]:
    """The number of spans that were refused, wholly or in part, and the reasons and cuts as one text.

    The text of a request without refused spans is a warning: OTLP allows one beside ``rejectedSpans`` 0.

    Args:
        spans: the request.
        refused: positions of refused events, with reasons.
    """
    reasons: dict[int, str] = {}
    for place, reason in refused:
        reasons.setdefault(spans.span_of[place], reason)
    told = [*spans.refused, *reasons.values()]
    texts = [_listed(told)] if told else []
    if spans.cut:
        texts.append(f"kept in part: {_listed(spans.cut)}")
    return len(told), "; ".join(texts)


def _listed(told: list[str]) -> str:
    more = f"; and {len(told) - _SHOWN:,} more" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more
