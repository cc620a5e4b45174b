"""The recording of one call of a mem0 memory: arguments, rows of the vector store, result, and end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import placing
from memtrace.instruments.mem0.calls import Mem0Call
from memtrace.steps import Scope


class _Memory:
    """What a call reads of a memory: where its store is."""

    def __init__(self) -> None:
        store = SimpleNamespace(provider="qdrant", config=SimpleNamespace(collection_name="c", path="/data/q"))
        self.config, self.vector_store = SimpleNamespace(vector_store=store), object()


_STORE = "qdrant /data/q c"


@pytest.fixture
def here(recorded: MemoryExporter) -> Iterator[Scope]:
    with placing.of_memory(_STORE, "user_id=ann", what="mem0"):
        found = scope.get()
        assert found is not None
        yield found


def row(id_: str, text: object, score: float | None = None) -> Any:
    return SimpleNamespace(id=id_, payload={"data": text}, score=score)


def end(call: Mem0Call, result: object) -> None:
    """End a call inside its operation, as the instrument does."""
    with call.current():
        call.done(result)


def begun(recorded: MemoryExporter) -> list[tuple[str, dict[str, Any]]]:
    return [(event["name"], event.get("attributes", {})) for event in recorded.of("operationStarted")]


def units(recorded: MemoryExporter) -> list[tuple[str, int]]:
    """The written memory units, each with its version."""
    made = [event for event in recorded.of("variable") if event["kind"] == "MemoryUnit" and not event.get("occurrence")]
    return [(event["value"], event["version"]) for event in made if event.get("operation")]


@pytest.mark.parametrize(
    ("name", "said", "shown"),
    [
        ("search", {"query": "q?"}, {"store": _STORE}),
        ("search", {"query": "q?", "user_id": "u", "limit": 5}, {"owner": "user_id=u", "store": _STORE, "limit": 5}),
        ("search", {"query": "q?", "threshold": 0.5, "top_k": 3}, {"store": _STORE, "top_k": 3, "threshold": 0.5}),
        ("search", {"query": "q?", "threshold": 0.0}, {"store": _STORE, "threshold": 0.0}),
        ("search", {"query": "q?", "filters": {"a": 1}}, {"store": _STORE, "filters": {"a": 1}}),
        ("search", {"query": "q?", "filters": {}}, {"store": _STORE}),
        ("get_all", {"run_id": "r", "agent_id": "a"}, {"owner": "agent_id=a, run_id=r", "store": _STORE}),
        ("add", {"messages": "hi", "infer": False}, {"infer": False}),
        ("add", {"messages": "hi", "filters": {"a": 1}, "infer": None}, {}),
        ("add", {"messages": "hi", "expiration_date": "2026-01-01"}, {"expires": "2026-01-01"}),
        ("delete_all", {"user_id": "u"}, {"owner": "user_id=u"}),
        ("reset", {}, {}),
    ],
)
def test_a_call_shows_whose_memories_it_concerns_and_what_limits_it(
    recorded: MemoryExporter, here: Scope, name: str, said: dict[str, Any], shown: dict[str, Any]
) -> None:
    end(Mem0Call(_Memory(), name, here, said), None)
    assert begun(recorded) == [(f"mem0 {name}", shown)]


@pytest.mark.parametrize(
    ("error", "status"),
    [(ValueError("no key"), "error"), (asyncio.CancelledError(), "cancelled"), (KeyboardInterrupt(), "cancelled")],
)
def test_a_call_that_is_stopped_is_no_error(
    recorded: MemoryExporter, here: Scope, error: BaseException, status: str
) -> None:
    Mem0Call(_Memory(), "add", here, {"messages": "hi"}).failed(error)
    (ended,) = recorded.of("operationEnded")
    assert (ended["status"], "error" in ended) == (status, status == "error")


@pytest.mark.parametrize(
    ("messages", "used"),
    [
        ("I like tea", [("I like tea", "user")]),
        ({"role": "assistant", "content": "Noted."}, [("Noted.", "assistant")]),
        ([{"content": "a dog"}, "a cat", {"role": "user"}, 7], [("a dog", "user"), ("a cat", "user")]),
        ([{"role": "system", "content": "Be kind."}], [("Be kind.", "system")]),
        (None, []),
    ],
)
def test_each_message_is_an_input_in_its_role(
    recorded: MemoryExporter, here: Scope, messages: Any, used: list[tuple[str, str]]
) -> None:
    Mem0Call(_Memory(), "add", here, {"messages": messages}).done({"results": []})
    made = {event["variable"]: event for event in recorded.of("variable")}
    assert [(made[one["variable"]]["value"], one["role"]) for one in recorded.of("used")] == used
    kinds = {"Prompt" if role == "system" else "Message" for _, role in used}
    assert {event["kind"] for event in made.values()} == kinds


def test_a_row_whose_text_stays_is_no_new_version(recorded: MemoryExporter, here: Scope) -> None:
    add = Mem0Call(_Memory(), "add", here, {"messages": "I like tea"})
    add.inserted(["1", "2", "3"], [{"data": "likes tea"}, {"other": 1}, None])
    add.done(None)
    update = Mem0Call(_Memory(), "update", here, {"memory_id": "1", "text": "likes coffee"})
    update.saw([row("1", "likes tea"), row("9", None)])
    update.updated("1", {"data": "likes tea", "metadata": 1})
    update.updated("1", {"metadata": 1})
    update.updated("1", "likes coffee")
    assert units(recorded) == [("likes tea", 0)]
    update.updated("1", {"data": "likes coffee"})
    update.done(None)
    assert units(recorded) == [("likes tea", 0), ("likes coffee", 1)]


def test_what_nobody_knows_is_not_deleted_and_a_known_row_once(recorded: MemoryExporter, here: Scope) -> None:
    memory = _Memory()
    Mem0Call(memory, "add", here, {"messages": "hi"}).inserted(["1"], [{"data": "likes tea"}])
    delete = Mem0Call(memory, "delete", here, {"memory_id": "1"})
    delete.removed("7")
    assert recorded.of("invalidated") == []
    delete.removed("1")
    delete.done(None)
    (ended,) = recorded.of("invalidated")
    assert ended["operation"] == recorded.of("operationStarted")[-1]["operation"]


def test_a_row_written_without_a_model_comes_from_the_message_with_its_words(
    recorded: MemoryExporter, here: Scope
) -> None:
    add = Mem0Call(_Memory(), "add", here, {"messages": ["I like tea", "I like milk"], "infer": False})
    add.inserted(["1", "2"], [{"data": "I like milk"}, {"data": "in other words"}])
    add.done(None)
    values = {event["variable"]: event["value"] for event in recorded.of("variable")}
    _, first, second = (event["operation"] for event in recorded.of("operationStarted"))
    used = {
        one: [(values[event["variable"]], event["role"]) for event in recorded.of("used") if event["operation"] == one]
        for one in (first, second)
    }
    assert used[first] == [("I like milk", "message")]
    assert used[second] == [("I like tea", "user"), ("I like milk", "user")]


def test_hits_are_ranked_by_the_last_score_that_is_known(recorded: MemoryExporter, here: Scope) -> None:
    search = Mem0Call(_Memory(), "search", here, {"query": "what do I like?"})
    search.saw([row("1", "tea", 0.5), row("2", "milk", 0.4), row("3", "beer"), row("4", "wine", 0.2)])
    search.saw([row("1", "tea", 0.1)])  # the first score of the store stays
    search.ranked = [("2", 0.9), ("4", 0.05)]
    end(search, {"results": [{"id": "4", "memory": "wine", "score": 0.7}, {"id": "1", "memory": "tea"}]})
    values = {event["variable"]: event["value"] for event in recorded.of("variable")}
    rated = sorted(recorded.of("considered"), key=lambda event: event["rank"])
    assert [(values[one["variable"]], one.get("score"), one["returned"]) for one in rated] == [
        ("milk", 0.9, False),
        ("wine", 0.7, True),
        ("tea", 0.5, True),
        ("beer", None, False),
    ]
    assert [name for name, _ in begun(recorded)] == ["mem0 search"]


@pytest.mark.parametrize(
    ("stage", "name"),
    [
        ("image", ("mem0 describe", "Other")),
        ("storing", ("mem0 extract", "Extraction")),
        ("procedural", ("mem0 extract", "Extraction")),
    ],
)
def test_a_call_of_the_model_is_named_by_its_stage(
    recorded: MemoryExporter, here: Scope, stage: str, name: tuple[str, str]
) -> None:
    said = {"messages": "hi", **({"memory_type": "procedural_memory"} if stage == "procedural" else {})}
    add = Mem0Call(_Memory(), "add", here, said)
    if stage == "storing":
        add.described("hi")
    assert add.model_call() == name
    with add.current():
        call = add.ask([{"role": "user", "content": "hi"}, "no message"], "a model", {})
    assert call is not None
    add.answered(call, "a reply")
    assert begun(recorded)[-1] == (name[0], {"model": "a model"})
    is_decision = stage != "image"
    assert add.model_call() == (("mem0 decide", "Update") if is_decision else name)
