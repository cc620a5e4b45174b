"""Reads, revisions, deletions and retrievals: the graph is right when it is recorded."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import memtrace
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtrace import context, faults
from memtrace.exporters.memory import MemoryExporter
from memtrace.identity import MAX_HELD, IdentityMap
from memtrace.identity import Variable as Handle

from tests.sdk.graph import sources, value


def queries(closure: list[dict[str, Any]]) -> list[str]:
    return [event["value"] for event in closure if event["kind"] == "Query"]


@memtrace.operation(kind="Retrieval")
def search(query: str, store: list[Any], k: int = 1) -> list[Any]:
    return store[:k]


@memtrace.operation(kind="Generation", output="Answer")
def generate(query: str, units: list[Any]) -> str:
    return f"{query} {units}"


@memtrace.operation()
def build_context(units: list[Any]) -> str:
    return f"{units}"


def test_a_retrieval_reads_and_its_candidates_are_recorded(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        store = [memtrace.variable({"text": f"unit {number}"}, "MemoryUnit", f"u{number}") for number in range(3)]
        question = memtrace.variable("which is it?", "Query")
        answer = generate(question, search(question, store, k=2))
        closure = recorded.closure(memtrace.find(answer))  # type: ignore[arg-type]
    assert queries(closure) == ["which is it?"]
    units = [event["value"] for event in closure if event["kind"] == "MemoryUnit"]
    assert sorted(units) == ['{"text":"unit 0"}'] * 2 + ['{"text":"unit 1"}'] * 2
    considered = recorded.of("considered")
    assert [(event["rank"], event["returned"]) for event in considered] == [(0, True), (1, True), (2, False)]
    occurrence = next(event for event in recorded.of("variable") if event["name"] == "u0" and "operation" in event)
    assert sources(recorded.events, occurrence) == [("Derivation", "which is it?"), ("Read", '{"text":"unit 0"}')]


def test_each_question_has_its_own_past_and_no_other(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        store = [memtrace.variable({"text": f"unit {number}"}, "MemoryUnit", f"u{number}") for number in range(3)]
        answers = []
        for number in range(5):
            question = memtrace.variable(f"question {number}?", "Query")
            answers.append(generate(question, [build_context(search(question, store, 2))]))
        for number, answer in enumerate(answers):
            closure = recorded.closure(memtrace.find(answer))  # type: ignore[arg-type]
            assert queries(closure) == [f"question {number}?"]


async def test_questions_asked_at_once_are_not_mixed(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Retrieval")
    async def search_slowly(query: str, store: list[Any]) -> list[Any]:
        await asyncio.sleep(0.001 * (query.count("0") + 1))
        return store[:2]

    async def ask(number: int) -> str:
        question = memtrace.variable(f"question {number}?", "Query")
        (found,) = await asyncio.gather(search_slowly(question, store))
        await asyncio.sleep(0.001 * (number % 3))
        return build_context([build_context(found)])

    with memtrace.trace():
        store = [memtrace.variable({"text": f"unit {number}"}, "MemoryUnit", f"u{number}") for number in range(3)]
        answers = await asyncio.gather(*(ask(number) for number in range(12)))
        for number, answer in enumerate(answers):
            assert queries(recorded.closure(memtrace.find(answer))) == [f"question {number}?"]  # type: ignore[arg-type]


def test_an_update_of_a_unit_that_was_read_takes_no_question_into_the_memory(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Update", output=False)
    def update(unit: dict[str, str], message: str) -> None:
        with memtrace.mutation(unit):
            unit["text"] = message

    with memtrace.trace():
        unit = memtrace.variable({"text": "old"}, "MemoryUnit", "u")
        question = memtrace.variable("first question?", "Query")
        generate(question, search(question, [unit]))
        update(unit, memtrace.variable("new text", "Message"))
        second = memtrace.variable("second question?", "Query")
        answer = generate(second, search(second, [unit]))
        assert queries(recorded.closure(memtrace.find(answer))) == ["second question?"]  # type: ignore[arg-type]
    new = next(event for event in recorded.of("variable") if event["value"] == '{"text":"new text"}')
    assert new["version"] == 1
    assert new["revisionOf"]
    reads = [(event["value"], event["version"]) for event in recorded.of("variable") if "reads" in event]
    assert sorted(set(reads)) == [('{"text":"new text"}', 1), ('{"text":"old"}', 0)], "a read has the version it read"
    assert sources(recorded.events, new) == [("Derivation", "new text"), ("Revision", '{"text":"old"}')]


def test_a_mutation_out_of_an_operation_is_an_update(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        buffer: list[str] = []
        for text in ("one message", "two message"):
            message = memtrace.variable(text, "Message")
            with memtrace.mutation(buffer, "buffer", inputs=[message]):
                buffer.append(message)
        with pytest.raises(KeyError), memtrace.mutation(buffer):
            raise KeyError(1)
    versions = [event for event in recorded.of("variable") if event["name"] == "buffer"]
    assert [(event["version"], event["value"], event["kind"]) for event in versions[:3]] == [
        (0, "[]", "Buffer"),
        (1, '["one message"]', "Buffer"),
        (2, '["one message","two message"]', "Buffer"),
    ]
    assert [event["kind"] for event in recorded.of("operationStarted")] == ["Update"] * 3
    assert [event["status"] for event in recorded.of("operationEnded")] == ["ok", "ok", "error"]


def test_a_unit_of_a_known_name_is_revised_and_deleted(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        memtrace.variable("lives in Rome now", "MemoryUnit", "home")
        newer = memtrace.variable("lives in Oslo now", "MemoryUnit", "home")
        newest = memtrace.variable("lives in Bern now", "MemoryUnit", revises=newer)
        memtrace.deleted("home")
        assert memtrace.named("home") is memtrace.find(newest)
    oslo = value(recorded.events, "lives in Oslo now")
    assert sources(recorded.events, oslo) == [("Revision", "lives in Rome now")]
    assert recorded.of("invalidated")[0]["variable"] == value(recorded.events, "lives in Bern now")["variable"]
    assert [event["kind"] for event in recorded.of("operationStarted")] == ["Update", "Update", "Deletion"]


def test_retrieved_takes_handles_scores_and_copies(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        for number in range(3):
            memtrace.variable(f"text of unit {number}", "MemoryUnit", f"u{number}")
        question = memtrace.variable("what now?", "Query")
        copy = {"text": "text of unit 1"}
        memtrace.retrieved(question, [("u1", 0.9), ("u0", 0.5), "u2"], [(copy, "u1")])
        answer = generate(question, [copy])
        closure = recorded.closure(memtrace.find(answer))  # type: ignore[arg-type]
    assert [event["value"] for event in closure if event["name"] == "u1"] == [
        '{"text":"text of unit 1"}',
        "text of unit 1",
    ]
    assert [event.get("score") for event in recorded.of("considered")] == [0.9, 0.5, None]
    assert [event["returned"] for event in recorded.of("considered")] == [True, False, False]


def test_a_text_that_is_given_back_unchanged_has_been_read(recorded: MemoryExporter) -> None:
    @memtrace.operation()
    def choose(first: str, second: str) -> str:
        return second

    with memtrace.trace():
        first, second = memtrace.variable("first text", "Message"), memtrace.variable("second text", "Message")
        chosen = choose(first, second)
        assert memtrace.find(chosen) is not memtrace.find(second)
    occurrence = [event for event in recorded.of("variable") if event["value"] == "second text"][1]
    assert sources(recorded.events, occurrence) == [("Derivation", "first text"), ("Read", "second text")]


def test_bind_makes_a_copy_known(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        memtrace.variable("a text in a database", "MemoryUnit", "u")
        copy = memtrace.bind("a text " + "in a database", "u")
        assert memtrace.find(copy) is memtrace.named("u")
        number = memtrace.variable(5, "Score", "score")
        assert memtrace.find(number) is None
        assert memtrace.named("score") is not None


def test_threads_follow_only_where_they_are_told_to(recorded: MemoryExporter) -> None:
    with ThreadPoolExecutor(2) as pool, memtrace.trace(), memtrace.operation("outer"):
        assert pool.submit(memtrace.named, "x").result() is None
        carrying = memtrace.executor(pool)
        carrying.submit(build_context, ["text in a thread"]).result()
        assert list(carrying.map(lambda text: build_context([text]), ["text one", "text two"])) == [
            "['text one']",
            "['text two']",
        ]
        pool.submit(memtrace.carry(build_context), ["text carried"]).result()
    outer, *inner = recorded.of("operationStarted")
    assert [event["parent"] for event in inner] == [outer["operation"]] * 4


@pytest.mark.parametrize("is_sampled", [True, False])
def test_what_is_carried_into_a_thread_does_not_stay_there(recorded: MemoryExporter, is_sampled: bool) -> None:
    """A pool's thread serves another user next."""

    def look() -> tuple[object, ...]:
        here = context.scope.get()
        return None if here is None else here.trace.id, context.unsampled.get(), context.question.get()

    with ThreadPoolExecutor(1) as pool, memtrace.trace(id="t"):
        left_out = context.unsampled.set(None if is_sampled else "t")
        memtrace.variable("which?", "Query", "asked")
        inside = look()
        assert pool.submit(memtrace.carry(look)).result() == inside
        assert pool.submit(look).result() == (None, None, None)
        assert list(memtrace.executor(pool).map(lambda _: look(), "ab")) == [inside, inside]
        assert pool.submit(look).result() == (None, None, None)
        assert inside[0] == "t"
        assert inside[2] is not None
        saved = context.SavedContext()
        context.unsampled.reset(left_out)

    def enter() -> tuple[object, ...]:
        with saved:
            return look()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(enter).result() == inside
        assert pool.submit(look).result() == (None, None, None)


