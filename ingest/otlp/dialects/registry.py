"""The list of dialects, and the one function that reads a span of any of them."""

from __future__ import annotations

from ingest.otlp.dialects import everos, genai, langfuse, memtrace, mlflow, openinference, other, traceloop
from ingest.otlp.spans import Span
from ingest.otlp.steps import Dialect, Step

DIALECTS: tuple[Dialect, ...] = (
    memtrace.read,
    openinference.read,
    mlflow.read,
    everos.read,
    langfuse.read,
    traceloop.read,
    genai.read,
)
"""In the order in which they are asked: several use the attributes of GenAI beside their own, so that comes last."""


def step_of(span: Span) -> Step:
    """What a span says; a span of no dialect is an operation of kind Other."""
    for read in DIALECTS:
        step = read(span)
        if step is not None:
            return step
    return other.read(span)
