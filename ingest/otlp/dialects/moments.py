"""Messages in span events, as older conventions of OpenTelemetry for generative AI have them.

Sources: open-telemetry/semantic-conventions, gen-ai-events (``gen_ai.user.message``, ``gen_ai.choice``, 1.28 to 1.36)
and gen-ai-spans (``gen_ai.content.prompt``, 1.27); Azure's SDKs put the body of an event into ``gen_ai.event.content``;
Strands Agents sends lists of parts; pydantic-ai sends the events as a JSON list in an attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ingest.otlp.reading import nested, objects, structured, words
from ingest.otlp.spans import Moment

_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_DETAILS = "gen_ai.client.inference.operation.details"
_LISTS = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}

NAMES = frozenset({*_ROLES, _CHOICE, *_LISTS, _DETAILS})
"""Names of the events that hold messages and nothing else."""


@dataclass(slots=True)
class Spoken:
    """Messages of a span, as dictionaries with ``role`` and ``content``.

    Attributes:
        given: what the step was given.
        got: what it answered.
        system: instructions, in any form; None if there are none.
    """

    given: list[Any] = field(default_factory=list)
    got: list[Any] = field(default_factory=list)
    system: Any = None


def spoken(moments: Iterable[Moment]) -> Spoken:
    """The messages in the events of a span."""
    found = Spoken()
    for one in moments:
        if one.name in _LISTS:
            side = found.given if one.name == "gen_ai.content.prompt" else found.got
            side += _listed(nested(one.attributes, _LISTS[one.name]))
        elif one.name in NAMES:
            _add(found, one.name, one.attributes)
    return found


def spoken_in_list(value: Any) -> Spoken:
    """The messages in a JSON list of events, each with its name in ``event.name``."""
    found = Spoken()
    for one in objects(value):
        name = words(one.get("event.name"))
        if name is not None:
            _add(found, name, one)
    return found


def _add(found: Spoken, name: str, attributes: Mapping[str, Any]) -> None:
    inner = structured(attributes.get("gen_ai.event.content"))
    body = {**attributes, **inner} if isinstance(inner, dict) else attributes
    if name == _DETAILS:
        found.given += _listed(nested(body, "gen_ai.input.messages"))
        found.got += _listed(nested(body, "gen_ai.output.messages"))
        found.system = found.system or nested(body, "gen_ai.system_instructions")
    elif name == _CHOICE:
        found.got += _choice(body)
    elif name in _ROLES:
        said = {"role": words(body.get("role")) or _ROLES[name], "content": _content(body)}
        if body.get("tool_calls"):
            said["tool_calls"] = body["tool_calls"]
        found.given.append(said)


def _choice(body: Mapping[str, Any]) -> list[Any]:
    """The messages of an event for a reply: the reply, and for Strands Agents also the results of its tools."""
    message = nested(body, "message")
    if isinstance(message, dict) and ("content" in message or "tool_calls" in message or "parts" in message):
        said = {"role": "assistant", **message}
    else:
        content = message if message is not None else _content(body)
        said = {"role": "assistant", "content": content}
    if body.get("tool_calls"):
        said.setdefault("tool_calls", body["tool_calls"])
    results = structured(body.get("tool.result"))
    return [said, *([{"role": "tool", "content": results}] if results else [])]


def _content(body: Mapping[str, Any]) -> Any:
    content = structured(body.get("content"))
    return content if isinstance(content, list) else body.get("content")


def _listed(value: Any) -> list[Any]:
    """Messages as a list; a text is one message without a role."""
    if value is None:
        return []
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return list(value["messages"])
    return list(value) if isinstance(value, list) else [{"content": value} if isinstance(value, str) else value]
