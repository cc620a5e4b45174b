"""Describes operations in OpenTelemetry's conventions for generative AI, for display in other backends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ingest.exports.content import Content
from schema.kinds import OperationKind, VariableKind
from schema.models import Operation, Variable

_NAMES = {
    OperationKind.GENERATION: "chat",
    OperationKind.RETRIEVAL: "retrieval",
    OperationKind.EMBEDDING: "embeddings",
    OperationKind.TOOL: "execute_tool",
    OperationKind.EXTRACTION: "create_memory",
    OperationKind.UPDATE: "update_memory",
    OperationKind.DELETION: "delete_memory",
    OperationKind.INITIALIZATION: "create_memory_store",
}

_ASKED = {VariableKind.QUERY, VariableKind.REFINED_QUERY}


def genai_attributes(content: Content, operation: Operation) -> dict[str, Any]:
    """Attributes of GenAI; none for a kind of operation that the conventions don't know.

    A value over 2 KB is cut to its first 500 characters.
    """
    name = _NAMES.get(operation.kind)
    if name is None:
        return {}
    used = [content.variables[one] for one in dict.fromkeys(u.variable_id for u in content.used.get(operation.id, ()))]
    made = content.made.get(operation.id, [])
    found: dict[str, Any] = {"gen_ai.operation.name": name}
    match operation.kind:
        case OperationKind.GENERATION:
            given = [one for one in (*used, *made) if one.kind is VariableKind.PROMPT] or used
            got = [one for one in made if one.kind is not VariableKind.PROMPT]
            found["gen_ai.input.messages"] = _messages("user", given)
            found["gen_ai.output.messages"] = _messages("assistant", got)
        case OperationKind.RETRIEVAL:
            asked = next((one for one in (*used, *made) if one.kind in _ASKED), None)
            if asked is not None:
                found["gen_ai.retrieval.query.text"] = _text(asked)
            documents = [{"id": one.external_id, "content": _text(one)} for one in made if one.kind not in _ASKED]
            found["gen_ai.retrieval.documents"] = _json(documents)
        case OperationKind.TOOL:
            found["gen_ai.tool.name"] = operation.name or name
            found["gen_ai.tool.call.arguments"] = "\n".join(map(_text, used))
            found["gen_ai.tool.call.result"] = "\n".join(map(_text, made))
        case OperationKind.DELETION:
            ended = [content.variables[one.variable_id] for one in content.ended.get(operation.id, ())]
            if len(ended) == 1:
                found["gen_ai.memory.record.id"] = ended[0].name
            found["gen_ai.memory.record.count"] = len(ended)
        case OperationKind.EXTRACTION | OperationKind.UPDATE:
            units = [one for one in made if one.kind is VariableKind.MEMORY_UNIT]
            found["gen_ai.memory.record.count"] = len(units)
            found["gen_ai.memory.records"] = _json([{"id": one.name, "content": _text(one)} for one in units])
        case _:
            pass
    return found


def _messages(role: str, variables: Iterable[Variable]) -> str:
    return _json([{"role": role, "parts": [{"type": "text", "content": _text(one)}]} for one in variables])


def _text(variable: Variable) -> str:
    return variable.value if variable.value is not None else variable.preview


def _json(found: list[dict[str, Any]]) -> str:
    return msgspec.json.encode(found).decode()
