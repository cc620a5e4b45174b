"""The parts of the protocol that a server understands, learned from its refusals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from attribution.llm.transport.conversation import Message
from attribution.llm.transport.data import as_data

_CONTEXT = re.compile(
    r"context[_ ](length|window|size)|maximum (context|sequence|prompt)|(input|prompt|request) is too (long|large)"
    r"|too many (input )?tokens|reduce the length",
    re.IGNORECASE,
)

OLDER_LIMIT = "max_tokens"
NEWER_LIMIT = "max_completion_tokens"


class Format(StrEnum):
    """The ways to ask a server for JSON of a certain form, from the strictest to the simplest."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema for replies."""

    name: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests are written.

    Attributes:
        output_limit: the name of the limit of a reply. Older servers silently ignore the newer name and the limit;
            servers that know only the newer name refuse the older one. So the older name is tried first.
        temperature: whether the temperature may be set.
    """

    output_limit: str = OLDER_LIMIT
    temperature: bool = True
    format: Format = Format.SCHEMA

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        output_tokens: int,
        temperature: float,
        tools: Sequence[dict[str, Any]] = (),
        schema: Schema | None = None,
    ) -> dict[str, Any]:
        """The body of a request."""
        body: dict[str, Any] = {"model": model, "messages": list(messages), self.output_limit: output_tokens}
        if self.temperature:
            body["temperature"] = temperature
        if tools:
            body["tools"] = list(tools)
        if schema is None:
            return body
        if self.format is Format.SCHEMA:
            strict = {"name": schema.name, "schema": schema.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": strict}
            return body
        if self.format is Format.OBJECT:
            body["response_format"] = {"type": "json_object"}
        wanted = f"Reply with one JSON object and nothing else. Its JSON Schema: {as_data(schema.schema)}"
        system = messages[0] | {"content": f"{messages[0]['content']}\n\n{wanted}"}
        body["messages"] = [system, *messages[1:]]
        return body

    def merged(self, other: Dialect) -> Dialect:
        """The features that both dialects have; two calls may learn different things about one server."""
        older = self.output_limit == other.output_limit == OLDER_LIMIT
        formats = list(Format)
        return Dialect(
            OLDER_LIMIT if older else NEWER_LIMIT,
            self.temperature and other.temperature,
            formats[max(formats.index(self.format), formats.index(other.format))],
        )

    def weaker(self, complaint: str, *, structured: bool) -> Dialect | None:
        """The next dialect to try after a server refused a request; None if all were tried."""
        words = complaint.lower()
        if "temperature" in words and self.temperature:
            return replace(self, temperature=False)
        if OLDER_LIMIT in words and self.output_limit == OLDER_LIMIT:
            return replace(self, output_limit=NEWER_LIMIT)
        if structured and self.format is not Format.TEXT:
            return replace(self, format=Format.OBJECT if self.format is Format.SCHEMA else Format.TEXT)
        return None


def too_long(complaint: str) -> bool:
    """Whether a server's message says that the request exceeds the model's context."""
    return _CONTEXT.search(complaint) is not None
