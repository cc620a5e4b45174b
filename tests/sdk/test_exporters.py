"""Exporters: everything that was recorded arrives once and in order, or is said not to have."""

from __future__ import annotations

import json
import logging
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import memtrace
import pytest
from memtrace import events
from memtrace.exporters.file import FileExporter
from memtrace.exporters.http import HttpExporter, replay
from memtrace.exporters.memory import MemoryExporter
from memtrace.exporters.protocol import FlushResult
from memtrace.exporters.spool import Spool
from memtrace.raw_events import TRACE

from tests.sdk.graph import check
from tests.sdk.platform import Platform, running

KEY = "mt_key_that_nobody_may_see"


@pytest.fixture
def platform() -> Iterator[Platform]:
    with running() as server:
        yield server


def exporter_to(endpoint: str, tmp_path: Path, **options: Any) -> HttpExporter:
    exporter = HttpExporter(endpoint, KEY, "team a", **{"spool": tmp_path, **options})
    memtrace.configure(exporter=exporter)
    return exporter


def record(*texts: str, trace: str = "t") -> None:
    with memtrace.trace(id=trace):
        for text in texts:
            memtrace.variable(text, "Message", "m")


def values(found: list[dict[str, Any]]) -> list[str]:
    return [event["value"] for event in found if event["type"] == "variable"]


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    memtrace.configure(exporter=MemoryExporter())


def test_events_arrive_in_order_with_key_and_project(platform: Platform, tmp_path: Path) -> None:
    exporter_to(platform.endpoint, tmp_path)
    record(*(f"text {number}" for number in range(5000)), trace="ordered")
    assert memtrace.flush(30) == FlushResult(sent=5001)
    assert values(platform.events) == [f"text {number}" for number in range(5000)]
    assert all(request["authorization"] == f"Bearer {KEY}" for request in platform.requests)
    assert {request["path"] for request in platform.requests} == {"/v1/events?project=team+a"}
    assert {request["content-type"] for request in platform.requests} == {"application/x-ndjson"}
    assert {request.get("content-encoding") for request in platform.requests} == {"zstd"}
    assert len(platform.requests) < 10
    assert not list(tmp_path.rglob("*.ndjson"))
    for event in platform.events:
        events.from_object(event)
    check(platform.events)


def test_a_platform_that_knows_no_zstd_gets_gzip(platform: Platform, tmp_path: Path) -> None:
    platform.rule = lambda found, headers: (
        (415, {}, {"title": "type"}) if headers.get("content-encoding") == "zstd" else None
    )
    exporter_to(platform.endpoint, tmp_path)
    record("long " * 1000)
    assert memtrace.flush(10).sent == 2
    assert [request.get("content-encoding") for request in platform.requests] == ["zstd", "gzip"]


