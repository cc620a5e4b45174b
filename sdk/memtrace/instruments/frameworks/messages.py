"""Messages, documents and other values of LangChain as texts, without importing LangChain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

MAX_LEAVES = 2_000
MAX_DEPTH = 5

KINDS_BY_KEY = {
    "query": "Query",
    "question": "Query",
    "context": "Context",
    "input": "Message",
    "message": "Message",
    "messages": "Message",
    "human_input": "Message",
    "user_input": "Message",
    "text": "Message",
    "human": "Message",
    "ai": "Message",
    "tool": "Message",
    "system": "Prompt",
}
"""The kind of a text from outside, by the application's key for the text, or by the role of the message."""


def is_message(value: object) -> bool:
    """Whether a value is a message of a conversation."""
    return hasattr(value, "content") and hasattr(value, "additional_kwargs") and hasattr(value, "type")


def is_document(value: object) -> bool:
    """Whether a value is a document."""
    return isinstance(getattr(value, "page_content", None), str)


def is_conversation(value: object) -> bool:
    """Whether a value is a list of messages only."""
    return isinstance(value, list | tuple) and bool(value) and all(is_message(one) for one in value)


def conversations(value: object) -> Iterator[tuple[str, Sequence[Any]]]:
    """The lists of messages in the state of a graph or in the inputs of a function, each with its key."""
    fields = value if isinstance(value, Mapping) else {"messages": value} if isinstance(value, list | tuple) else None
    if fields is None and (hasattr(type(value), "model_fields") or hasattr(value, "__dataclass_fields__")):
        fields = vars(value)
    for key, one in (fields or {}).items():
        if is_conversation(one):
            yield str(key), one
        elif isinstance(one, list | tuple) and one and all(_is_plain(item) for item in one):
            yield str(key), [_of_plain(item) for item in one]


def _is_plain(value: object) -> bool:
    """Whether a value is a message as a dictionary, in OpenAI's form."""
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and isinstance(value.get("content"), str)


def _of_plain(value: Mapping[str, Any]) -> Any:
    kind = _ROLES.get(value["role"], value["role"])
    return SimpleNamespace(type=kind, content=value["content"], additional_kwargs={}, id=value.get("id"))


def _role(value: Mapping[Any, Any]) -> str | None:
    """The role, in LangChain's words, of a message in OpenAI's form; None for any other dictionary."""
    return _ROLES.get(value["role"]) if _is_plain(value) else None


_ROLES = {
    "user": "human",
    "assistant": "ai",
    "developer": "system",
    **{kind: kind for kind in ("human", "ai", "system", "tool")},
}


def content(message: Any) -> str:
    """The text of a message without parts that are no text, such as images."""
    said = message.content
    if isinstance(said, str):
        return said
    parts = [part if isinstance(part, str) else part.get("text", "") for part in said if isinstance(part, str | dict)]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def plain(message: Any) -> dict[str, Any]:
    """A message as an element of a buffer."""
    said: dict[str, Any] = {"role": str(message.type), "content": content(message)}
    calls = tool_calls(message)
    if calls:
        said["tool_calls"] = calls
    return said


def reasoning(message: Any) -> str:
    """What a model reasoned before its reply; empty if it tells nothing."""
    told = (getattr(message, "additional_kwargs", None) or {}).get("reasoning_content")
    texts = [told] if isinstance(told, str) else []
    for part in message.content if isinstance(message.content, list) else ():
        if isinstance(part, Mapping) and part.get("type") in {"reasoning", "thinking"}:
            summary = part.get("summary")
            parts = (
                [part, *(one for one in summary if isinstance(one, Mapping))] if isinstance(summary, list) else [part]
            )
            said = (one.get(name) for one in parts for name in ("reasoning", "thinking", "text"))
            texts += [text for text in said if isinstance(text, str)]
    return "\n\n".join(text for text in texts if text)


def spoken(value: object) -> list[tuple[str, str]]:
    """Role, in OpenAI's words, and text of each message of a conversation without instructions; else an empty list."""
    if not is_conversation(value):
        return []
    assert isinstance(value, list | tuple)
    return [(_OPENAI.get(one.type, one.type), content(one)) for one in value if one.type != "system"]


_OPENAI = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
"""Roles by the type of a message; a program that streams keeps the sum of the parts as the reply."""


def tool_calls(message: Any) -> list[dict[str, Any]]:
    """Names and arguments of the tools that a message calls."""
    calls = getattr(message, "tool_calls", None) or ()
    return [{"name": str(call.get("name")), "args": call.get("args")} for call in calls if isinstance(call, Mapping)]


def rendered(messages: Sequence[Any]) -> str:
    """Messages as the text of a prompt: the content of a single message, or several contents with their roles."""
    if len(messages) == 1:
        return content(messages[0])
    return "\n\n".join(f"{message.type}: {content(message)}" for message in messages)


def leaves(value: object, key: str = "") -> Iterator[tuple[str, object]]:
    """Texts, documents and messages inside a value, each with the nearest key of a dictionary around it.

    The text of a message in OpenAI's form, ``{"role": "user", "content": ...}``, has the role as its key.
    """
    stack: list[tuple[str, object, int]] = [(key, value, 0)]
    left = MAX_LEAVES
    while stack and left:
        name, item, depth = stack.pop()
        left -= 1
        if isinstance(item, str) or is_document(item) or is_message(item):
            yield name, item
        elif depth >= MAX_DEPTH:
            continue
        elif isinstance(item, Mapping):
            role = _role(item)
            stack += [
                (role if role and one == "content" else str(one), inside, depth + 1)
                for one, inside in reversed(list(item.items()))
                if not (role and one == "role")
            ]
        elif isinstance(item, list | tuple | set | frozenset):
            stack += [(name, inside, depth + 1) for inside in reversed(list(item))]
        elif hasattr(type(item), "model_fields"):
            stack += [(str(one), inside, depth + 1) for one, inside in reversed(list(vars(item).items()))]
