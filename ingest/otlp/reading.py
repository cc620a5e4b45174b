"""Reads dialects' attribute values: JSON in texts, lists spread over numbered names, messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from schema.outside_json import JsonError, read_json

Attributes = Mapping[str, Any]

_DEEPEST = 12
"""Deepest nesting that is read from a name with dots; no dialect nests so deep."""


def structured(value: Any) -> Any:
    """Parse a text that holds a JSON object or list; other values are returned unchanged."""
    if isinstance(value, str) and value[:1] in {"[", "{", '"'}:
        try:
            return read_json(value)
        except JsonError:
            return value
    return value


def text_of(value: Any) -> str | None:
    """A value as text: a text unchanged, other values as JSON; None for an empty value."""
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def words(value: Any) -> str | None:
    """A name or an id as text; None for other values."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value) else None


def number(value: Any) -> float | None:
    """A number as float; None for other values."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def nested(attributes: Attributes, prefix: str) -> Any:
    """The attributes below a prefix, with numbered parts as lists: ``x.0.a`` and ``x.2.a`` are a list of two.

    Some senders also write an attribute named ``prefix``, which then has priority. None if there is no attribute.
    """
    if prefix in attributes:
        return structured(attributes[prefix])
    start = prefix + "."
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(start):
            _put(tree, name[len(start) :].split(".", _DEEPEST), value)
    return _listed(tree) if tree else None


def _put(tree: dict[str, Any], parts: list[str], value: Any) -> None:
    for part in parts[:-1]:
        below = tree.setdefault(part, {})
        if not isinstance(below, dict):
            return  # the sender wrote both ``x`` and ``x.y``: ``x`` stays
        tree = below
    tree.setdefault(parts[-1], value)


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    found = {name: _listed(value) for name, value in tree.items()}
    if found and all(name.isascii() and name.isdigit() and len(name) < 10 for name in found):
        return [found[name] for name in sorted(found, key=int)]
    return found


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list, or a single object as a list; ``value`` may be JSON in a text."""
    found = structured(value)
    if isinstance(found, dict):
        found = [found]
    return [one for item in found if isinstance(one := structured(item), dict)] if isinstance(found, list) else []


def messages(value: Any, *, with_thoughts: bool = True) -> list[tuple[str, str]]:
    """Role and text of each message, in any dialect's layout; an empty list if ``value`` holds no messages.

    Args:
        value: messages, or a text of JSON with messages.
        with_thoughts: whether the text has the parts in which a model reasons.
    """
    said = []
    for one in _messages_in(value):
        text = _text_of_message(one, with_thoughts=with_thoughts)
        if text:
            said.append((_role(one), text))
    return said


def thoughts(value: Any) -> str | None:
    """What a model reasoned before its reply, from the messages of the reply; None if there is nothing."""
    found: list[str] = []
    for one in _messages_in(value):
        for name in ("reasoning_content", "reasoning"):
            if isinstance(one.get(name), str) and one[name]:
                found.append(one[name])
                break
        found += [text for part in _parts(one) if _is_thought(part) and (text := _text_of_part(part))]
    return "\n\n".join(found) or None


def only_calls_tools(value: Any) -> bool:
    """Whether a reply says nothing and calls tools: it answers nobody yet."""
    said = list(_messages_in(value))
    parts = [part for one in said for part in _parts(one) if not _is_thought(part)]
    calls = [part for part in parts if isinstance(part, dict) and part.get("type") in _CALLS]
    return len(calls) == len(parts) and bool(calls or any(one.get("tool_calls") for one in said))


def _messages_in(value: Any) -> Iterator[dict[str, Any]]:
    found = structured(value)
    if isinstance(found, dict):
        found = found["messages"] if isinstance(found.get("messages"), list | str) else [found]
        found = structured(found)
    for item in map(structured, found if isinstance(found, list) else ()):
        if isinstance(item, list):  # LangChain sends a list of lists
            yield from _messages_in(item)
        elif isinstance(item, dict):
            one = _inside(item)
            if "role" in one or "parts" in one or "content" in one:
                yield one


def _inside(item: dict[str, Any]) -> dict[str, Any]:
    """The message that an item of a list holds: ``data`` and ``kwargs`` are of messages that LangChain writes down."""
    told = item.get("message")
    if isinstance(told, dict):
        return told
    written = (item.get(name) for name in ("data", "kwargs"))
    return next((one for one in written if isinstance(one, dict) and "content" in one), item)


def _role(message: Mapping[str, Any]) -> str:
    """The role of a message; ``tool`` for a message of the user that holds nothing but results of tools."""
    parts = _parts(message)
    if parts and all(
        isinstance(part, dict) and (part.get("type") in _RESULTS or "toolResult" in part) for part in parts
    ):
        return "tool"
    kind = words(message.get("type")) or ""
    return words(message.get("role")) or (kind if kind in _ROLES else "")


_ROLES = frozenset({"human", "ai", "system", "tool", "function"})
"""LangChain's types of messages, which stand in the place of roles."""
_CALLS = frozenset({"tool_call", "tool_use", "tool-call", "function_call"})
_RESULTS = frozenset({"tool_call_response", "tool_result", "tool-result"})
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and (part.get("type") in _THOUGHTS or "reasoningContent" in part)


def transcript(said: Iterable[tuple[str, str]]) -> str | None:
    """Messages as one text, a paragraph per message; None if there are no messages."""
    return "\n\n".join(f"{role}: {text}" if role else text for role, text in said) or None


def reply(said: list[tuple[str, str]]) -> str | None:
    """A reply as text: one message without its role, several messages as a transcript.

    Of a whole conversation, which has messages of the user, it is what was said last to the user.
    """
    if said and any(role in _USERS for role, _ in said) and said[-1][0] in _MODELS:
        said = said[-1:]
    return said[0][1] if len(said) == 1 else transcript(said)


def last_of_user(said: list[tuple[str, str]]) -> str | None:
    """The text of the user's last message; None if there is none."""
    return next((text for role, text in reversed(said) if role in _USERS), None)


_USERS, _MODELS = frozenset({"user", "human"}), frozenset({"assistant", "ai", "model"})


def _text_of_message(message: Mapping[str, Any], *, with_thoughts: bool) -> str:
    parts = [_text_of_part(part) for part in _parts(message) if with_thoughts or not _is_thought(part)]
    parts += [text_of(call.get("tool_call", call)) or "" for call in objects(message.get("tool_calls"))]
    return "\n".join(part for part in parts if part)


def _parts(message: Mapping[str, Any]) -> list[Any]:
    for name in ("parts", "contents", "content"):
        found = structured(message.get(name))
        if found is not None and found != "":
            return found if isinstance(found, list) else [message[name]]
    return []


def _text_of_part(part: Any) -> str:
    if not isinstance(part, dict):
        return text_of(part) or ""
    part = part["message_content"] if isinstance(part.get("message_content"), dict) else part
    for name in ("content", "text", "thinking"):
        if isinstance(part.get(name), str):
            return str(part[name])
    return text_of(part) or ""
