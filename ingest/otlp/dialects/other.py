"""Spans of no dialect: operations of kind Other, with all their attributes."""

from __future__ import annotations

from memtrace.kinds import OperationKind

from ingest.otlp.dialects.pieces import session_of
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step


def read(span: Span) -> Step:
    """What is known of it."""
    return Step("other", OperationKind.OTHER, session=session_of(span))
