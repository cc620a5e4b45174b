"""Spans of EverOS: a memory's additions, extractions and searches.

EverOS sends contents in Langfuse's attributes, and only with its option ``capture_content``.
"""

from __future__ import annotations

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.dialects.items import documents, plain, question, session_of
from ingest.otlp.dialects.langfuse import GIVEN, GOT
from ingest.otlp.reading import messages, objects, structured, text_of
from ingest.otlp.spans import Span
from ingest.otlp.steps import Item, Step

_NAME = "everos"


def read(span: Span) -> Step | None:
    """The step of an EverOS span; None for other spans."""
    if not span.name.startswith("everos."):
        return None
    given, got = (structured(span.attributes.get(name)) for name in (GIVEN, GOT))
    inputs: list[Item] = []
    outputs: list[Item] = []
    match span.name.removeprefix("everos.").split("."):
        case ["memory", "add", *_]:
            kind = OperationKind.UPDATE
            inputs = _messages(span, given)
            outputs = plain(None, got)[1]
        case ["extract", *_]:
            kind = OperationKind.EXTRACTION
            inputs = _messages(span, given)
            outputs = [Item(VariableKind.MEMORY_UNIT, "unit", text) for text in [text_of(got)] if text is not None]
        case ["memory", "search", *_] | ["search", *_]:
            kind = OperationKind.RETRIEVAL
            asked = given.get("query", given) if isinstance(given, dict) else given
            inputs = question(span, asked)
            found = got
            if isinstance(got, dict):
                found = next((got[name] for name in ("memories", "episodes", "results") if got.get(name)), None)
            listed = objects(found)
            outputs = documents(listed, None, VariableKind.MEMORY_UNIT) if listed else plain(None, got)[1]
        case _:
            kind = OperationKind.OTHER
            inputs, outputs = plain(given, got)
    return Step(_NAME, kind, span.name, inputs, outputs, session=session_of(span), taken=(GIVEN, GOT))


def _messages(span: Span, given: object) -> list[Item]:
    said = messages(given) or [("", text) for text in [text_of(given)] if text is not None]
    kind = VariableKind.MESSAGE
    return [Item(kind, role or "message", text, is_outside=span.is_root) for role, text in said]
