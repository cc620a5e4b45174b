"""Attributes in which Langfuse's SDKs send observations over OTLP.

Source: langfuse.com, "OpenTelemetry, property mapping". A generation's input and output are messages or texts.
"""

from __future__ import annotations

from typing import Any

from ingest.otlp.dialects.items import argument, by_kind
from ingest.otlp.reading import structured, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step

GIVEN, GOT = "langfuse.observation.input", "langfuse.observation.output"
_TAKEN = (GIVEN, GOT, "langfuse.trace.input", "langfuse.trace.output")


def read(span: Span) -> Step | None:
    """The step of a Langfuse observation; None for other spans."""
    said = span.attributes
    if not any(name.startswith("langfuse.observation.") for name in said):
        return None
    word = words(said.get("langfuse.observation.type")) or "span"
    given, got = structured(said.get(GIVEN)), structured(said.get(GOT))
    if span.is_root:
        given = given or structured(said.get("langfuse.trace.input"))
        got = got or structured(said.get("langfuse.trace.output"))
    return by_kind("langfuse", span, word, argument(_called_with(given)), got, _TAKEN)


def _called_with(value: Any) -> Any:
    """What Langfuse's decorator records of a call: the arguments by their names, or the only one without a name."""
    if not isinstance(value, dict) or value.keys() != {"args", "kwargs"} or not isinstance(value["args"], list):
        return value
    args, named = value["args"], value["kwargs"]
    if not args:
        return named
    return args[0] if len(args) == 1 and not named else value
