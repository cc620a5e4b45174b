"""Calls inside packages, as a replay changes them: by their texts."""

from __future__ import annotations

import json

import pytest
from memtrace.instruments.mem0 import replay as mem0_replay
from memtrace.replay import Call, Do
from memtrace.replay.package_calls import PackageCall

CALL = Call("mem0:search", "0f", 0)


def changed(*do: Do) -> tuple[PackageCall, list[str]]:
    """A call with changes, and the list of what can't be done."""
    problems: list[str] = []
    return PackageCall(CALL, do, problems.append), problems


@pytest.mark.parametrize(
    ("do", "found"),
    [
        (Do("mem0:search", add="c"), ["a", "b", "c"]),
        (Do("mem0:search", skip=True), []),
        (Do("mem0:search", output=["b", "d"]), ["b", "d"]),
        (Do("mem0:search", output="d"), ["d"]),
    ],
    ids=["add", "skip", "output", "a text"],
)
def test_what_a_search_gives_back(do: Do, found: list[str]) -> None:
    call, problems = changed(do)
    assert call.found(["a", "b"]) == found
    assert problems == []
    assert call.noted == {"call": "mem0:search#0f.0"}


def test_a_unit_that_is_put_into_a_search_has_the_form_of_the_others() -> None:
    call, _ = changed(Do("mem0:search", add="c"))
    result = {"results": [{"id": "1", "memory": "a", "score": 0.5}], "relations": []}
    found = mem0_replay.found(call, result)
    assert [one["memory"] for one in found["results"]] == ["a", "c"]
    assert found["results"][0] is result["results"][0]
    assert found["relations"] == []
    assert mem0_replay.found(changed()[0], result) is result


class Memory:
    """A memory that lists its inserted units."""

    def __init__(self) -> None:
        self.units: list[tuple[str, dict[str, str]]] = []

    def _create_memory(self, data: str, existing_embeddings: dict[str, list[float]], metadata: dict[str, str]) -> None:
        self.units.append((data, metadata))


class Later:
    """An asynchronous memory."""

    async def _create_memory(self, data: str, existing_embeddings: object, metadata: object) -> None:
        raise AssertionError


def test_what_is_put_into_a_memory_besides() -> None:
    call, problems = changed(Do("mem0:delete", add="b"))
    memory = Memory()
    mem0_replay.remember(call, memory, {"user_id": "ann", "agent_id": None, "messages": "m"})
    assert (memory.units, problems) == ([("b", {"user_id": "ann"})], [])
    mem0_replay.remember(changed()[0], memory, {"user_id": "ann"})
    assert len(memory.units) == 1
    mem0_replay.remember(call, Later(), {"user_id": "ann"})
    assert problems == ["mem0:search: nothing can be put into a memory that is asynchronous"]


@pytest.mark.parametrize(
    ("reply", "key", "last"),
    [
        ('{"facts": ["a"]}', "facts", "b"),
        ('{"memory": []}', "memory", {"id": "1000000", "text": "b", "event": "ADD", "attributed_to": "user"}),
    ],
)
def test_a_fact_is_put_into_a_reply_in_its_form(reply: str, key: str, last: object) -> None:
    call, problems = changed(Do("mem0:extract", add="b"))
    assert json.loads(call.reply(reply, mem0_replay.with_fact))[key][-1] == last
    assert problems == []


@pytest.mark.parametrize(
    ("do", "said"),
    [
        (Do("x", add="b"), "a sentence can't be added to a reply of this form"),
        (Do("x", body="a:b"), "no body can run in place of what a package does"),
        (Do("x", output={"a": 1}), "gives back texts, not a dict"),
        (Do("x", inputs={"system": "b"}), "'system' can't be changed there, only the texts of prompt"),
    ],
    ids=["data", "body", "output", "role"],
)
def test_what_can_not_be_done_is_said(do: Do, said: str) -> None:
    call, problems = changed(do)
    assert call.given({"prompt": "a"}) == {"prompt": "a"}
    assert call.reply('{"other": 1}') == '{"other": 1}'
    assert len(problems) == 1
    assert said in problems[0]


def test_the_prompt_of_a_model() -> None:
    call, problems = changed(Do("x", prompt="b"))
    assert call.given({"prompt": "a", "system": "s"}) == {"prompt": "b", "system": "s"}
    assert call.reply("yes") == "yes"
    assert changed(Do("x", add="b"))[0].reply("a") == "a\nb"
    assert problems == []
