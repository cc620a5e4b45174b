"""What the recorder sends is what the platform takes: Unicode, short beside its values, and a part at a time."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import memtrace
import pytest
from memtrace import context
from memtrace.exporters.http import HttpExporter
from memtrace.exporters.memory import MemoryExporter
from memtrace.exporters.protocol import FlushResult

from ingest.events.attributes import MOST_BYTES
from ingest.queue.admission import Sent, prepare
from tests.sdk.platform import running

HALF = "half \ud800 of a pair \udfff"
LONG = "x" * (2 * MOST_BYTES)


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    context.forget()
    yield
    memtrace.configure(exporter=MemoryExporter())


def _recorded(text: str, **options: Any) -> list[dict[str, Any]]:
    """Events with a text in every place that an application may give one for."""
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter, **options)
    attributes = {text: {"a": [text, {text: 1}]}, "more": text}
    said: dict[str, Any] = {"category": text, "comment": text, "attributes": attributes}

    class Thing:
        def __repr__(self) -> str:
            return text

    @memtrace.operation(text, kind="Tool", output="Response", output_name=text, **said)
    def work(value: object, number: int) -> object:
        memtrace.variable({text: [text]}, "Buffer", text, class_name=text, role=text, **said)
        return [text, Thing()]

    @memtrace.operation(kind="Tool")
    def fail() -> None:
        raise ValueError(text)

    with memtrace.trace(text, id=text, attributes={text: text}), memtrace.session(text, id=text, **said):
        message = memtrace.variable(text + " message", "Message", text, **said)
        unit = memtrace.variable([text] * 40, "MemoryUnit", "unit")
        work(message, 3)
        with memtrace.mutation(unit):
            unit.append(text)
        memtrace.link(message, memtrace.variable(text + " other", "Answer", comment=text), comment=text)
        with pytest.raises(ValueError, match=r"half|x"):
            fail()
    return exporter.events


@pytest.mark.parametrize("is_masked", [False, True])
def test_no_half_of_a_surrogate_pair_leaves_the_process(is_masked: bool) -> None:
    masks = [lambda text: text.replace("of", "\udc00")] if is_masked else []
    found = _recorded(HALF, redact=masks)
    assert {event["type"] for event in found} >= {"trace", "session", "operationStarted", "operationEnded", "variable"}
    lines = [json.dumps(event).encode() for event in found]
    prepared = prepare("p", Sent(lines), 1 << 30)
    assert prepared.refused == []
    text = json.dumps(found, ensure_ascii=False)
    assert "half ? " in text
    text.encode()  # raises where one is left


def test_what_is_said_beside_a_value_is_made_short_and_says_so() -> None:
    found = _recorded(LONG[:MOST_BYTES])
    lines = [json.dumps(event).encode() for event in found]
    assert prepare("p", Sent(lines), 1 << 30).refused == []
    assert all(
        len(line) < MOST_BYTES // 2 + len(event.get("value", "")) for line, event in zip(lines, found, strict=True)
    )
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    attributes = {"large": LONG, "small": 1} | {f"k{number}": "y" * 1000 for number in range(200)}
    with memtrace.trace("t", id="t", attributes=attributes):
        pass
    (event,) = exporter.events
    said = event["attributes"]
    assert (said["large"], said["small"], said["k0"]) == (f"<{len(LONG) + 2} bytes>", 1, "y" * 1000)
    assert said["<left out>"] == len(attributes) - (len(said) - 1)


def test_the_beginning_and_the_end_of_an_operation_fit_together() -> None:
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    many = {f"k{number}": '"\n' * 5000 for number in range(100)}
    failing = memtrace.operation("o", attributes=many)
    with pytest.raises(ValueError, match="x"), memtrace.trace(id="t"), failing:
        raise ValueError("\n" + LONG)
    told = [event for event in exporter.events if event["type"].startswith("operation")]
    size = sum(len(json.dumps([event.get("attributes"), event.get("error")])) for event in told)
    assert size < MOST_BYTES


@pytest.mark.parametrize("has_spool", [True, False])
def test_a_platform_that_takes_so_much_at_a_time_gets_all_in_the_end(tmp_path: Path, has_spool: bool) -> None:
    """The platform takes 4 events a request and 10 before a pause: a batch continues at its first unsent event."""
    left, lock = [10], threading.Lock()

    def rule(found: list[dict[str, Any]], headers: dict[str, str]) -> Any:
        with lock:
            if len(found) > 4:
                return 413, {}, {"title": "too large"}
            if left[0] <= 0:
                left[0] = 10
                return 429, {"Retry-After": "0"}, {"title": "later"}
            left[0] -= len(found)
            return None

    with running() as platform:
        platform.rule = rule
        exporter = HttpExporter(platform.endpoint, "key", "p", spool=tmp_path if has_spool else False)
        memtrace.configure(exporter=exporter)
        with memtrace.trace(id="t"):
            for number in range(63):
                memtrace.variable(f"text {number}", "Message", "m")
        result = FlushResult()
        for _ in range(100):
            result = memtrace.flush(10)
            if result.sent == 64:
                break
        assert result == FlushResult(sent=64)
        texts = [event["value"] for event in platform.events if event["type"] == "variable"]
    assert texts == [f"text {number}" for number in range(63)]
