"""Replies of a given form: the JSON Schema for a request, and the errors of an invalid reply."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from attribution.llm.transport.dialect import Schema
from schema.outside_json import JsonError, read_json

_THOUGHT_END = "</think>"
_FENCE = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)
_NOISE = frozenset({"title", "default", "description"})


class Rejected(Exception):  # noqa: N818 - it is no error: the model is told, and may try again
    """A reply has the right form but invalid content.

    Attributes:
        problems: reasons for the model to read.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(problems))


@cache
def schema_of(model: type[BaseModel]) -> Schema:
    """The JSON Schema of a model in the subset that strict servers accept: closed objects, no references."""
    whole = model.model_json_schema()
    return Schema(model.__name__.lower(), _plain(whole, whole.get("$defs", {})))


def problems_of(error: ValidationError) -> list[str]:
    """The errors by field, without the given values."""
    problems = []
    for item in error.errors(include_input=False, include_url=False, include_context=False):
        place = ".".join(map(str, item["loc"]))
        problems.append(f"{place}: {item['msg']}" if place else item["msg"])
    return problems


def json_part(text: str) -> str:
    """The JSON object inside a reply: models wrap it in fences, or think aloud first."""
    text = text.rpartition(_THOUGHT_END)[2].strip()
    if text.startswith("{"):
        return text
    fenced = _FENCE.search(text)
    if fenced:
        return fenced.group(1).strip()
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def is_object(text: str) -> bool:
    """Whether a text is a JSON object, as a server that keeps to a schema would have made it."""
    try:
        return isinstance(read_json(text), dict)
    except JsonError:
        return False


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rpartition("/")[2]], definitions)
    plain = {key: _plain(value, definitions) for key, value in node.items() if key not in _NOISE and key != "$defs"}
    if "properties" in node:
        # Properties may be named like keywords of JSON Schema.
        plain["properties"] = {name: _plain(value, definitions) for name, value in node["properties"].items()}
        plain["required"] = list(node["properties"])
        plain["additionalProperties"] = False
    return plain
