"""Spans of pydantic-ai, in all versions of its instrumentation.

Source: pydantic/pydantic-ai, ``models/instrumented.py`` and ``agent``. Version 1 has the messages as JSON lists of
events (``events``, ``all_messages_events``), later versions as messages (``gen_ai.input.messages``,
``pydantic_ai.all_messages``). The spans of models are GenAI spans otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtrace.kinds import OperationKind

from ingest.otlp.dialects import genai
from ingest.otlp.dialects.items import also_kept, inference, session_of, tool, whole
from ingest.otlp.dialects.moments import spoken_in_list
from ingest.otlp.reading import structured, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Step

_NAME = "pydantic-ai"
_SCOPE = "pydantic-ai"
_RESULT = "final_result"
_ALL = ("pydantic_ai.all_messages", "all_messages")
_ALL_EVENTS, _EVENTS = "all_messages_events", "events"
_ARGUMENTS = ("tool_arguments", "gen_ai.tool.call.arguments")
_RESULTS = ("tool_response", "gen_ai.tool.call.result")


def read(span: Span) -> Step | None:
    """The step of a span of pydantic-ai; None for other spans."""
    said = span.attributes
    is_agent = any(name in said for name in (_RESULT, _ALL_EVENTS, *_ALL))
    if not is_agent and span.scope != _SCOPE:
        return None
    if is_agent:
        return _agent(span)
    called = words(said.get("gen_ai.tool.name"))
    if called is not None:
        given, got = (_first(span, names) for names in (_ARGUMENTS, _RESULTS))
        kind, inputs, outputs = tool(span, called, given, got)
        return Step(
            _NAME, kind, "execute_tool", inputs, outputs, session=session_of(span), taken=(*_ARGUMENTS, *_RESULTS)
        )
    if _EVENTS in said:
        told = spoken_in_list(said[_EVENTS])
        inputs, outputs = inference(span, told.given, told.got)
        kind = OperationKind.GENERATION
        return Step(_NAME, kind, "chat", inputs, outputs, session=session_of(span), taken=(_EVENTS,))
    called_as_genai = genai.read(span)
    return None if called_as_genai is None else replace(called_as_genai, dialect=_NAME)


def _agent(span: Span) -> Step:
    said = span.attributes
    given: Any = structured(_first(span, _ALL))
    if given is None and _ALL_EVENTS in said:
        given = spoken_in_list(said[_ALL_EVENTS]).given
    got = said.get(_RESULT)
    last = given[-1] if isinstance(given, list) and given else None
    if got is None and isinstance(last, dict) and last.get("role") == "assistant":
        got = [last]
    inputs, outputs = whole(span, given, got, is_agent=True)
    taken = also_kept(given, (_RESULT, _ALL_EVENTS, *_ALL))
    return Step(_NAME, OperationKind.OTHER, "invoke_agent", inputs, outputs, session=session_of(span), taken=taken)


def _first(span: Span, names: tuple[str, ...]) -> Any:
    return next((span.attributes[name] for name in names if name in span.attributes), None)
