"""Items (inputs and outputs) that several dialects share: questions, prompts, documents, values of agents or tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.reading import last_of_user, messages, number, reply, text_of, transcript, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Item, Step

_TEXTS = ("content", "page_content", "text", "memory", "summary")
"""Keys under which documents and memory units have their text."""

_SESSIONS = (
    "memtrace.session",
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "mlflow.trace.session",
)


def session_of(span: Span) -> str | None:
    """The id of the conversation, from any dialect's attribute."""
    for name in _SESSIONS:
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
    answer = reply(messages(got)) or text_of(got)
    kind = VariableKind.ANSWER if span.is_root else VariableKind.RESPONSE
    return inputs, [Item(kind, "reply", answer)] if answer is not None else []


def whole(span: Span, given: Any, got: Any, *, is_agent: bool = False) -> tuple[list[Item], list[Item]]:
    """Inputs and outputs of a chain, an agent or a workflow."""
    is_end = span.is_root or is_agent
    if is_end:
        inputs = question(span, given, is_asked=True)
    else:
        text = transcript(messages(given)) or text_of(given)
        inputs = [Item(VariableKind.CONTEXT, "input", text)] if text is not None else []
    text = reply(messages(got)) or text_of(got)
    kind = VariableKind.ANSWER if is_end else VariableKind.RESPONSE
    return inputs, [Item(kind, "output", text)] if text is not None else []


def plain(given: Any, got: Any, out: VariableKind = VariableKind.OTHER) -> tuple[list[Item], list[Item]]:
    """Inputs and outputs of a tool or a judge."""
    before, after = text_of(given), text_of(got)
    return (
        [Item(VariableKind.OTHER, "input", before)] if before is not None else [],
        [Item(out, "output", after)] if after is not None else [],
    )


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


def by_kind(dialect: str, span: Span, word: str, given: Any, got: Any, taken: tuple[str, ...]) -> Step:
    """A step of a dialect that has a word for the kind, one input and one output of any type."""
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
            inputs, outputs = plain(given, got, VariableKind.CONTEXT)
        case OperationKind.JUDGE:
            inputs, outputs = plain(given, got, VariableKind.JUDGEMENT)
        case _:
            inputs, outputs = whole(span, given, got, is_agent=word.lower() in {"agent", "workflow"})
    return Step(dialect, kind, word, inputs, outputs, session=session_of(span), taken=taken)
