"""Reads a server's reply leniently, because compatible servers leave out different fields."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from attribution.llm.transport.data import as_data
from schema.outside_json import JsonError, read_json


@dataclass(frozen=True, slots=True)
class Tokens:
    """The usage of a call as reported by the server.

    Attributes:
        cached: tokens of the input that the server did not read again, because an earlier request began alike.
    """

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool by the model.

    Attributes:
        arguments: None if the model's text is no JSON object.
    """

    id: str
    name: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of the model.

    Attributes:
        refusal: the reason for a refusal; empty if the model answered.
        cut: whether the reply was cut off by its limit.
        tokens: None if the server does not report usage.
        has_thought: whether the server gives the model's thoughts in a field of their own.
    """

    content: str
    refusal: str
    calls: tuple[ToolCall, ...]
    cut: bool
    tokens: Tokens | None
    has_thought: bool = False

    def message(self) -> dict[str, Any]:
        """The message for the rest of the conversation.

        Malformed arguments become empty, because the templates of servers fail on malformed JSON.
        """
        if not self.calls:
            return {"role": "assistant", "content": self.content}
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": as_data(call.arguments or {})},
            }
            for call in self.calls
        ]
        return {"role": "assistant", "content": self.content or None, "tool_calls": calls}


class _Function(BaseModel):
    name: str
    arguments: str | dict[str, Any] | None = None


class _Call(BaseModel):
    id: str | None = None
    function: _Function


class _Message(BaseModel):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


class _Vector(BaseModel):
    embedding: list[float] = Field(min_length=1)
    index: int = Field(ge=0)


class _Embeddings(BaseModel):
    data: list[_Vector]
    usage: Any = None


class _PromptDetails(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(gt=0)
    completion_tokens: int = Field(default=0, ge=0)
    prompt_tokens_details: Any = None


def read_reply(text: str) -> Reply:
    """The reply in a body.

    Raises:
        ValueError: there is no reply.
    """
    body = _Completion.model_validate_json(text)
    choice = body.choices[0]
    message = choice.message
    calls = [
        ToolCall(call.id or f"call-{number}", call.function.name, arguments_of(call.function.arguments))
        for number, call in enumerate(message.tool_calls or ())
    ]
    refusal = message.refusal or ("its content filter stopped it" if choice.finish_reason == "content_filter" else "")
    has_thought = bool(message.reasoning_content or message.reasoning)
    is_cut = choice.finish_reason == "length"
    return Reply(_text(message.content), refusal, tuple(calls), is_cut, _tokens(body.usage), has_thought)


def read_vectors(text: str, count: int) -> tuple[list[list[float]], Tokens | None]:
    """The vectors in a body, in the order of the texts.

    Raises:
        ValueError: there is not one vector for each of ``count`` texts.
    """
    body = _Embeddings.model_validate_json(text)
    vectors = {vector.index: vector.embedding for vector in body.data}
    if len(body.data) != count or set(vectors) != set(range(count)):
        raise ValueError(f"{len(body.data)} vectors for {count} texts")
    if len({len(vector) for vector in vectors.values()}) > 1:
        raise ValueError("vectors of different lengths")
    return [vectors[index] for index in range(count)], _tokens(body.usage)


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if part.get("type", "text") == "text")
    return content or ""


def arguments_of(written: str | dict[str, Any] | None) -> dict[str, Any] | None:
    """The arguments of a call, given as JSON or as an object; None if they are no object, or nested too deep."""
    try:
        read = read_json((written if isinstance(written, str) else json.dumps(written or {})) or "{}")
    except (JsonError, TypeError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _tokens(usage: Any) -> Tokens | None:
    try:
        read = _Usage.model_validate(usage)
    except ValidationError:
        return None
    try:
        cached = _PromptDetails.model_validate(read.prompt_tokens_details or {}).cached_tokens or 0
    except ValidationError:
        cached = 0
    return Tokens(read.prompt_tokens, read.completion_tokens, min(max(cached, 0), read.prompt_tokens))
