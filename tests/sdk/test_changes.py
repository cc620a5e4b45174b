"""Values that change in place: what is new goes over the wire, and the whole value is there at the other end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import memtrace
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memtrace import changes, context, events, redact
from memtrace.exporters.file import FileExporter
from memtrace.exporters.http import HttpExporter
from memtrace.exporters.memory import MemoryExporter
from memtrace.exporters.protocol import FlushResult
from memtrace.values import snapshot
from pydantic_core import to_json

from ingest.events.values import rebuilt
from tests.sdk.graph import check
from tests.sdk.platform import running

LONG = "so that a version is long enough for its beginning to be worth keeping " * 4


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    context.forget()
    yield
    memtrace.configure(exporter=MemoryExporter())


def grow(buffer: Any, count: int, add: Callable[[Any, int], object]) -> list[str]:
    """Change a buffer in place some times; its whole text after each."""
    texts = []
    for number in range(count):
        with memtrace.mutation(buffer, "buffer"):
            add(buffer, number)
        texts.append(snapshot(buffer)[0])
    return texts


def rebuild(found: list[dict[str, Any]]) -> dict[str, tuple[str, bool]]:
    """What the platform makes of events: each variable's value, and whether it is cut."""
    known: dict[str, tuple[str, bool]] = {}
    for raw in found:
        event = events.from_object(raw)
        if isinstance(event, events.VariableEvent):
            known[event.variable] = event.value, bool(event.truncated)
            if event.base is not None:
                before, is_cut = known[event.base.variable]
                whole = rebuilt(event, event.base, before.encode(), is_cut)
                known[event.variable] = whole.data.decode(), bool(whole.truncated)
    return known


def wire_bytes(found: list[dict[str, Any]]) -> int:
    return sum(len(event["value"].encode()) for event in found if event["type"] == "variable")


def test_a_buffer_that_grows_is_told_by_what_is_new(tmp_path: Path) -> None:
    sizes = {}
    for count in (300, 3000):
        path = tmp_path / f"{count}.ndjson"
        memtrace.configure(exporter=FileExporter(path))
        with memtrace.trace():
            texts = grow([], count, lambda buffer, number: buffer.append(f"message {number:05} {'x' * 85}"))
        assert memtrace.flush(30).dropped == 0
        found = [json.loads(line) for line in path.read_bytes().splitlines()]
        check(found)
        assert [value for value, _ in rebuild(found).values()][1:] == texts
        sizes[count] = wire_bytes(found)
    assert sizes[3000] < 11 * sizes[300] < 11 * 3 * 300 * 102


def test_only_what_is_new_is_written_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0

    def counting(value: Any, **options: Any) -> bytes:
        nonlocal written
        data = to_json(value, **options)
        written += len(data)
        return data

    memtrace.configure(exporter=MemoryExporter())
    monkeypatch.setattr(changes, "to_json", counting)
    with memtrace.trace():
        grow([], 500, lambda buffer, number: buffer.append({"role": "user", "content": "x" * 80, "number": number}))
    assert 500 * 100 < written < 2 * 500 * 125


texts = st.text(max_size=12) | st.just(LONG)
plain = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 0.0, 1.0, 5, 5.5, float("nan")]) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=4,
)
odd = st.sampled_from([{1: "a"}, b"bytes", ("a", ["b"]), frozenset("a"), object()])
changes_of_lists = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "insert", "pop", "pop first", "set", "clear", "inside", "extend", "sort"]),
        st.integers(0, 30),
        plain | odd,
    ),
    max_size=25,
)


def change(buffer: list[Any], act: str, place: int, item: Any) -> None:
    place = place % len(buffer) if buffer else 0
    match act:
        case "append":
            buffer.append(item)
        case "insert":
            buffer.insert(place, item)
        case "pop" if buffer:
            buffer.pop()
        case "pop first" if buffer:
            buffer.pop(0)
        case "set" if buffer:
            buffer[place] = item
        case "clear":
            buffer.clear()
        case "extend":
            buffer.extend([item, LONG, item])
        case "sort":
            buffer.sort(key=repr)
        case "inside" if buffer and isinstance(buffer[place], list):
            buffer[place].append(item)
        case "inside" if buffer and isinstance(buffer[place], dict):
            buffer[place]["b"] = item


