"""What requests, responses and streams of OpenAI's interface say."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from memtrace.instruments.model_calls import THOUGHT, Reply, Said
from memtrace.instruments.openai.bodies import Whole, asked, call_of, field, numbers, replies, settings, texts

CALL = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
PLAIN_CALL = {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/chat/completions", "openai chat"),
        ("/v1/completions", "openai completion"),
        ("/v1/responses", "openai responses"),
        ("/embeddings", "openai embeddings"),
        ("/v1/models", None),
        ("/v1/responses/r1", None),
    ],
)
def test_a_path_is_a_call(path: str, name: str | None) -> None:
    found = call_of(path)
    assert (found and found[0]) == name


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, []),
        ({"prompt": "p"}, [("user", "p")]),
        ({"prompt": ["p", "q"]}, [("user", "p"), ("user", "q")]),
        ({"instructions": "i", "input": "u"}, [("system", "i"), ("user", "u")]),
        ({"instructions": ["i"], "input": "u"}, [("user", "u")]),
        ({"input": 7}, []),
        ({"messages": [{"role": "user", "content": "u"}]}, [("user", "u")]),
        ({"messages": [{"content": "u"}]}, [("user", "u")]),
        ({"messages": [{"role": 7, "content": "u"}]}, [("user", "u")]),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "u"}, {"type": "x", "n": 1}]}]},
            [("user", "u"), ("user", '{"type": "x", "n": 1}')],
        ),
        (
            {"messages": [{"role": "assistant", "content": "a", "tool_calls": [CALL]}]},
            [("assistant", "a"), ("assistant", [PLAIN_CALL])],
        ),
        ({"messages": [{"role": "assistant", "content": None}]}, []),
        ({"input": [{"type": "function_call", "arguments": "{}"}]}, [("assistant", "{}")]),
        ({"input": [{"type": "function_call_output", "output": "o"}]}, [("tool", "o")]),
        ({"input": [{"type": "other", "content": "o"}]}, [("other", "o")]),
        ({"input": [{"type": "reasoning", "summary": [{"text": "a"}, {"text": "b"}]}]}, [(THOUGHT, "a\n\nb")]),
        (
            {"input": [{"type": "reasoning", "id": "r", "encrypted_content": "e", "status": "s"}]},
            [(THOUGHT, '{"type": "reasoning", "id": "r", "encrypted_content": "e"}')],
        ),
    ],
)
def test_the_messages_of_a_request(body: dict[str, Any], said: list[tuple[str, object]]) -> None:
    assert [(one.role, one.content) for one in asked(body)] == said


def test_a_message_may_be_known_by_its_object() -> None:
    message, part = {"role": "user", "content": "u"}, {"type": "text", "text": "u"}
    called = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert asked({"messages": [message]}) == [Said("user", "u", message)]
    assert asked({"messages": [{"role": "user", "content": [part]}]}) == [Said("user", "u", part)]
    assert asked({"messages": [called]}) == [Said("assistant", [PLAIN_CALL], "c1")]


@pytest.mark.parametrize(("length", "is_cut"), [(200, False), (201, True)])
def test_a_part_without_a_text_is_described(length: int, is_cut: bool) -> None:
    part = {"d": "x" * (length - len('{"d": ""}'))}
    (said,) = asked({"messages": [{"role": "user", "content": [part]}]})
    whole = json.dumps(part)
    assert said.content == (f"{whole[:200]}… (201 characters)" if is_cut else whole)
    (of_object,) = asked({"messages": [{"role": "user", "content": [SimpleNamespace(type="image", data=b"x")]}]})
    assert of_object.content == '{"type": "image"}'
    (with_bytes,) = asked({"messages": [{"role": "user", "content": [{"data": b"x"}]}]})
    assert with_bytes.content == '{"data": "<bytes>"}'


@pytest.mark.parametrize(
    ("given", "found"), [("t", ["t"]), (["t", 7, "u"], ["t", "u"]), ([[1, 2]], []), (None, []), (7, [])]
)
def test_texts_to_embed(given: object, found: list[str]) -> None:
    assert texts({"input": given}) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"model": "m", "temperature": 0.5, "seed": 7}, None),
        ({"model": "m", "top_p": None, "user": "u"}, {"model": "m"}),
        ({"max_tokens": 1, "max_completion_tokens": 2, "max_output_tokens": 3}, None),
        ({"conversation": "c"}, {"conversation": "c"}),
        ({"conversation": {"id": "c"}}, {"conversation": "c"}),
        ({"conversation": {"id": 7}}, {}),
        ({"previous_response_id": "r"}, {"previousResponseId": "r"}),
        ({"tools": [CALL, {"name": "g", "type": "function"}]}, {"tools": ["f", "g"]}),
        ({"tools": [{"type": "web_search"}, {}]}, {"tools": ["web_search"]}),
        ({"tools": "all"}, {}),
        ({"tools": None}, {}),
    ],
)
def test_the_settings_of_a_request(body: dict[str, Any], found: dict[str, Any] | None) -> None:
    assert settings(body) == (body if found is None else found)


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ({}, []),
        ({"choices": [{"text": "t"}, {"text": None}]}, [("t", "reply"), ("", "reply")]),
        ({"choices": [{"message": {"content": "a"}}]}, [("a", "reply")]),
        ({"choices": [{"message": {"content": None, "refusal": "no"}}]}, [("no", "reply")]),
        ({"choices": [{"message": {"content": "a", "reasoning_content": "r"}}]}, [("r", THOUGHT), ("a", "reply")]),
        ({"choices": [{"message": {"content": "a", "reasoning": "r"}}]}, [("r", THOUGHT), ("a", "reply")]),
        ({"choices": [{"message": {"content": "a", "reasoning": {"no": "text"}}}]}, [("a", "reply")]),
        (
            {"choices": [{"message": {"content": "a", "tool_calls": [CALL]}}]},
            [("a", "reply"), ([PLAIN_CALL], "tool calls")],
        ),
        ({"choices": [{"message": {"content": None, "tool_calls": [CALL]}}]}, [([PLAIN_CALL], "tool calls")]),
        (
            {
                "output": [
                    {"type": "reasoning", "content": [{"text": "r"}]},
                    {"type": "message", "content": [{"text": "a"}, {"refusal": "no"}, {"image": "i"}]},
                    {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c1"},
                    {"type": "other", "content": [{"text": "x"}]},
                ]
            },
            [("r", THOUGHT), ("a", "reply"), ("no", "reply"), ([PLAIN_CALL], "tool calls")],
        ),
    ],
)
def test_the_replies_of_a_response(response: dict[str, Any], found: list[tuple[object, str]]) -> None:
    assert [(one.text, one.name) for one in replies(response)] == found


def test_the_application_s_objects_of_a_reply() -> None:
    message: dict[str, Any] = {"content": "a", "parsed": {"p": 1}, "tool_calls": [CALL]}
    said, called = replies({"choices": [{"message": message}]})
    assert said.objects == (message, {"p": 1})
    assert called.objects == ("c1", "{}")
    (alone,) = replies({"choices": [{"message": message | {"content": None}}]})
    assert alone.objects == (message | {"content": None}, "c1", "{}")
    item = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c1"}
    assert replies({"output": [item]})[0].objects == (item, "{}", "c1")


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ({}, {}),
        ({"model": "m", "id": "r"}, {"responseModel": "m", "responseId": "r"}),
        ({"usage": {"prompt_tokens": 1, "completion_tokens": 2}}, {"inputTokens": 1, "outputTokens": 2}),
        ({"usage": {"input_tokens": 3, "output_tokens": 0}}, {"inputTokens": 3, "outputTokens": 0}),
        ({"usage": {"prompt_tokens": "many"}}, {}),
        ({"choices": [{"finish_reason": "stop"}, {"finish_reason": None}]}, {"finishReasons": ["stop"]}),
    ],
)
def test_the_numbers_of_a_response(response: dict[str, Any], found: dict[str, Any]) -> None:
    assert numbers(response) == found


def chat(index: int | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta}], "id": "r"}


@pytest.mark.parametrize(
    ("chunks", "found"),
    [
        ([], []),
        ([chat(content="a"), chat(content=None), chat(0, content="b")], [("ab", "reply")]),
        ([chat(1, content="b"), chat(0, content="a")], [("a", "reply"), ("b", "reply")]),
        ([chat(refusal="no")], [("no", "reply")]),
        ([{"choices": [{"text": "a"}]}, {"choices": [{"text": "b"}]}], [("ab", "reply")]),
        ([chat(reasoning_content="r"), chat(reasoning="s"), chat(content="a")], [("rs", THOUGHT), ("a", "reply")]),
        (
            [
                chat(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": "{"}}]),
                chat(tool_calls=[{"function": {"arguments": "}"}}, {"index": 1, "function": {"name": "g"}}]),
                chat(1, tool_calls=[{"function": {"name": "h", "arguments": "[]"}}]),
            ],
            [
                ([PLAIN_CALL, {"name": "g", "arguments": ""}], "tool calls"),
                ([{"name": "h", "arguments": "[]"}], "tool calls"),
            ],
        ),
        (
            [
                {"type": "response.reasoning_text.delta", "delta": "r", "output_index": 0},
                {"type": "response.reasoning_summary_text.delta", "delta": "s", "output_index": None},
                {"type": "response.output_text.delta", "delta": "b", "output_index": 1},
                {"type": "response.refusal.delta", "delta": "a"},
                {"type": "response.other.delta", "delta": "x"},
            ],
            [("rs", THOUGHT), ("a", "reply"), ("b", "reply")],
        ),
        *(
            (
                [
                    {"type": "response.output_text.delta", "delta": "a"},
                    {"type": kind, "response": {"output": [{"type": "message", "content": [{"text": "whole"}]}]}},
                ],
                [("whole", "reply")],
            )
            for kind in ("response.completed", "response.incomplete", "response.failed")
        ),
    ],
)
def test_a_stream_is_put_together(chunks: list[dict[str, Any]], found: list[tuple[object, str]]) -> None:
    whole = Whole()
    for chunk in chunks:
        whole.add(chunk)
    assert [(one.text, one.name) for one in whole.replies()] == found


def test_the_numbers_of_a_stream() -> None:
    whole = Whole()
    whole.add(chat(content="a") | {"model": "m"})
    whole.add({"choices": [], "usage": {"prompt_tokens": 1}})
    whole.add({"usage": {"prompt_tokens": 9}})
    assert whole.numbers() == {"responseModel": "m", "responseId": "r", "inputTokens": 1}
    whole.add({"type": "response.completed", "response": {"id": "final"}})
    assert whole.numbers() == {"responseId": "final"}


class Extra:
    """An object with further fields, as pydantic keeps them."""

    def __init__(self, **more: object) -> None:
        self.own = "own"
        object.__setattr__(self, "__pydantic_extra__", more or None)


class Slots:
    __slots__ = ("name",)
    name: str


def test_a_field_of_any_object() -> None:
    slots = Slots()
    slots.name = "slot"
    assert [field(one, "name") for one in ({"name": 1}, {}, SimpleNamespace(name=2), slots, None, Reply("x"))] == [
        1,
        None,
        2,
        "slot",
        None,
        "reply",
    ]
    assert (field(Extra(name=3), "name"), field(Extra(name=3), "own"), field(Extra(), "name")) == (3, "own", None)


@pytest.mark.parametrize(
    ("content", "thought", "rest"),
    [
        ("<think>\nIs it 5?\n</think>\n\nIt is 5.", "Is it 5?", "It is 5."),
        ("Is it 5?\n</think>\nIt is 5.", "Is it 5?", "It is 5."),
        ("<thinking>Is it 5?</thinking>\n<answer>5</answer>", "Is it 5?", "<answer>5</answer>"),
        ("<reasoning>a</thinking> b", "", "<reasoning>a</thinking> b"),
        ("<think></think>\nIt is 5.", "", "<think></think>\nIt is 5."),
        ("<think>Is it 5?</think>", "", "<think>Is it 5?</think>"),
        ("<think>Is it 5?", "", "<think>Is it 5?"),
        ("Write <think>so</think> before it.", "", "Write <think>so</think> before it."),
    ],
)
def test_reasoning_between_tags_is_no_part_of_the_reply(content: str, thought: str, rest: str) -> None:
    wanted = [(thought, THOUGHT)] * bool(thought) + [(rest, "reply")]
    whole = replies({"choices": [{"message": {"content": content}}]})
    assert [(one.text, one.name) for one in whole] == wanted
    stream = Whole()
    for place in range(0, len(content), 3):
        stream.add({"choices": [{"index": 0, "delta": {"content": content[place : place + 3]}}]})
    assert [(one.text, one.name) for one in stream.replies()] == wanted
