"""Attributes of dialects whose values nobody would send: every dialect reads them without an error."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import pytest

import ingest.otlp.dialects
from ingest.otlp.dialects.memtrace import EVENTS
from ingest.otlp.dialects.registry import step_of
from ingest.otlp.events import events_of
from ingest.otlp.spans import Moment, Span

_SCOPES = ("", "pydantic-ai", "ai", "opentelemetry.instrumentation.openai.v1", "openinference.instrumentation.openai")
_ODD: tuple[object, ...] = (
    *(None, True, 7, 0.5, "", "word", [], [None], ["word"], [7], [[]], [{}], {}, {"messages": ["word"]}),
    *("null", "7", '"word"', "[]", "[null]", '["word"]', "[7]", "[[]]", "[{}]", "{}", '{"messages": ["word"]}'),
    *('[{"role": 7}]', '[{"role": "user", "content": 7}]', '[{"role": "user", "parts": [7]}]', '{"choices": [7]}'),
    *('{"documents": [7]}', '[{"document": 7}]', '[{"content": {"text": 7}}]', '[{"tool_calls": 7}]'),
    *('[{"role": "assistant", "tool_calls": [7]}]', '[{"event.name": "gen_ai.choice", "message": 7}]', "{"),
)


def _words() -> list[str]:
    """All short texts in the modules of the dialects: names of attributes, and the values that they tell apart."""
    folder = Path(ingest.otlp.dialects.__file__).parent
    trees = (ast.parse(one.read_text("utf-8")) for one in sorted(folder.glob("*.py")))
    found = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return sorted({one for one in found if isinstance(one, str) and one and " " not in one and "\n" not in one})


_KEYS = [one for one in _words() if ("." in one or "_" in one) and one != EVENTS]
_TELLING = [one for one in _KEYS if one.endswith((".kind", ".type", "operation.name", "spanType", "ai.operationId"))]


def _span(attributes: dict[str, object], scope: str) -> Span:
    """A span with these attributes, and with a span event of the same attributes for each of them."""
    moments = tuple(Moment(name, attributes) for name in attributes)
    return Span("1" * 32, "2" * 16, None, "span", "client", 1, 2, attributes, {}, scope, "", False, "", (), moments)


@pytest.mark.parametrize("scope", _SCOPES)
def test_an_odd_value_under_any_name(scope: str) -> None:
    for key, value in product(_KEYS, _ODD):
        assert events_of("project", _span({key: value}, scope), "trace"), (key, value)


@pytest.mark.parametrize("telling", _TELLING)
def test_an_odd_value_beside_what_tells_the_kind_of_a_span(telling: str) -> None:
    for word in _words():
        for value in _ODD:
            odd = {key: value for key in _KEYS if key != telling}
            assert step_of(_span({**odd, telling: word}, "")).dialect, (telling, word, value)
