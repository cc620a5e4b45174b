"""The list of dialects, and the function that reads a span of any dialect."""

from __future__ import annotations

from ingest.otlp.dialects import (
    everos,
    genai,
    langfuse,
    memtrace,
    mlflow,
    openinference,
    other,
    pydantic_ai,
    traceloop,
    vercel,
)
from ingest.otlp.spans import Span
from ingest.otlp.steps import Dialect, Step

DIALECTS: tuple[Dialect, ...] = (
    memtrace.read,
    openinference.read,
    mlflow.read,
    everos.read,
    langfuse.read,
    traceloop.read,
    vercel.read,
    pydantic_ai.read,
    genai.read,
)
"""Tried in this order; GenAI is last, because several dialects use GenAI's attributes beside their own."""


def step_of(span: Span) -> Step:
    """The step of a span; a span of no known dialect is an operation of kind Other."""
    for read in DIALECTS:
        step = read(span)
        if step is not None:
            return step
    return other.read(span)
