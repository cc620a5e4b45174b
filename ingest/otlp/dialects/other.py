"""Spans of no known dialect: operations of kind Other, with all their attributes."""

from __future__ import annotations

from memtrace.kinds import OperationKind

from ingest.otlp.dialects.items import session_of
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step


def read(span: Span) -> Step:
    """The step of any span, without inputs and outputs."""
    return Step("other", OperationKind.OTHER, session=session_of(span))
