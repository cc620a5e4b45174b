"""All events of calls of OpenAI's client."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import memtrace
import openai
import pytest
from memtrace.exporters.memory import MemoryExporter

from tests.expected import compare
from tests.sdk.instruments import scripted_openai

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


def _script(body: dict[str, Any]) -> str | dict[str, Any] | int:
    given: Any = body.get("messages") or body.get("input") or body.get("prompt")
    last = given if isinstance(given, str) else given[-1]["content"]
    if last == "fail":
        return 401
    if last == "call a tool":
        call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
        return {"tool_calls": [call]}
    return f"a reply to {last}"


def _said(text: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def chat(client: Any) -> None:
    """A chat that goes on, with a tool."""
    first = client.chat.completions.create(model="m", messages=_said("hello"), temperature=0.5)
    told = [*_said("hello"), {"role": "assistant", "content": first.choices[0].message.content}]
    asked = [*told, {"role": "user", "content": "call a tool"}]
    called = client.chat.completions.create(model="m", messages=asked, tools=[TOOL], seed=3)
    call = called.choices[0].message.tool_calls[0]
    message = {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]}
    result = {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}
    client.chat.completions.create(model="m", messages=[*asked, message, result])


def streamed(client: Any) -> None:
    """A streamed reply, and one that is left early."""
    for _ in client.chat.completions.create(model="m", messages=_said("stream"), stream=True):
        pass
    with client.chat.completions.create(model="m", messages=_said("leave"), stream=True) as left:
        next(iter(left))


def others(client: Any) -> None:
    """Responses, completions, embeddings, and a failure."""
    client.responses.create(model="m", input="a question", instructions="Be kind.")
    client.completions.create(model="m", prompt="a beginning", max_tokens=7)
    client.embeddings.create(model="e", input=["a text", "another"])
    with pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="m", messages=_said("fail"))


PROGRAMS: list[Callable[[Any], None]] = [chat, streamed, others]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_program(recorded: MemoryExporter, program: Callable[[Any], None]) -> None:
    memtrace.instrument("openai")
    with (
        scripted_openai.running(_script) as model,
        openai.OpenAI(base_url=model.url, api_key="scripted-key", max_retries=0) as client,
        memtrace.trace("an agent", id="openai"),
    ):
        program(client)
    gc.collect()  # a stream that is left early ends when it is freed
    events = [{name: one for name, one in event.items() if name not in DROPPED} for event in recorded.events]
    compare(__file__, f"{program.__name__}.json", events)


DROPPED = {"time", "location"}
"""Times are the machine's, and the place is a line of this file."""
