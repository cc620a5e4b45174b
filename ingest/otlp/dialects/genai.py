"""OpenTelemetry's own conventions for generative AI, with the spans of memories and retrievals.

Source: open-telemetry/semantic-conventions-genai (Development). Contents are opt-in, and JSON texts or structured.
Older attributes (``gen_ai.prompt``, ``gen_ai.completion``, ``gen_ai.system``) and messages in span events are read too.
"""

from __future__ import annotations

from typing import Any

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.dialects.items import also_kept, documents, inference, plain, question, session_of, tool, whole
from ingest.otlp.dialects.moments import NAMES, Spoken, spoken
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

_MESSAGES = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.prompt",
    "gen_ai.completion",
)
_OF_MEMORY = (
    "gen_ai.memory.records",
    "gen_ai.memory.query.text",
    "gen_ai.memory.input.messages",
    "gen_ai.memory.output.messages",
)
_OF_RETRIEVAL = ("gen_ai.retrieval.documents", "gen_ai.retrieval.query.text")
_OF_TOOL: tuple[str, ...] = ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")

_CYCLE = "event_loop.cycle_id"
"""An attribute of Strands Agents' spans around a call of a model and its tools."""

_MODELS = frozenset({"chat", "generate_content", "text_completion"})


def read(span: Span) -> Step | None:
    """The step of a span with GenAI attributes or events; None for other spans."""
    said = span.attributes
    name = words(said.get("gen_ai.operation.name")) or words(said.get("gen_ai.memory.operation"))
    if name is None:
        if not any(key.startswith("gen_ai.") for key in said) and all(one.name not in NAMES for one in span.moments):
            return None
        name = _guessed(span)
    session = session_of(span)
    if name in _MEMORY:
        return _memory(span, name, session)
    if name == "retrieval":
        store = words(said.get("gen_ai.data_source.id"))
        found = documents(objects(said.get("gen_ai.retrieval.documents")), store)
        asked = question(span, said.get("gen_ai.retrieval.query.text"))
        return Step(_NAME, OperationKind.RETRIEVAL, name, asked, found, session=session, taken=_OF_RETRIEVAL)
    told = spoken(span.moments)
    moments, taken = NAMES, _OF_TOOL
    if name == "execute_tool":
        given = said.get("gen_ai.tool.call.arguments") or _content(told.given)
        got = said.get("gen_ai.tool.call.result") or _content(told.got)
        kind, inputs, outputs = tool(span, words(said.get("gen_ai.tool.name")) or span.name, given, got)
    else:
        kind, (inputs, outputs), taken = _by_name(span, name, told)
        moments = NAMES if taken and told.given + told.got else frozenset()
    return Step(_NAME, kind, name or None, inputs, outputs, session=session, taken=taken, taken_moments=moments)


def _guessed(span: Span) -> str:
    """The operation of a span that does not name it: a call of a model if there are messages."""
    if words(span.attributes.get("gen_ai.tool.name")):
        return "execute_tool"
    if _CYCLE in span.attributes:
        return ""
    has_messages = any(one.name in NAMES for one in span.moments)
    return "chat" if has_messages or any(nested(span.attributes, name) for name in _MESSAGES) else ""


def _by_name(
    span: Span, name: str, told: Spoken
) -> tuple[OperationKind, tuple[list[Item], list[Item]], tuple[str, ...]]:
    """Kind, inputs and outputs, and the attributes that were read."""
    said = span.attributes
    given = nested(said, "gen_ai.input.messages") or nested(said, "gen_ai.prompt") or told.given
    got = nested(said, "gen_ai.output.messages") or nested(said, "gen_ai.completion") or told.got
    if name in _MODELS:
        system = nested(said, "gen_ai.system_instructions") or told.system
        return OperationKind.GENERATION, inference(span, given, got, system), _MESSAGES
    if name == "embeddings":
        return OperationKind.EMBEDDING, plain(given, None), ("gen_ai.input.messages", "gen_ai.prompt")
    is_agent = name in {"invoke_agent", "invoke_workflow"}
    taken = tuple(one for one in _MESSAGES if one != "gen_ai.system_instructions")
    return OperationKind.OTHER, whole(span, given, got, is_agent=is_agent), also_kept(given, taken)


def _content(said: list[Any]) -> Any:
    """What a tool is given or returns, from the messages of its events: the last message without its role."""
    if not said:
        return None
    content = said[-1].get("content") if isinstance(said[-1], dict) else said[-1]
    return "\n".join(text for _, text in messages(said[-1:])) or content


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
    return Step(_NAME, kind, name, inputs, outputs, deleted, session, _OF_MEMORY)
