"""OpenLLMetry's attributes ``traceloop.*``; OpenLLMetry's model calls have GenAI attributes too.

Source: traceloop/openllmetry, opentelemetry-semantic-conventions-ai. Searches in vector databases list their documents
in events of the span.
"""

from __future__ import annotations

from dataclasses import replace

from memtrace.kinds import OperationKind

from ingest.otlp.dialects import genai
from ingest.otlp.dialects.items import by_kind, documents, question, session_of
from ingest.otlp.reading import structured, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step

_NAME = "traceloop"

_RESULT = "db.query.result"


def read(span: Span) -> Step | None:
    """The step of an OpenLLMetry span; None for other spans."""
    said = span.attributes
    word = words(said.get("traceloop.span.kind"))
    if word is not None:
        # The values are the arguments and the result of a function.
        given = _argument(structured(said.get("traceloop.entity.input")))
        got = structured(said.get("traceloop.entity.output"))
        taken = ("traceloop.entity.input", "traceloop.entity.output")
        return by_kind(_NAME, span, word, given, got, taken, words(said.get("traceloop.entity.name")))
    if any(one.name == _RESULT for one in span.moments) or "db.vector.query.top_k" in said:
        return _search(span)
    if words(said.get("llm.request.type")) is None:
        return None
    called = genai.read(span)
    return None if called is None else replace(called, dialect=_NAME)


def _argument(value: object) -> object:
    """The only argument of a call; a call with several arguments is returned whole."""
    if isinstance(value, dict) and "args" in value:
        args, kwargs = value.get("args"), value.get("kwargs") or {}
        if isinstance(args, list) and isinstance(kwargs, dict) and len(args) + len(kwargs) == 1:
            return args[0] if args else next(iter(kwargs.values()))
    if isinstance(value, dict) and isinstance(value.get("inputs"), dict) and len(value["inputs"]) == 1:
        return next(iter(value["inputs"].values()))
    return value


def _search(span: Span) -> Step:
    found = [
        {
            "id": one.attributes.get(f"{_RESULT}.id"),
            "content": one.attributes.get(f"{_RESULT}.document"),
            "score": one.attributes.get(f"{_RESULT}.score"),
        }
        for one in span.moments
        if one.name == _RESULT
    ]
    store = words(span.attributes.get("db.collection.name")) or words(span.attributes.get("db.name"))
    asked = question(span, span.attributes.get("db.query.text"))
    kind = OperationKind.RETRIEVAL
    return Step(_NAME, kind, "search", asked, documents(found, store), session=session_of(span))
