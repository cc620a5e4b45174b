"""OpenTelemetry's own conventions for generative AI, with the spans of memories and retrievals.

Source: open-telemetry/semantic-conventions-genai (Development). Contents are opt-in, and JSON texts or structured.
Older attributes (``gen_ai.prompt``, ``gen_ai.completion``, ``gen_ai.system``) are read too.
"""

from __future__ import annotations

from typing import Any

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.dialects.items import documents, inference, plain, question, session_of, whole
from ingest.otlp.reading import messages, nested, number, objects, structured, text_of, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Deleted, Item, Step

_NAME = "genai"

_MEMORY = {
    "create_memory": OperationKind.EXTRACTION,
    "update_memory": OperationKind.UPDATE,
    "upsert_memory": OperationKind.UPDATE,
    "search_memory": OperationKind.RETRIEVAL,
    "delete_memory": OperationKind.DELETION,
    "create_memory_store": OperationKind.INITIALIZATION,
    "delete_memory_store": OperationKind.DELETION,
}

_TAKEN = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.memory.records",
    "gen_ai.memory.query.text",
    "gen_ai.memory.input.messages",
    "gen_ai.memory.output.messages",
    "gen_ai.retrieval.documents",
    "gen_ai.retrieval.query.text",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
)


def read(span: Span) -> Step | None:
    """The step of a span with GenAI attributes; None for other spans."""
    said = span.attributes
    name = words(said.get("gen_ai.operation.name")) or words(said.get("gen_ai.memory.operation"))
    if name is None:
        if not any(key.startswith("gen_ai.") for key in said):
            return None
        name = "chat" if nested(said, "gen_ai.prompt") or nested(said, "gen_ai.completion") else ""
    session = session_of(span)
    if name in _MEMORY:
        return _memory(span, name, session)
    kind, (inputs, outputs) = _by_name(span, name)
    return Step(_NAME, kind, name or None, inputs, outputs, session=session, taken=_TAKEN)


def _by_name(span: Span, name: str) -> tuple[OperationKind, tuple[list[Item], list[Item]]]:
    said = span.attributes
    given, got = nested(said, "gen_ai.input.messages"), nested(said, "gen_ai.output.messages")
    match name:
        case "chat" | "generate_content" | "text_completion":
            given = given or nested(said, "gen_ai.prompt") or _from_moments(span, "gen_ai.input.messages")
            got = got or nested(said, "gen_ai.completion") or _from_moments(span, "gen_ai.output.messages")
            return OperationKind.GENERATION, inference(span, given, got, nested(said, "gen_ai.system_instructions"))
        case "retrieval":
            store = words(said.get("gen_ai.data_source.id"))
            found = documents(objects(said.get("gen_ai.retrieval.documents")), store)
            return OperationKind.RETRIEVAL, (question(span, said.get("gen_ai.retrieval.query.text")), found)
        case "embeddings":
            return OperationKind.EMBEDDING, plain(given, None)
        case "execute_tool":
            made = said.get("gen_ai.tool.call.result")
            return OperationKind.TOOL, plain(said.get("gen_ai.tool.call.arguments"), made, VariableKind.CONTEXT)
        case _:
            return OperationKind.OTHER, whole(span, given, got, is_agent=name in {"invoke_agent", "invoke_workflow"})


def _from_moments(span: Span, name: str) -> Any:
    return next((found for one in span.moments if (found := nested(one.attributes, name))), None)


def _memory(span: Span, name: str, session: str | None) -> Step:
    said = span.attributes
    kind, store = _MEMORY[name], words(said.get("gen_ai.memory.store.id"))
    record = words(said.get("gen_ai.memory.record.id"))
    records = objects(said.get("gen_ai.memory.records"))
    inputs: list[Item] = []
    outputs: list[Item] = []
    deleted = None
    if kind is OperationKind.RETRIEVAL:
        inputs = question(span, said.get("gen_ai.memory.query.text"))
        outputs = documents(records, store, VariableKind.MEMORY_UNIT)
        if not records:
            got = structured(said.get("gen_ai.memory.output.messages"))
            outputs = plain(None, got, VariableKind.RETRIEVAL_RESULT)[1]
    elif kind is OperationKind.DELETION:
        deleted = Deleted(store, record if name == "delete_memory" else None)
    elif kind is not OperationKind.INITIALIZATION:
        for role, text in messages(said.get("gen_ai.memory.input.messages")):
            inputs.append(Item(VariableKind.MESSAGE, role or "message", text, is_outside=span.is_root))
        if not records and record is not None:
            records = [{"id": record}]
        # The conventions have no version numbers, so the time of an update serves as version.
        version = 0 if name == "create_memory" else span.started_ns // 1000
        for place, one in enumerate(records):
            id_ = words(one.get("id")) or (record if len(records) == 1 else None)
            content = text_of(one.get("content"))
            named = id_ or f"unit {place}"
            unit = VariableKind.MEMORY_UNIT
            outputs.append(Item(unit, named, content, False, store, id_, True, version, number(one.get("score"))))
    return Step(_NAME, kind, name, inputs, outputs, deleted, session, _TAKEN)
