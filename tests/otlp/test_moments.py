"""Messages in the events of a span, in all the forms that recorders of OpenTelemetry write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.otlp.dialects.moments import Spoken, spoken, spoken_in_list
from ingest.otlp.spans import Moment

CALLS = [{"function": {"name": "f"}}]


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


@pytest.mark.parametrize(
    ("name", "body", "given", "got"),
    [
        ("gen_ai.system.message", {"content": "s"}, [said("system", "s")], []),
        ("gen_ai.user.message", {"content": "u"}, [said("user", "u")], []),
        ("gen_ai.assistant.message", {"content": "a"}, [said("assistant", "a")], []),
        ("gen_ai.tool.message", {"content": "t"}, [said("tool", "t")], []),
        ("gen_ai.user.message", {"content": "u", "role": "customer"}, [said("customer", "u")], []),
        ("gen_ai.user.message", {"content": '["u", "v"]'}, [said("user", ["u", "v"])], []),
        ("gen_ai.user.message", {"content": '{"u": 1}'}, [said("user", '{"u": 1}')], []),
        (
            "gen_ai.assistant.message",
            {"content": None, "tool_calls": CALLS},
            [said("assistant", None, tool_calls=CALLS)],
            [],
        ),
        ("gen_ai.assistant.message", {"content": "a", "tool_calls": []}, [said("assistant", "a")], []),
        ("gen_ai.user.message", {"gen_ai.event.content": '{"content": "u"}', "content": "x"}, [said("user", "u")], []),
        ("gen_ai.user.message", {"gen_ai.event.content": "no object", "content": "u"}, [said("user", "u")], []),
        ("gen_ai.choice", {"message": "a"}, [], [said("assistant", "a")]),
        ("gen_ai.choice", {"content": "a"}, [], [said("assistant", "a")]),
        ("gen_ai.choice", {"message": {"content": "a"}}, [], [said("assistant", "a")]),
        ("gen_ai.choice", {"message": {"content": "a", "role": "bot"}}, [], [said("bot", "a")]),
        ("gen_ai.choice", {"message": {"tool_calls": CALLS}}, [], [{"role": "assistant", "tool_calls": CALLS}]),
        ("gen_ai.choice", {"message": {"parts": ["a"]}}, [], [{"role": "assistant", "parts": ["a"]}]),
        ("gen_ai.choice", {"message": {"text": "a"}}, [], [said("assistant", {"text": "a"})]),
        ("gen_ai.choice", {"message": "a", "tool_calls": CALLS}, [], [said("assistant", "a", tool_calls=CALLS)]),
        (
            "gen_ai.choice",
            {"message": {"content": "a", "tool_calls": CALLS}, "tool_calls": ["other"]},
            [],
            [said("assistant", "a", tool_calls=CALLS)],
        ),
        (
            "gen_ai.choice",
            {"message": "a", "tool.result": '[{"text": "r"}]'},
            [],
            [said("assistant", "a"), said("tool", [{"text": "r"}])],
        ),
        ("gen_ai.choice", {"message": "a", "tool.result": "[]"}, [], [said("assistant", "a")]),
        ("happened", {"content": "x", "message": "x"}, [], []),
    ],
)
def test_an_event_is_a_message(name: str, body: dict[str, Any], given: list[Any], got: list[Any]) -> None:
    assert spoken([Moment(name, body)]) == Spoken(given, got, None)
    assert spoken_in_list(json.dumps([{"event.name": name, **body}])) == Spoken(given, got, None)


@pytest.mark.parametrize(
    ("value", "listed"),
    [
        ("u", [{"content": "u"}]),
        ('[{"role": "user", "content": "u"}]', [said("user", "u")]),
        ('{"role": "user", "content": "u"}', [said("user", "u")]),
        ('{"messages": [{"content": "u"}]}', [{"content": "u"}]),
        ('{"messages": "u"}', [{"messages": "u"}]),
        (None, []),
    ],
)
def test_an_event_is_a_list_of_messages(value: str | None, listed: list[Any]) -> None:
    attributes = {} if value is None else {"gen_ai.prompt": value, "gen_ai.completion": value}
    assert spoken([Moment("gen_ai.content.prompt", attributes)]) == Spoken(listed, [])
    assert spoken([Moment("gen_ai.content.completion", attributes)]) == Spoken([], listed)
    details = {} if value is None else {"gen_ai.input.messages": value}
    assert spoken([Moment("gen_ai.client.inference.operation.details", details)]) == Spoken(listed, [])


def test_events_add_up_and_the_first_instructions_count() -> None:
    details = "gen_ai.client.inference.operation.details"
    first = {"gen_ai.system_instructions": "be kind", "gen_ai.output.messages": '[{"content": "a"}]'}
    second = {"gen_ai.system_instructions": "be quick", "gen_ai.input.messages": '[{"content": "u"}]'}
    found = spoken([Moment("gen_ai.user.message", {"content": "q"}), Moment(details, first), Moment(details, second)])
    assert found == Spoken([said("user", "q"), {"content": "u"}], [{"content": "a"}], "be kind")


def test_in_a_list_an_event_without_a_name_says_nothing() -> None:
    assert spoken_in_list('[{"content": "u"}, 7, {"event.name": 3, "content": "u"}]') == Spoken()
    assert spoken_in_list("no list") == Spoken()
