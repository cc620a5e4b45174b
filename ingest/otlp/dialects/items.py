"""Items (inputs and outputs) that several dialects share: questions, prompts, documents, values of agents or tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.reading import (
    last_of_user,
    messages,
    number,
    only_calls_tools,
    reply,
    structured,
    text_of,
    thoughts,
    transcript,
    words,
)
from ingest.otlp.spans import Span
from ingest.otlp.steps import Item, Step

_TEXTS = ("content", "page_content", "text", "memory", "summary")
"""Keys under which documents and memory units have their text."""

_SESSION = "memtrace.session"
_CONVERSATIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    *(f"traceloop.association.properties.{name}" for name in ("session_id", "thread_id", "conversation_id", "chat_id")),
    "mlflow.trace.session",
    *(f"ai.telemetry.metadata.{name}" for name in ("sessionId", "threadId", "conversationId", "chatId")),
)

_SEARCHES = frozenset({"search", "lookup", "look", "retrieve", "retrieval", "retriever", "recall", "find", "query"})
"""Words in the names of tools that search."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def session_of(span: Span) -> str | None:
    """The id of the session: named by the application for MemTrace, or else the conversation."""
    return _first(span, (_SESSION,)) or conversation_of(span)


def conversation_of(span: Span) -> str | None:
    """The id of the conversation, from any dialect's attribute."""
    return _first(span, _CONVERSATIONS)


def _first(span: Span, names: Iterable[str]) -> str | None:
    for name in names:
        found = words(span.attributes.get(name) or span.resource.get(name))
        if found is not None:
            return found
    return None


def question(span: Span, value: Any, *, is_asked: bool = False) -> list[Item]:
    """The question to a span, as a list of at most one item; from outside if the span is a root, or ``is_asked``.

    Args:
        span: the span.
        value: the question: a text, messages or any other value; None if there is no question.
        is_asked: whether the question comes from a user even if the span is no root.
    """
    said = messages(value)
    text = last_of_user(said) or transcript(said) or text_of(value)
    if text is None:
        return []
    if span.is_root or is_asked:
        return [Item(VariableKind.QUERY, "query", text, is_outside=True)]
    return [Item(VariableKind.REFINED_QUERY, "query", text)]


def argument(value: Any) -> Any:
    """A function's only argument without its name, beside numbers and truth values such as limits.

    ``messages`` keep their name.
    """
    if not isinstance(value, dict) or "messages" in value:
        return value
    others = [one for one in value.values() if one is not None and not isinstance(one, (bool, int, float))]
    return others[0] if len(others) == 1 else value if len(value) != 1 else next(iter(value.values()))


def inference(span: Span, given: Any, got: Any, system: Any = None) -> tuple[list[Item], list[Item]]:
    """Inputs and outputs of a model call; messages or any other values."""
    said = messages(given)
    before = [(role or "system", text) for role, text in messages(system)]
    before = before or [("system", text) for text in [text_of(system)] if text]
    prompt = transcript([*before, *said]) if said else text_of(given)
    inputs: list[Item] = []
    if span.is_root and (text := last_of_user(said)):
        inputs.append(Item(VariableKind.QUERY, "query", text, is_outside=True))
    if prompt is not None:
        inputs.append(Item(VariableKind.PROMPT, "prompt", prompt))
    is_answer = span.is_root and not only_calls_tools(got)
    return inputs, replied(got, VariableKind.ANSWER if is_answer else VariableKind.RESPONSE, "reply")


def replied(got: Any, kind: VariableKind, name: str) -> list[Item]:
    """The reply of a model or agent, and what the model reasoned before it."""
    said = messages(got, with_thoughts=False)
    thought = thoughts(got)
    text = reply(said) or (None if thought else text_of(got))
    items = [Item(kind, name, text)] if text is not None else []
    return items + ([Item(VariableKind.OTHER, "reasoning", thought)] if thought else [])


def whole(span: Span, given: Any, got: Any, *, is_agent: bool = False) -> tuple[list[Item], list[Item]]:
    """Inputs and outputs of a chain, an agent or a workflow."""
    is_end = span.is_root or is_agent
    if is_end:
        inputs = question(span, given, is_asked=True)
    else:
        text = transcript(messages(given)) or text_of(given)
        inputs = [Item(VariableKind.CONTEXT, "input", text)] if text is not None else []
    return inputs, replied(got, VariableKind.ANSWER if is_end else VariableKind.RESPONSE, "output")


