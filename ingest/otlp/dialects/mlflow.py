"""Spans of MLflow; attribute values are texts that hold JSON.

Source: mlflow/mlflow, tracing constants (``SpanType``, ``SpanAttributeKey``). A retriever's output is a list of
documents with ``page_content``, ``metadata`` and ``id``.
"""

from __future__ import annotations

from typing import Any

from ingest.otlp.dialects.items import argument, by_kind
from ingest.otlp.reading import structured, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step

_TAKEN = ("mlflow.spanInputs", "mlflow.spanOutputs")


def read(span: Span) -> Step | None:
    """The step of an MLflow span; None for other spans."""
    said = span.attributes
    if not any(name in said for name in ("mlflow.spanType", *_TAKEN)):
        return None
    word = words(structured(said.get("mlflow.spanType"))) or "UNKNOWN"
    given, got = structured(said.get("mlflow.spanInputs")), structured(said.get("mlflow.spanOutputs"))
    return by_kind("mlflow", span, word, argument(given), _content(got), _TAKEN)


def _content(value: Any) -> Any:
    """The messages in an OpenAI-compatible model's reply; other values unchanged."""
    choices = value.get("choices") if isinstance(value, dict) else None
    if isinstance(choices, list) and choices and all(isinstance(one, dict) and "message" in one for one in choices):
        return [one["message"] for one in choices]
    return value
