"""Reads requests and responses of OpenAI's interface; responses are objects of OpenAI's client, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memtrace.instruments.model_calls import THOUGHT, TOOL_CALLS, Reply, Said
from memtrace.instruments.think_tags import parted

CALLS = {
    "/chat/completions": ("openai chat", "Generation"),
    "/responses": ("openai responses", "Generation"),
    "/completions": ("openai completion", "Generation"),
    "/embeddings": ("openai embeddings", "Embedding"),
}
"""Endings of recorded paths, each with the name and kind of the operation; longer endings come first."""

_SETTINGS = ("model", "temperature", "top_p", "max_tokens", "max_completion_tokens", "max_output_tokens", "seed")
_CONVERSATION = {"previous_response_id": "previousResponseId", "conversation": "conversation"}
_PLAIN = (str, int, float)
_MAX_PART_CHARACTERS = 200


def call_of(path: str) -> tuple[str, str] | None:
    """Name and kind of the operation for a request to a path; None for a path that is not recorded."""
    for ending, known in CALLS.items():
        if path.endswith(ending):
            return known
    return None


def asked(body: Mapping[str, Any]) -> list[Said]:
    """The messages of a request."""
    if "messages" in body:
        return [said for message in body["messages"] for said in _said(message)]
    found = [Said("system", body["instructions"])] if isinstance(body.get("instructions"), str) else []
    given = body.get("input", body.get("prompt"))
    if isinstance(given, str):
        return [*found, Said("user", given)]
    if isinstance(given, Iterable):
        for item in given:
            found += [Said("user", item)] if isinstance(item, str) else _said(item)
    return found


def texts(body: Mapping[str, Any]) -> list[str]:
    """The texts of a request for embeddings, without token ids."""
    given = body.get("input")
    if isinstance(given, str):
        return [given]
    return [text for text in given if isinstance(text, str)] if isinstance(given, Iterable) else []


def settings(body: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of the operation: the model, its settings, the conversation, and the names of tools."""
    found = {name: body[name] for name in _SETTINGS if isinstance(body.get(name), _PLAIN)}
    found |= {word: told for name, word in _CONVERSATION.items() if (told := _id(body.get(name))) is not None}
    tools = body.get("tools")
    if isinstance(tools, Iterable) and not isinstance(tools, str):
        names = [field(field(tool, "function") or tool, "name") or field(tool, "type") for tool in tools]
        found["tools"] = [name for name in names if isinstance(name, str)]
    return found


def replies(response: object) -> list[Reply]:
    """The replies of a whole response: the text and the tool calls of each choice."""
    found: list[Reply] = []
    for choice in _list(field(response, "choices")):
        message = field(choice, "message")
        if message is None:
            found.append(Reply(field(choice, "text") or ""))
            continue
        found += _thought(message)
        found += _reply(message, field(message, "content") or field(message, "refusal"), field(message, "tool_calls"))
    for item in _list(field(response, "output")):
        kind = field(item, "type")
        if kind == "message":
            found += [
                Reply(text, objects=(item, part))
                for part in _list(field(item, "content"))
                if isinstance(text := field(part, "text") or field(part, "refusal"), str)
            ]
        elif kind == "reasoning":
            found.append(Reply(_reasoning(item), THOUGHT, (item,)))
        elif kind == "function_call":
            call = {"name": field(item, "name"), "arguments": field(item, "arguments")}
            found.append(Reply([call], TOOL_CALLS, (item, field(item, "arguments"), field(item, "call_id"))))
    return found


def numbers(response: object) -> dict[str, Any]:
    """Attributes of the operation from a response: the model, the response's id, and numbers of tokens."""
    usage = field(response, "usage")
    found = {
        "responseModel": field(response, "model"),
        "responseId": field(response, "id"),
        "inputTokens": _first(usage, "prompt_tokens", "input_tokens"),
        "outputTokens": _first(usage, "completion_tokens", "output_tokens"),
    }
    reasons = [reason for choice in _list(field(response, "choices")) if (reason := field(choice, "finish_reason"))]
    if reasons:
        found["finishReasons"] = reasons
    return {name: value for name, value in found.items() if value is not None}


