"""Messages of LangChain as texts and dictionaries, by their fields alone."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from memtrace.instruments.frameworks import messages
from memtrace.instruments.frameworks.messages import (
    content,
    conversations,
    is_conversation,
    leaves,
    plain,
    reasoning,
    rendered,
    spoken,
    tool_calls,
)


def message(said: Any, kind: str = "human", **more: Any) -> Any:
    return SimpleNamespace(**({"type": kind, "content": said, "additional_kwargs": {}} | more))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("a", "a"),
        ([], ""),
        (["a", "b"], "a\nb"),
        ([{"type": "text", "text": "a"}, {"type": "image", "url": "u"}, "b", 7], "a\nb"),
        ([{"text": None}, {"text": ""}, "a"], "a"),
    ],
)
def test_the_text_of_a_message(said: Any, text: str) -> None:
    assert content(message(said)) == text
    assert plain(message(said, "ai")) == {"role": "ai", "content": text}


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        (None, []),
        ([{"name": "f", "args": {"x": 1}, "id": "c"}], [{"name": "f", "args": {"x": 1}}]),
        ([{}, "no call"], [{"name": "None", "args": None}]),
    ],
)
def test_calls_of_tools(calls: Any, found: list[dict[str, Any]]) -> None:
    one = message("a", tool_calls=calls)
    assert tool_calls(one) == found
    assert plain(one).get("tool_calls", []) == found
    assert tool_calls(message("a")) == []


@pytest.mark.parametrize(
    ("said", "more", "text"),
    [
        ("a", {}, ""),
        ("a", {"reasoning_content": "r"}, "r"),
        ("a", {"reasoning_content": {"no": "text"}}, ""),
        ([{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}], {}, "t"),
        ([{"type": "reasoning", "reasoning": "r"}, "a"], {"reasoning_content": "s"}, "s\n\nr"),
        ([{"type": "reasoning", "summary": [{"text": "s"}, {"text": ""}, 7]}], {}, "s"),
        ([{"type": "reasoning", "text": "r", "summary": "no list"}], {}, "r"),
    ],
)
def test_what_a_model_reasoned(said: Any, more: dict[str, Any], text: str) -> None:
    assert reasoning(message(said, "ai", additional_kwargs=more)) == text
    assert reasoning(message(said, "ai", additional_kwargs=None)) == reasoning(message(said, "ai"))


def test_what_is_spoken() -> None:
    talk = [message("s", "system"), message("u"), message("a", "ai"), message("t", "tool")]
    assert spoken(talk) == spoken(tuple(talk)) == [("user", "u"), ("assistant", "a"), ("tool", "t")]
    others: list[object] = [[], [*talk, "text"], "text", None, {"messages": talk}, set()]
    for other in others:
        assert spoken(other) == []
        assert not is_conversation(other)


def test_the_parts_of_a_stream_are_spoken_by_the_assistant() -> None:
    told = [message("My berth is number 47."), message("Good.", "AIMessageChunk")]
    assert spoken(told) == [("user", "My berth is number 47."), ("assistant", "Good.")]


def test_a_prompt_has_roles_if_it_has_several_messages() -> None:
    assert rendered([message("a", "system")]) == "a"
    assert rendered([message("a", "system"), message("b")]) == "system: a\n\nhuman: b"


@dataclass
class State:
    talk: list[Any]
    number: int = 1


class Model:
    model_fields: tuple[str, ...] = ()

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


TALK = [message("u")]
PLAIN = [{"role": "user", "content": "u", "id": "1"}, {"role": "developer", "content": "s"}]


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ({"messages": TALK, "other": ["a"], "empty": []}, ["messages"]),
        ({1: TALK}, ["1"]),
        (TALK, ["messages"]),
        (tuple(TALK), ["messages"]),
        (State(TALK), ["talk"]),
        (Model(history=TALK, size=3), ["history"]),
        (SimpleNamespace(history=TALK), []),
        ({"plain": PLAIN}, ["plain"]),
        ({"plain": [*PLAIN, {"role": "user"}]}, []),
        ({"plain": [{"role": "user", "content": ["parts"]}]}, []),
        ("text", []),
        (None, []),
    ],
)
def test_conversations_of_a_state(value: object, keys: list[str]) -> None:
    assert [key for key, _ in conversations(value)] == keys


def test_a_message_as_a_dictionary() -> None:
    ((_, (first, second)),) = conversations({"plain": PLAIN})
    assert (first.type, first.content, first.id) == ("human", "u", "1")
    assert (second.type, second.content, second.id) == ("system", "s", None)
    assert spoken([first, second]) == [("user", "u")]


def test_texts_inside_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    document, said = SimpleNamespace(page_content="d"), message("m")
    value = {"a": ["x", 7, {"b": document}], "c": (said, {"d": "y"}), "e": Model(f="z", g=None), "h": frozenset(["w"])}
    found = [("a", "x"), ("b", document), ("c", said), ("d", "y"), ("f", "z"), ("h", "w")]
    assert list(leaves(value)) == found
    assert list(leaves("text", "key")) == [("key", "text")]
    assert list(leaves([SimpleNamespace(page_content=7), None])) == []
    monkeypatch.setattr(messages, "MAX_DEPTH", 2)
    assert [name for name, _ in leaves(value)] == ["a", "c", "f", "h"]
    monkeypatch.setattr(messages, "MAX_LEAVES", 3)
    assert list(leaves(value)) == [("a", "x")]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"messages": [{"role": "user", "content": "Hi you"}]}, [("human", "Hi you")]),
        (
            {"messages": [{"role": "assistant", "content": "Hi you", "name": "bot"}]},
            [("ai", "Hi you"), ("name", "bot")],
        ),
        ({"role": "developer", "content": "Be kind"}, [("system", "Be kind")]),
        ({"role": "cook", "content": "Soup"}, [("role", "cook"), ("content", "Soup")]),
        (
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            [("role", "user"), ("type", "text"), ("text", "Hi")],
        ),
    ],
    ids=["user", "assistant", "developer", "no message", "parts"],
)
def test_the_text_of_a_message_in_a_dictionary_has_its_role_as_its_key(
    value: Any, found: list[tuple[str, object]]
) -> None:
    assert list(leaves(value)) == found