def same(first: str, second: str) -> bool:
    """Whether two texts are the same JSON."""
    return first == second or json.dumps(_parsed(first), sort_keys=True) == json.dumps(_parsed(second), sort_keys=True)


def _parsed(text: str) -> Any:
    return json.loads(text, parse_float=lambda number: f"{float(number):g}", parse_int=lambda number: f"{number}")


@pytest.mark.parametrize("masks", [(), (redact.emails,)])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=changes_of_lists, as_dict=st.booleans())
def test_any_changes_give_the_values_that_whole_texts_would(
    masks: tuple[Any, ...], acts: list[tuple[str, int, Any]], as_dict: bool
) -> None:
    context.forget()
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter, redact=masks)
    buffer: list[Any] = [LONG]
    holder: Any = {"first": LONG, "list": buffer, "last": 1} if as_dict else buffer
    expected = [snapshot(holder)[0]]
    with memtrace.trace():
        for act, place, item in acts:
            with memtrace.mutation(holder, "buffer"):
                change(buffer, act, place, item)
                if as_dict and place % 5 == 0:
                    holder[f"key {place}"] = item
                    holder.pop("first", None)
            expected.append(snapshot(holder)[0])
    told = [value for value, _ in rebuild(exporter.events).values()]
    assert len(told) == (len(expected) if acts else 0)
    assert all(same(one, other) for one, other in zip(told, expected, strict=False))
    assert [event["value"] for event in exporter.of("variable")] == told
    assert json.loads(json.dumps(exporter.events)) == exporter.events


def test_texts_that_are_revised_are_told_by_what_is_new() -> None:
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    text = ""
    with memtrace.trace():
        for number in range(200):
            text += f"message {number:04} äöü {'x' * 80}\n"
            memtrace.variable(text, "Buffer", "buffer")
        whole = exporter.of("variable")
    assert [len(event["value"]) for event in whole] == [98 * (number + 1) for number in range(200)]
    assert whole[-1]["value"] == text
    assert [value for value, _ in rebuild(exporter.events).values()] == [event["value"] for event in whole]
    assert wire_bytes(exporter.events) < 4 * len(text.encode())


def test_masks_see_values_whole_and_what_is_new_goes_over_the_wire() -> None:
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter, redact=redact.EVERYTHING)
    with memtrace.trace():
        texts = grow([LONG], 100, lambda buffer, number: buffer.append(f"from ann{number}@mail.example of {LONG}"))
        halves = grow([LONG, "4111 1111", ""], 1, lambda buffer, number: buffer.__setitem__(1, "4111 1111 1111 1111"))
    sent = json.dumps(exporter.events)
    assert "@" not in sent
    assert "4111 1111 1111 1111" not in sent
    assert sent.count("[CARD]") == 1
    told = [value for value, _ in rebuild(exporter.events).values()]
    assert told[100] == redact.emails(texts[-1])
    assert told[-1] == redact.cards(halves[-1])
    assert wire_bytes(exporter.events) < 4 * len(texts[-1])


def test_a_value_beyond_the_limit_is_cut_as_if_it_were_whole() -> None:
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter, max_value_bytes=2000)
    with memtrace.trace():
        texts = grow([], 40, lambda buffer, number: buffer.append(f"message {number:04} äöü {'x' * 80}"))
        buffer: list[str] = []
        grown = grow(buffer, 30, lambda buffer, number: buffer.append("y" * 100))
        shrunk = grow(buffer, 20, lambda buffer, number: buffer.pop())
    known = list(rebuild(exporter.events).items())
    sizes = {event["variable"]: event for event in exporter.of("variable")}
    for (id_, (value, is_cut)), text in zip(known, ["[]", *texts, "[]", *grown, *shrunk], strict=True):
        size = len(text.encode())
        assert value == text.encode()[:2000].decode("utf-8", "ignore")
        assert is_cut == (size > 2000)
        assert sizes[id_].get("size") == (size if is_cut else None)
        assert sizes[id_]["mediaType"] == ("text/plain" if is_cut else "application/json")
    assert wire_bytes(exporter.events) < 15_000