class Whole:
    """Puts the pieces of a stream together."""

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}
        self._thoughts: dict[int, list[str]] = {}
        self._tools: dict[tuple[int, int], dict[str, str]] = {}
        self._final: object = None
        self._numbers: dict[str, Any] = {}

    def add(self, chunk: object) -> None:
        """Add the next piece."""
        for choice in _list(field(chunk, "choices")):
            number, delta = field(choice, "index") or 0, field(choice, "delta")
            text = field(choice, "text") if delta is None else field(delta, "content") or field(delta, "refusal")
            if isinstance(text, str) and text:
                self._texts.setdefault(number, []).append(text)
            if delta is not None:
                self._thoughts.setdefault(number, []).extend(str(one.text) for one in _thought(delta))
            for call in _list(field(delta, "tool_calls")):
                self._tool(number, call)
        kind = field(chunk, "type")
        if kind in {"response.output_text.delta", "response.refusal.delta"}:
            self._texts.setdefault(field(chunk, "output_index") or 0, []).append(str(field(chunk, "delta")))
        elif kind in {"response.reasoning_text.delta", "response.reasoning_summary_text.delta"}:
            self._thoughts.setdefault(field(chunk, "output_index") or 0, []).append(str(field(chunk, "delta")))
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._final = field(chunk, "response")
        if field(chunk, "choices") is not None:
            self._numbers |= numbers(chunk)

    def _tool(self, choice: int, call: object) -> None:
        known = self._tools.setdefault((choice, field(call, "index") or 0), {"name": "", "arguments": ""})
        function = field(call, "function")
        known["name"] += field(function, "name") or ""
        known["arguments"] += field(function, "arguments") or ""

    def replies(self) -> list[Reply]:
        """The replies so far."""
        if self._final is not None:
            return replies(self._final)
        found = [Reply("".join(texts), THOUGHT) for _, texts in sorted(self._thoughts.items()) if texts]
        for _, texts in sorted(self._texts.items()):
            found += _told("".join(texts))
        for choice in sorted({choice for choice, _ in self._tools}):
            calls = [call for (of, _), call in sorted(self._tools.items()) if of == choice]
            found.append(Reply(calls, TOOL_CALLS))
        return found

    def numbers(self) -> dict[str, Any]:
        """Attributes of the operation so far."""
        return numbers(self._final) if self._final is not None else self._numbers


def field(of: object, name: str) -> Any:
    """A field of an object or a dictionary; None without this field."""
    if type(of) is dict:  # the usual cases come first, because the general test takes longer
        return of.get(name)
    own = getattr(of, "__dict__", None)
    if own is not None:
        if name in own:
            return own[name]
        further = getattr(of, "__pydantic_extra__", own)
        if further is not own:
            return further.get(name) if further else None
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def _said(message: object) -> list[Said]:
    if field(message, "type") == "reasoning":
        return [Said(THOUGHT, _reasoning(message), message)]
    role = field(message, "role")
    role = role if isinstance(role, str) else _role(field(message, "type"))
    content = field(message, "content")
    calls = field(message, "tool_calls")
    if content is None:
        content = field(message, "output") or field(message, "arguments")  # of the Responses interface
    found: list[Said] = []
    if isinstance(content, str):
        found.append(Said(role, content, message))
    elif isinstance(content, Iterable):
        found += [Said(role, _part(part), part) for part in content]
    if calls:
        listed = [_call(call) for call in _list(calls)]
        ids = [field(call, "id") for call in _list(calls)]
        found.append(Said(role, listed, ids[0] if ids else message))
    return found


def _thought(message: object) -> list[Reply]:
    """What a model reasoned before a message, or a part of it in a piece of a stream; at most one reply."""
    text = field(message, "reasoning_content") or field(message, "reasoning")
    return [Reply(text, THOUGHT)] if isinstance(text, str) and text else []


def _reasoning(item: object) -> str:
    """The text of a reasoning item of the Responses interface; without a text, the item as JSON."""
    parts = [*_list(field(item, "summary")), *_list(field(item, "content"))]
    texts = [text for part in parts if isinstance(text := field(part, "text"), str)]
    if texts:
        return "\n\n".join(texts)
    known = {name: field(item, name) for name in ("type", "id", "encrypted_content")}
    return json.dumps({name: value for name, value in known.items() if isinstance(value, str)})


def _role(kind: object) -> str:
    return {"function_call": "assistant", "function_call_output": "tool"}.get(str(kind), str(kind or "user"))


def _part(part: object) -> object:
    """The text of a part of a message; of an image or a file, a short description without the bytes."""
    text = field(part, "text")
    if isinstance(text, str):
        return text
    plain = part if isinstance(part, Mapping) else {"type": field(part, "type")}
    shown = json.dumps(plain, default=lambda other: f"<{type(other).__qualname__}>")
    return shown if len(shown) <= _MAX_PART_CHARACTERS else f"{shown[:_MAX_PART_CHARACTERS]}… ({len(shown)} characters)"


def _reply(message: object, text: object, calls: object) -> list[Reply]:
    found = []
    if isinstance(text, str):
        found += _told(text, (message, field(message, "parsed")))
    if calls:
        listed = _list(calls)
        objects = [field(call, "id") for call in listed] + [
            field(field(call, "function"), "arguments") for call in listed
        ]
        found.append(Reply([_call(call) for call in listed], TOOL_CALLS, (*(() if found else (message,)), *objects)))
    return found


def _told(text: str, objects: tuple[object, ...] = ()) -> list[Reply]:
    """A text of a model as a reply, after the reasoning that the text may begin with."""
    thought, rest = parted(text)
    return (
        [Reply(thought, THOUGHT), Reply(rest, objects=(text, *objects))] if thought else [Reply(text, objects=objects)]
    )


def _call(call: object) -> dict[str, Any]:
    function = field(call, "function")
    return {"name": field(function, "name"), "arguments": field(function, "arguments")}


def _id(value: object) -> str | None:
    found = field(value, "id") if value is not None and not isinstance(value, str) else value
    return found if isinstance(found, str) else None


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _first(of: object, *names: str) -> int | None:
    return next((value for name in names if isinstance(value := field(of, name), int)), None)