def test_an_object_is_known_as_long_as_it_lives() -> None:
    @dataclass
    class Unit:
        text: str

    identities = IdentityMap()
    kept, used = Unit("kept"), ["used"]
    identities.bind(kept, Handle("kept", "u", 0, "MemoryUnit", 0))
    identities.bind(used, Handle("used", "l", 0, "Other", 1))
    lists = [[number] for number in range(3 * MAX_HELD)]
    for place, one in enumerate(lists):
        identities.bind(one, Handle(str(place), "l", 0, "Other", 2))
        assert identities.find(used) is not None
        assert len(identities) <= MAX_HELD + 2  # `kept`, and `used` in both halves
    assert identities.find(kept) is not None
    assert [identities.find(one) is not None for one in lists[-MAX_HELD // 2 :]] == [True] * (MAX_HELD // 2)
    assert identities.find(lists[0]) is None
    before = len(identities)
    unit = Unit("gone")
    identities.bind(unit, Handle("gone", "u", 0, "MemoryUnit", 3))
    assert len(identities) == before + 1
    del unit
    gc.collect()
    assert len(identities) == before


@given(st.lists(st.tuples(st.sampled_from("vogmrdl"), st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_whatever_is_recorded_in_whatever_order_the_graph_is_whole(steps: list[tuple[str, int, int]]) -> None:
    from memtrace import context

    from tests.sdk.graph import check

    context.forget()
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    with memtrace.trace(), memtrace.operation("around") as around:
        known: list[Any] = [memtrace.variable({"n": 0}, "MemoryUnit", "u0")]
        for act, first, second in steps:
            one, two = known[first % len(known)], known[second % len(known)]
            match act:
                case "v":
                    known.append(memtrace.variable({"n": first}, "MemoryUnit", f"u{first}"))
                case "o":
                    known.append(build_context([one, two]))
                case "g":
                    known.append(generate(f"query {first}?", [one, two]))
                case "m" if isinstance(one, dict):
                    with memtrace.mutation(one, inputs=[two]):
                        one["n"] += 1
                case "r":
                    search(f"query {first}?", [one, two])
                case "d":
                    memtrace.deleted(one)
                case "l":
                    around.input(one)
                    known.append(around.output(two))
    check(exporter.events)
    memtrace.configure(exporter=MemoryExporter())


def test_nothing_is_raised_and_everything_is_counted(recorded: MemoryExporter) -> None:
    class Hostile(dict[str, str]):
        def values(self) -> Any:
            raise RuntimeError("no values")

    before = memtrace.fault_counts()
    with memtrace.trace():
        memtrace.link("unknown source", "unknown target")
        memtrace.deleted(object())
        assert build_context([Hostile(a="b")])
    after = memtrace.fault_counts()
    assert sum(after.values()) - sum(before.values()) == 3
    started = recorded.of("operationStarted")
    assert [event["name"] for event in started] == ["build_context"]
    faults._counts.clear()
    faults._counts.update(before)


def test_out_of_a_trace_nothing_is_recorded_and_operations_are_counted() -> None:
    memtrace.configure(exporter=(exporter := MemoryExporter()))
    before = memtrace.fault_counts().get("operation outside a trace", 0)
    text = memtrace.variable("text", "Message")
    assert memtrace.find(text) is None
    with memtrace.session("s"), memtrace.operation("o") as step, memtrace.mutation([text]):
        assert step.output(text) is text
    memtrace.link(text, text)
    memtrace.retrieved(text, [], [])
    assert build_context([text]) == "['text']"
    assert exporter.events == []
    assert memtrace.fault_counts()["operation outside a trace"] == before + 2


def test_mermaid(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        build_context([memtrace.variable('a "quoted" <text>', "Message", "m")])
    drawn = recorded.to_mermaid().splitlines()
    assert drawn[0] == "flowchart LR"
    assert drawn[1] == '    v0["Message m 0: a #quot;quoted#quot; #lt;text#gt;"]'
    assert drawn[3] == '    v0 -->|"build_context"| v1'
    with pytest.raises(KeyError, match="nothing"):
        recorded.closure("nothing")
    assert [event["name"] for event in recorded.closure("m", "forward")] == ["m", "build_context output"]


def test_of_several_variables_with_one_name_the_newest_is_meant(recorded: MemoryExporter) -> None:
    with memtrace.trace():
        for text in ("older", "newer"):
            memtrace.variable(text, "Message", "m")
    older, newer = recorded.of("variable")
    assert recorded.closure("m") == [newer]
    assert recorded.closure(older["variable"]) == [older]


@memtrace.operation(kind="Extraction")
def keep(message: str, id_: str) -> None:
    memtrace.store_unit(message, store="shop", id=id_)


@pytest.mark.parametrize(
    ("written", "read", "is_same"),
    [
        ("0f8fad5bd9cb469fa16570867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e", True),
        ("0F8FAD5B-D9CB-469F-A165-70867728950E", "0f8fad5b-d9cb-469f-a165-70867728950e", True),
        ("Bread-1", "bread-1", False),
    ],
)
def test_a_uuid_is_one_id_in_all_spellings(recorded: MemoryExporter, written: str, read: str, is_same: bool) -> None:
    with memtrace.trace():
        keep("We bake on Fridays.", written)
        memtrace.stored_unit("We bake on Fridays.", store="shop", id=read)
    names = {event["name"] for event in recorded.events if event.get("kind") == "MemoryUnit"}
    assert len(names) == 1 + (not is_same)