def test_versions_after_a_lost_value_are_whole_again() -> None:
    with running() as first:
        port = first.server_address[1]
    memtrace.configure(exporter=HttpExporter(f"http://127.0.0.1:{port}", "k", "p", spool=False, max_queue_bytes=30_000))
    buffer = [LONG]
    with memtrace.trace(id="full"):
        memtrace.variable("in hand", "Message", "m")
        memtrace.flush(10)
        texts = grow(buffer, 15, lambda buffer, number: buffer.append(f"{number} {LONG}"))
        with running(port) as second:
            assert memtrace.flush(20).dropped == 0
            texts += grow(buffer, 3, lambda buffer, number: buffer.append(LONG))
            assert memtrace.flush(20).dropped == 0
    check(second.events)
    sizes = [event.get("size") for event in second.events if event["type"] == "variable"][2:]
    told = list(rebuild(second.events).values())[2:]
    for (value, is_cut), size, text in zip(told, sizes, texts, strict=True):
        assert (value, size) == (("", len(text)) if is_cut else (text, None))
    assert [is_cut for _, is_cut in told[-3:]] == [False] * 3
    assert any(is_cut for _, is_cut in told)
    assert all("base" not in event for event in second.events if event.get("truncated"))


def test_the_spool_holds_what_the_platform_needs(tmp_path: Path) -> None:
    with running() as first:
        port = first.server_address[1]
    memtrace.configure(exporter=HttpExporter(f"http://127.0.0.1:{port}", "k", "p", spool=tmp_path))
    buffer: list[str] = []
    with memtrace.trace(id="spooled"):
        texts = grow(buffer, 50, lambda buffer, number: buffer.append(f"{number} {LONG}"))
        assert memtrace.flush(10).spooled == 252
        with running(port) as second:
            texts += grow(buffer, 50, lambda buffer, number: buffer.append(f"{number} {LONG}"))
            assert memtrace.flush(10) == FlushResult(sent=502)
    assert [value for value, _ in rebuild(second.events).values()][1:] == texts
    assert wire_bytes(second.events) < 4 * len(texts[-1])


def test_what_is_kept_to_compare_with_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MAX_IMAGES", 3)
    monkeypatch.setattr(changes, "MAX_IMAGE_BYTES", 5_000)
    images = changes.Images()
    for number in range(10):
        assert images.tell("none", f"v{number}", "x" * 1_000).kept is None
        assert len(images._images) <= 3
    assert images.tell("v5", "new", "x" * 1_001).kept is None
    assert images.tell("v9", "newer", "x" * 1_001).kept == 1_000
    assert images.tell("newer", "newest", "x" * 6_000).kept == 1_001
    assert images.tell("newest", "last", "x" * 6_001).kept is None
    assert images._bytes == sum(image.size for image in images._images.values())


@given(st.text("ab", max_size=20), st.text("ab", max_size=20))
def test_common_beginnings(first: str, second: str) -> None:
    kept = changes.common(first, second)
    assert first[:kept] == second[:kept]
    assert kept == min(len(first), len(second)) or first[kept] != second[kept]
    assert changes.common(list(first), list(second)) == kept


def test_halves_of_surrogate_pairs_do_no_harm() -> None:
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    before = memtrace.fault_counts()
    with memtrace.trace():
        grow(
            [LONG], 4, lambda buffer, number: buffer.append(f"half \ud800 of a pair {number}" if number == 2 else LONG)
        )
    assert memtrace.fault_counts() == before
    told = [json.loads(value) for value, _ in rebuild(exporter.events).values()]
    assert told[-1] == [LONG, LONG, LONG, "half ? of a pair 2", LONG]