def test_while_the_platform_is_away_events_wait_on_disk_and_arrive_in_order(tmp_path: Path) -> None:
    with running() as first:
        port = first.server_address[1]
    exporter_to(f"http://127.0.0.1:{port}", tmp_path)
    for number in range(3):
        record(f"text {number}", trace="away")
        assert memtrace.flush(10) == FlushResult(spooled=number + 2)
    for segment in tmp_path.rglob("*.ndjson"):
        assert stat.S_IMODE(segment.stat().st_mode) == 0o600
        assert stat.S_IMODE(segment.parent.stat().st_mode) == 0o700
        assert KEY not in segment.read_text()
    with running(port) as second:
        record("text 3", trace="away")
        assert memtrace.flush(10) == FlushResult(sent=5)
        assert values(second.events) == ["text 0", "text 1", "text 2", "text 3"]
    assert not list(tmp_path.rglob("*.ndjson"))


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_retryable_answers_are_retried(platform: Platform, tmp_path: Path, status: int) -> None:
    exporter_to(platform.endpoint, tmp_path)
    platform.replies.append((status, {}, {}))
    record("a text")
    assert memtrace.flush(10) == FlushResult(spooled=2)
    assert memtrace.flush(10) == FlushResult(sent=2)
    assert values(platform.events) == ["a text"]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_a_bad_key_keeps_back_is_sent_with_a_mended_one(
    platform: Platform, tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    exporter_to(platform.endpoint, tmp_path)
    platform.replies.append((status, {}, {"detail": "the key may not write"}))
    record("a text")
    assert memtrace.flush(10) == FlushResult(spooled=2)
    assert [line for line in caplog.messages if "the key may not write" in line]
    assert memtrace.flush(10) == FlushResult(sent=2)
    assert values(platform.events) == ["a text"]
    assert KEY not in caplog.text


def test_retry_after_is_honoured(platform: Platform, tmp_path: Path) -> None:
    exporter_to(platform.endpoint, tmp_path)
    platform.replies.append((503, {"Retry-After": "600"}, {}))
    record("a text")
    assert memtrace.flush(10) == FlushResult(spooled=2)
    assert memtrace.flush(10) == FlushResult(spooled=2)
    assert len(platform.requests) == 1


def test_what_is_refused_is_kept_with_its_reason_and_not_sent_again(
    platform: Platform, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter_to(platform.endpoint, tmp_path)
    platform.replies.append((200, {}, {"accepted": 1, "rejected": [{"index": 1, "reason": "no such thing"}]}))
    record("a text")
    assert memtrace.flush(10) == FlushResult(sent=1, rejected=1)
    platform.replies.append((400, {}, {"title": "Bad Request", "detail": "not so"}))
    record("another text")
    assert memtrace.flush(10) == FlushResult(sent=1, rejected=2)
    (kept,) = tmp_path.rglob("rejected.jsonl")
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [(line["reason"], line["event"]["value"]) for line in lines] == [
        ("no such thing", "a text"),
        ("status 400: not so", "another text"),
    ]
    assert len(platform.requests) == 2
    assert KEY not in caplog.text


def test_a_batch_that_is_too_large_is_halved(platform: Platform, tmp_path: Path) -> None:
    platform.rule = lambda found, headers: (413, {}, {"title": "too large"}) if len(found) > 3 else None
    exporter_to(platform.endpoint, tmp_path)
    record(*(f"text {number}" for number in range(9)), trace="halves")
    assert memtrace.flush(10) == FlushResult(sent=10)
    assert values(platform.events) == [f"text {number}" for number in range(9)]


def test_without_a_spool_events_wait_in_memory_and_beyond_it_lose_their_values_and_then_are_dropped(
    tmp_path: Path,
) -> None:
    with running() as first:
        port = first.server_address[1]
    exporter_to(f"http://127.0.0.1:{port}", tmp_path, spool=False, max_queue_bytes=50_000)
    record("first text", trace="full")
    memtrace.flush(10)
    for number in range(20):
        record(f"{number} " + "x" * 10_000, trace="full")
    for number in range(100):
        record(f"small {number}", trace="full")
    with running(port) as second:
        result = memtrace.flush(10)
        arrived = values(second.events)
        cut = [event["size"] for event in second.events if event.get("truncated")]
    assert result.sent + result.dropped == 122
    assert 0 < result.dropped < 100
    assert len(arrived) + 1 == result.sent
    assert arrived[0] == "first text"
    assert set(cut) <= {10_002, 10_003, 7, 8}
    assert len(cut) > 10
    assert not list(tmp_path.rglob("*"))


def test_the_spool_is_bounded_and_drops_the_oldest(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=1000)
    dropped = 0
    for number in range(50):
        dropped += spool.append([b'{"number": %02d, "text": "%b"}\n' % (number, b"x" * 60)])
        spool.rotate()
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000
    assert dropped + spool.count() == 50
    oldest = spool.oldest()
    assert oldest is not None
    assert json.loads(oldest.lines()[0][0])["number"] == dropped


def test_a_segment_belongs_to_one_process_at_a_time(tmp_path: Path) -> None:
    writer, other = Spool(tmp_path), Spool(tmp_path)
    writer.append([b"{}\n"])
    assert other.oldest() is None
    writer.rotate()
    held = other.oldest()
    assert held is not None
    assert writer.oldest() is None
    held.remove()
    assert other.is_empty()


def test_replay_sends_what_a_crashed_process_left_and_leaves_out_a_line_cut_short(
    platform: Platform, tmp_path: Path
) -> None:
    exporter = exporter_to("http://127.0.0.1:9", tmp_path)
    record("a text", trace="crashed")
    memtrace.flush(10)
    exporter.close()
    (segment,) = tmp_path.rglob("*.ndjson")
    moved = tmp_path / "b"
    from memtrace.exporters.spool import folder_name

    place = moved / folder_name(platform.endpoint, "team a")
    place.mkdir(parents=True)
    (place / segment.name).write_bytes(segment.read_bytes() + b'{"v": 1, "type": "tr')
    assert replay(platform.endpoint, KEY, "team a", moved) == FlushResult(sent=2, damaged=1)
    assert values(platform.events) == ["a text"]


def test_a_file_holds_whole_lines_of_several_writers(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    exporters = [FileExporter(path) for _ in range(3)]
    raw = (TRACE, {"name": "x" * 2000}, "t", 0, "t")
    threads = [threading.Thread(target=lambda to=to: [to.export([raw]) for _ in range(300)]) for to in exporters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [exporter.flush(30) for exporter in exporters] == [FlushResult(sent=300)] * 3
    assert len([events.decode(line) for line in path.read_bytes().splitlines()]) == 900
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_costs_its_events_and_nothing_else(tmp_path: Path) -> None:
    exporter = FileExporter(tmp_path / "no folder" / "events.ndjson")
    memtrace.configure(exporter=exporter)
    record("a text", trace="lost")
    assert memtrace.flush(10) == FlushResult(dropped=2)


def test_closing_says_once_what_became_of_all(
    platform: Platform, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "memtrace")
    exporter = exporter_to(platform.endpoint, tmp_path)
    record("a text", trace="closing")
    exporter.close()
    exporter.close()
    said = [line.message for line in caplog.records if "events sent" in line.message]
    assert said == ["2 events sent, 0 spooled, 0 dropped, 0 rejected"]


@pytest.mark.parametrize("endpoint", ["", "ftp://host", "host:80", "http://"])
def test_an_endpoint_that_is_none_is_named(endpoint: str) -> None:
    with pytest.raises(ValueError, match="endpoint must be an address"):
        HttpExporter(endpoint, None, "p", spool=False)


def test_what_cannot_be_encoded_costs_itself_only(platform: Platform, tmp_path: Path) -> None:
    exporter = exporter_to(platform.endpoint, tmp_path)
    exporter.export([(TRACE, None, "t", "no number", "t")])
    record("half \ud800 of a pair", trace="odd")
    assert memtrace.flush(10) == FlushResult(sent=2, dropped=1)
    assert values(platform.events) == ["half ? of a pair"]
    assert os.environ.get("MEMTRACE_API_KEY") is None