def also_kept(given: Any, taken: tuple[str, ...], got: Any = None) -> tuple[str, ...]:
    """Prefixes of the attributes that ``whole`` holds: none for several messages, of which it takes the last one."""
    return () if len(messages(given)) > 1 or len(messages(got)) > 1 else taken


def plain(given: Any, got: Any, out: VariableKind = VariableKind.OTHER) -> tuple[list[Item], list[Item]]:
    """Inputs and outputs of a tool or a judge."""
    before, after = text_of(given), text_of(got)
    return (
        [Item(VariableKind.OTHER, "input", before)] if before is not None else [],
        [Item(out, "output", after)] if after is not None else [],
    )


def tool(span: Span, name: str | None, given: Any, got: Any) -> tuple[OperationKind, list[Item], list[Item]]:
    """Kind, inputs and outputs of a call of a tool. A tool whose name says that it searches is a retrieval.

    Args:
        span: the span.
        name: the tool's name; None if it is unknown.
        given: the arguments.
        got: the result; a list is a document for each element.
    """
    if _SEARCHES.isdisjoint(word.lower() for word in _WORD.findall(name or "")):
        return OperationKind.TOOL, *plain(given, got, VariableKind.CONTEXT)
    asked, found = structured(given), structured(got)
    if isinstance(asked, dict) and len(asked) == 1:
        asked = next(iter(asked.values()))
    inputs = question(span, asked)
    if isinstance(found, dict) and len(found) == 1 and isinstance(next(iter(found.values())), list):
        found = next(iter(found.values()))  # such as {"results": [...]}
    if not isinstance(found, list):
        return OperationKind.RETRIEVAL, inputs, plain(None, got, VariableKind.RETRIEVAL_RESULT)[1]
    hits = [one if isinstance(one, dict) else {"text": one} for one in found]
    outputs = documents(hits, None)
    if any(one.text is None for one in outputs):  # documents whose texts are under unknown names
        outputs = plain(None, got, VariableKind.RETRIEVAL_RESULT)[1]
    return OperationKind.RETRIEVAL, inputs, outputs


def documents(
    found: Iterable[Mapping[str, Any]], store: str | None, kind: VariableKind = VariableKind.RETRIEVAL_RESULT
) -> list[Item]:
    """The documents of a search, under the field names of any dialect."""
    items = []
    for rank, hit in enumerate(found):
        one = hit["document"] if isinstance(hit.get("document"), Mapping) else hit
        text = next((text for name in _TEXTS if (text := text_of(one.get(name)))), None)
        id_ = words(one.get("id"))
        name = id_ or f"document {rank}"
        items.append(Item(kind, name, text, store=store, id=id_, score=number(one.get("score"))))
    return items


KINDS = {
    "llm": OperationKind.GENERATION,
    "chat_model": OperationKind.GENERATION,
    "generation": OperationKind.GENERATION,
    "retriever": OperationKind.RETRIEVAL,
    "reranker": OperationKind.RETRIEVAL,
    "embedding": OperationKind.EMBEDDING,
    "tool": OperationKind.TOOL,
    "evaluator": OperationKind.JUDGE,
}
"""Operation kinds by the dialects' words for kinds of spans; other words mean kind Other."""


def by_kind(
    dialect: str, span: Span, word: str, given: Any, got: Any, taken: tuple[str, ...], name: str | None = None
) -> Step:
    """A step of a dialect that has a word for the kind, one input and one output of any type.

    ``name`` is the tool's name, if the span's own name is another.
    """
    kind = KINDS.get(word.lower(), OperationKind.OTHER)
    match kind:
        case OperationKind.GENERATION:
            inputs, outputs = inference(span, given, got)
        case OperationKind.RETRIEVAL:
            inputs = question(span, given)
            listed = got if isinstance(got, list) and all(isinstance(one, dict) for one in got) else None
            outputs = documents(listed, None) if listed else plain(None, got, VariableKind.RETRIEVAL_RESULT)[1]
        case OperationKind.EMBEDDING:
            inputs, outputs = plain(given, None)
        case OperationKind.TOOL:
            kind, inputs, outputs = tool(span, name or span.name, given, got)
        case OperationKind.JUDGE:
            inputs, outputs = plain(given, got, VariableKind.JUDGEMENT)
        case _:
            inputs, outputs = whole(span, given, got, is_agent=word.lower() in {"agent", "workflow"})
            taken = also_kept(given, taken, got)
    return Step(dialect, kind, word, inputs, outputs, session=session_of(span), taken=taken)
