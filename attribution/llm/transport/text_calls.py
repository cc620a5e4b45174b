"""Finds calls of tools that a model has written as text, because its server does not translate them.

Understood are JSON objects with a name and arguments, alone, in lists, or in blocks of code; ``<tool_call>`` (Hermes,
Qwen); ``[TOOL_CALLS]`` (Mistral); ``<|python_tag|>``, ``<function=name>`` and ``[name(argument=value)]`` (Llama); and a
name before a JSON object of arguments.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from attribution.llm.transport.reply import ToolCall, arguments_of
from schema.outside_json import JsonError, read_json

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_THOUGHT_END = re.compile(r"</think(?:ing)?>")
_LONGEST = 60_000
"""Only the end of a longer reply is read, in characters."""
_MOST_TRIES = 200
_MOST_CALLS = 20
_NAMES = ("name", "tool", "tool_name", "function", "action", "function_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "kwargs", "params")
_LISTS = ("tool_calls", "calls", "tools", "actions")
_BEFORE = re.compile(r"(\w+)\W{0,12}(?:\[ARGS\]|json)?\W{0,12}\Z")
_CALLED = re.compile(r"\b(\w+)\(((?:[^()\"']|\"(?:[^\"\\]|\\.){0,2000}\"|'(?:[^'\\]|\\.){0,2000}'){0,4000})\)")
_PARAMETER = re.compile(r"<parameter=(\w+)>(.*?)(?=</parameter>|<parameter=|</function>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=(\w+)>(.*?)(?=</function>|<function=|\Z)", re.DOTALL)


def without_thoughts(text: str) -> str:
    """A reply without what the model thought aloud between ``<think>`` and ``</think>``."""
    ends = list(_THOUGHT_END.finditer(text))
    if ends and "<think" not in text[: ends[0].start()]:
        text = text[ends[0].end() :]  # templates may put the beginning into the prompt
    return _THOUGHTS.sub("", text).strip()


def calls_in(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """The calls of tools in a reply, in order.

    Args:
        text: the reply.
        names: of the tools; a call of another name is no call.
    """
    said = without_thoughts(text)[-_LONGEST:]
    if not any(name in said for name in names):
        return ()
    found = _elements(said, names) or [call for value, before in _values(said) for call in _calls(value, before, names)]
    found = found or _pythonic(said, names)
    calls = (
        ToolCall(f"text-{number}", name, None if arguments is None else arguments_of(arguments))
        for number, (name, arguments) in enumerate(found[:_MOST_CALLS])
    )
    return tuple(calls)


_Found = tuple[str, dict[str, Any] | None]


def _elements(text: str, names: Collection[str]) -> list[_Found]:
    """Calls as ``<function=name>`` elements with JSON or ``<parameter=...>`` elements inside."""
    found: list[_Found] = []
    for match in _FUNCTION.finditer(text):
        name, inside = match[1], match[2]
        if name not in names:
            continue
        given = {one[1]: _value_of(one[2].strip()) for one in _PARAMETER.finditer(inside)}
        found.append((name, given or next((value for value, _ in _values(inside) if isinstance(value, dict)), {})))
    return found


def _values(text: str) -> Iterator[tuple[Any, str]]:
    """The outermost JSON objects and lists of a text, each with the text before it."""
    decoder = json.JSONDecoder()
    place = tries = after = 0
    while tries < _MOST_TRIES:
        match = re.compile(r"[\[{]").search(text, place)
        if match is None:
            return
        start = match.start()
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = _literal(text, start)
        if end > start:
            yield value, text[after:start]
            place = after = end
        else:
            place = start + 1


def _literal(text: str, start: int) -> tuple[Any, int]:
    """A dictionary that is written as in Python; the end is 0 if there is none."""
    end = _closing(text, start)
    if not end or text[start] != "{":
        return None, 0
    try:
        return ast.literal_eval(text[start:end]), end
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None, 0


def _closing(text: str, start: int) -> int:
    """The end of a braced part; 0 if it is not closed."""
    depth, quote, place = 0, "", start
    while place < len(text):
        character = text[place]
        if quote:
            place += character == "\\"
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return 0


def _calls(value: Any, before: str, names: Collection[str]) -> list[_Found]:
    if isinstance(value, list):
        return [call for one in value for call in _calls(one, "", names)]
    if not isinstance(value, dict):
        return []
    for key in _LISTS:
        if isinstance(value.get(key), list):
            return _calls(value[key], "", names)
    call = _call(value, names)
    if call is not None:
        return [call]
    named = _BEFORE.search(before[-80:])
    return [(named[1], value)] if named is not None and named[1] in names else []


def _call(value: dict[str, Any], names: Collection[str]) -> _Found | None:
    for key in _NAMES:
        named = value.get(key)
        if isinstance(named, dict):
            return _call(named, names)
        if isinstance(named, str) and named.strip() in names:
            given = next((value[one] for one in _ARGUMENTS if one in value), None)
            if given is None:
                given = {one: some for one, some in value.items() if one not in (key, "type", "id")}
            return named.strip(), _arguments(given)
    if len(value) == 1:
        ((name, given),) = value.items()
        if name in names and isinstance(given, dict):
            return name, given
    return None


def _arguments(given: Any) -> dict[str, Any] | None:
    if isinstance(given, str):
        given = _value_of(given)
    return given if isinstance(given, dict) else None


def _value_of(text: str) -> Any:
    try:
        return read_json(text)
    except JsonError:
        return text


def _pythonic(text: str, names: Collection[str]) -> list[_Found]:
    """Calls as ``name(argument=value, ...)``."""
    found: list[_Found] = []
    for match in _CALLED.finditer(text):
        if match[1] not in names:
            continue
        try:
            called = ast.parse(match[0], mode="eval").body
            if isinstance(called, ast.Call) and not called.args:
                given = {one.arg: ast.literal_eval(one.value) for one in called.keywords if one.arg}
                found.append((match[1], given))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return found
