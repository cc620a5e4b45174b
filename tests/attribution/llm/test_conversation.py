"""Messages of a conversation, bounds of their tokens, and results that are left out to save room."""

from __future__ import annotations

from typing import Any

import pytest

from attribution.llm.transport.conversation import Conversation, byte_size
from attribution.llm.transport.settings import LlmSettings


def reply(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def result(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text}


def test_what_we_say_before_a_reply_is_part_of_the_task() -> None:
    talk = Conversation("You judge.", "Is it?")
    talk.say("Answer briefly.")
    assert talk.messages == [
        {"role": "system", "content": "You judge."},
        {"role": "user", "content": "Is it?\n\nAnswer briefly."},
    ]
    talk.add(reply("Yes."))
    talk.say("Why?")
    talk.say("Tell.")
    assert talk.messages[2:] == [
        reply("Yes."),
        {"role": "user", "content": "Why?"},
        {"role": "user", "content": "Tell."},
    ]


def test_a_task_that_was_counted_is_not_changed() -> None:
    talk = Conversation("You judge.", "Is it?")
    talk.counted(30)
    talk.say("Answer briefly.")
    assert [one["content"] for one in talk.messages] == ["You judge.", "Is it?", "Answer briefly."]


@pytest.mark.parametrize(
    ("part", "size"), [("a", 3), ("é", 4), ('"', 4), ({"a": "b"}, 10), ([1, None], 9), ("\ud800", 8), ("漢", 5)]
)
def test_a_part_is_as_large_as_it_is_sent(part: object, size: int) -> None:
    assert byte_size(part) == size


def test_the_bound_is_exact_for_what_the_server_counted() -> None:
    talk = Conversation("You judge.", "Is it?")
    sizes = sum(map(byte_size, talk.messages))
    assert talk.bound() == 512 + sizes + 2 * 16
    assert talk.bound([{"a": 1}, "b"]) == 512 + sizes + 2 * 16 + 8 + 3
    talk.counted(40)
    assert talk.bound() == talk.bound([{"a": 1}]) == 40
    talk.add(reply("Yes."))
    assert talk.bound([{"a": 1}]) == 40 + byte_size(reply("Yes.")) + 16


def test_the_estimate_learns_the_rate() -> None:
    talk = Conversation("You judge.", "Is it?")
    sizes = sum(map(byte_size, talk.messages))
    assert talk.estimate() == sizes // 3
    talk.counted(sizes // 2)
    assert talk.estimate() in {sizes // 2, sizes // 2 - 1}
    talk.add(reply("Yes."))
    assert talk.estimate() > sizes // 2


def test_the_oldest_results_are_left_out_until_there_is_room() -> None:
    talk = Conversation("You judge.", "Is it?")
    results = [result(letter * 3_000) for letter in "abcd"]
    for one in results:
        talk.result(one)
    whole = talk.estimate()
    assert not talk.shorten(whole)
    assert [one["content"][0] for one in results] == ["a", "b", "c", "d"]
    assert talk.shorten(whole - 1)
    assert ["left out" in one["content"] for one in results] == [True, False, False, False]
    after = talk.estimate()
    assert after < whole - 900
    assert not talk.shorten(after)
    assert talk.shorten(0)
    assert ["left out" in one["content"] for one in results] == [True, True, False, False]
    assert not talk.shorten(0)


def test_a_short_result_is_kept() -> None:
    talk = Conversation("You judge.", "Is it?")
    for text in ("short", "b" * 3_000, "c", "d"):
        talk.result(result(text))
    assert talk.shorten(0)
    assert talk.messages[2]["content"] == "short"
    assert "left out" in talk.messages[3]["content"]


@pytest.mark.parametrize(
    ("output", "context", "most"), [(500, 8_000, 500), (2_000, 8_000, 2_000), (2_001, 8_000, 2_000), (500, 1_024, 256)]
)
def test_a_reply_leaves_most_of_the_context(output: int, context: int, most: int) -> None:
    settings = LlmSettings.load(base_url="http://localhost:1", model="m", output_tokens=output, context_tokens=context)
    assert settings.reply_tokens == most


@pytest.mark.parametrize(
    ("prices", "cost", "of_embedding"),
    [
        ({}, 0.0, 0.0),
        ({"input_price": 2.0}, 0.002, 0.0),
        ({"output_price": 10.0}, 0.005, 0.0),
        ({"input_price": 2.0, "output_price": 10.0}, 0.007, 0.0),
        ({"embedding_price": 3.0}, 0.0, 0.003),
    ],
)
def test_prices_are_of_a_million_tokens(prices: dict[str, float], cost: float, of_embedding: float) -> None:
    settings = LlmSettings.load(base_url="http://localhost:1", model="m", **prices)
    used, embedded = settings.usage(1_000, 500), settings.embedding_usage(1_000)
    assert (used.input_tokens, used.output_tokens, used.calls) == (1_000, 500, 1)
    assert (embedded.input_tokens, embedded.output_tokens, embedded.calls) == (1_000, 0, 1)
    assert used.cost == pytest.approx(cost)
    assert embedded.cost == pytest.approx(of_embedding)
