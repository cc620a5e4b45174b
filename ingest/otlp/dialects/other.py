"""Spans of no known dialect, such as those of web frameworks: operations of kind Other, with all their attributes.

They say nothing of a model or a memory. What is inside them is as if they were not there (``ingest.otlp.turns``).
"""

from __future__ import annotations

from memtrace.kinds import OperationKind

from ingest.otlp.dialects.items import session_of
from ingest.otlp.names import PLAIN
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step


def read(span: Span) -> Step:
    """The step of any span, without inputs and outputs."""
    return Step(PLAIN, OperationKind.OTHER, session=session_of(span))
