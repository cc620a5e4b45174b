"""Attributes ``ai.*`` of Vercel's AI SDK.

Source: vercel/ai, docs "Telemetry", and packages/ai/src (versions 3 to 6): ``ai.prompt``, ``ai.prompt.messages``,
``ai.response.*`` (``ai.result.*`` up to 3.4), ``ai.toolCall.*``, ``ai.value``. Values are texts or JSON texts.
"""

from __future__ import annotations

from typing import Any

from memtrace.kinds import OperationKind

from ingest.otlp.dialects.items import also_kept, inference, plain, session_of, tool, whole
from ingest.otlp.reading import structured, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step

_NAME = "vercel"
_PROMPTS = ("ai.prompt", "ai.prompt.messages", "ai.prompt.format")
_REPLIES = tuple(f"ai.{side}.{name}" for side in ("response", "result") for name in ("text", "object", "toolCalls"))
_THOUGHT = "ai.response.reasoning"


def read(span: Span) -> Step | None:
    """The step of a span of the AI SDK; None for other spans."""
    said = span.attributes
    name = words(said.get("ai.operationId"))
    if name is None:
        return None
    left_out: tuple[str, ...] = ()
    taken: tuple[str, ...]
    match name.split("."):
        case [_, "toolCall", *_]:
            called = words(said.get("ai.toolCall.name")) or span.name
            kind, inputs, outputs = tool(span, called, said.get("ai.toolCall.args"), said.get("ai.toolCall.result"))
            taken = ("ai.toolCall.args", "ai.toolCall.result")
        case [_, "embed" | "embedMany", *_]:
            kind = OperationKind.EMBEDDING
            given = structured(said.get("ai.value")) or [structured(one) for one in said.get("ai.values") or ()]
            inputs, outputs = plain(given, None)
            taken = ("ai.value", "ai.values", "ai.embedding", "ai.embeddings")
            if any(one in said for one in taken[2:]):
                left_out = ("vectors of embeddings are not kept",)
        case [_, _, *inner] if inner:  # such as ai.generateText.doGenerate
            kind = OperationKind.GENERATION
            inputs, outputs = inference(span, _given(span), _got(span), _system(span))
            taken = (*_PROMPTS, *_REPLIES, _THOUGHT)
        case _:
            kind, given = OperationKind.OTHER, _given(span)
            inputs, outputs = whole(span, given, _got(span), is_agent=True)
            taken = also_kept(given if _system(span) is None else [given, ""], (*_PROMPTS, *_REPLIES, _THOUGHT))
    return Step(_NAME, kind, name, inputs, outputs, session=session_of(span), taken=taken, left_out=left_out)


def _given(span: Span) -> Any:
    said = span.attributes
    given = structured(said.get("ai.prompt.messages")) or structured(said.get("ai.prompt"))
    if isinstance(given, dict):
        return given.get("messages") or given.get("prompt")
    return given


def _system(span: Span) -> Any:
    given = structured(span.attributes.get("ai.prompt"))
    return given.get("system") if isinstance(given, dict) else None


def _got(span: Span) -> Any:
    """The reply as a message: text or object, calls of tools, and reasoning."""
    found: dict[str, Any] = {}
    for name in _REPLIES:
        value = span.attributes.get(name)
        if value:
            found.setdefault(name.rpartition(".")[2], value)
    content = found.get("text") or found.get("object")
    calls, thought = structured(found.get("toolCalls")), span.attributes.get(_THOUGHT)
    if content is None and not calls and not thought:
        return None
    parts = [{"type": "text", "text": str(content)}] if content is not None else []
    message: dict[str, Any] = {"role": "assistant", "content": parts}
    if calls:
        message["tool_calls"] = calls
    if isinstance(thought, str):
        message["reasoning"] = thought
    return [message]
