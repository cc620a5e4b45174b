"""Sending, below the exporters: the meaning of each answer, the waits, the batches, and the room for events."""

from __future__ import annotations

import gzip
import json
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from memtrace.exporters import background, local, post
from memtrace.exporters.background import MAX_BATCH_BYTES, MAX_BATCH_EVENTS, BackgroundExporter
from memtrace.exporters.file import FileSink
from memtrace.exporters.http import LONGEST_WAIT_SECONDS, _backoff, _batches, _HttpSink
from memtrace.exporters.post import LONGEST_RETRY_AFTER, Answer, Platform
from memtrace.exporters.prepare import Preparation
from memtrace.exporters.protocol import FlushResult
from memtrace.exporters.segment import SUFFIX
from memtrace.exporters.spool import Spool, default_directory, folder_name
from memtrace.raw_events import MEDIA_TYPE, MORE, TRACE, VALUE, VARIABLE, RawEvent

LINES = [b'{"number": 1}\n', b'{"number": 2}\n', b'{"number": 3}\n', b'{"number": 4}\n', b'{"number": 5}\n']


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Don't read the machine's certificates for each client, which takes longer than a test."""
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path_factory.getbasetemp()))


def _platform(answer: Callable[[httpx.Request], httpx.Response], key: str | None = "k") -> Platform:
    """A platform whose requests a function answers."""
    made = Platform("http://host/", key, "p")
    real = made._open()
    made._client = httpx.Client(headers=real.headers, transport=httpx.MockTransport(answer))
    return made


def _post(answer: Callable[[httpx.Request], httpx.Response]) -> Answer:
    """The answer to a batch; the number of taken lines says nothing where nothing is sent again."""
    found = _platform(answer).post(LINES)
    return found if found.is_retryable else replace(found, taken=0)


def _retry(reason: str, **other: Any) -> Answer:
    return Answer(is_retryable=True, reason=reason, **other)


def _all(reason: str) -> Answer:
    return Answer(rejected=dict.fromkeys(range(5), reason))


@pytest.mark.parametrize(
    ("status", "headers", "body", "wanted"),
    [
        (200, {}, {}, Answer()),
        (204, {}, None, Answer()),
        (299, {}, [], Answer()),
        (200, {}, {"rejected": "none"}, Answer()),
        (200, {}, {"rejected": [{"index": 0, "reason": "r"}, {"index": 4}]},
         Answer(rejected={0: "r", 4: "no reason given"})),
        (200, {}, {"rejected": [{"index": 5}, {"index": -1}, {"index": "1"}, {}, 3]}, Answer()),
        (300, {}, {"title": "t"}, _retry("status 300: t", is_ours=True)),
        (401, {}, {"title": "t", "detail": "d"}, _retry("status 401: d", is_ours=True)),
        (401, {}, {}, _retry("status 401: ", is_ours=True)),
        (404, {}, "no object", _retry("status 404: Not Found", is_ours=True)),
        (403, {}, {"detail": "d" * 501}, _retry("status 403: " + "d" * 500, is_ours=True)),
        (408, {}, {}, _retry("status 408")),
        (429, {"Retry-After": "7"}, {}, _retry("status 429", retry_after=7.0)),
        (500, {}, {}, _retry("status 500")),
        (599, {"Retry-After": " 0.5 "}, {}, _retry("status 599", retry_after=0.5)),
        (503, {"Retry-After": "-1"}, {}, _retry("status 503", retry_after=0.0)),
        (503, {"Retry-After": "3601"}, {}, _retry("status 503", retry_after=LONGEST_RETRY_AFTER)),
        (503, {"Retry-After": "inf"}, {}, _retry("status 503", retry_after=LONGEST_RETRY_AFTER)),
        (503, {"Retry-After": "nan"}, {}, _retry("status 503")),
        (503, {"Retry-After": "soon"}, {}, _retry("status 503")),
        (503, {"Retry-After": " "}, {}, _retry("status 503")),
        (503, {"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}, {}, _retry("status 503", retry_after=0.0)),
        (503, {"Retry-After": "Mon, 01 Jan 2001 00:00:00 -0000"}, {}, _retry("status 503")),
        (400, {}, {"detail": "d"}, _all("status 400: d")),
        (415, {}, {"detail": "d"}, _all("status 415: d")),
        (422, {}, {"title": "t"}, _all("status 422: t")),
        (413, {}, {"title": "t"}, _all("status 413: t")),
    ],
)  # fmt: skip
def test_what_each_answer_means(status: int, headers: dict[str, str], body: Any, wanted: Answer) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, headers=headers, json=body)

    assert _post(answer) == wanted
    assert len(asked) == (9 if status == 413 else 1)  # too large a batch is halved until single lines are too large
    assert (str(asked[0].url), asked[0].headers["Authorization"]) == ("http://host/v1/events?project=p", "Bearer k")
    assert asked[0].headers["Content-Type"] == "application/x-ndjson"
    assert asked[0].content == b"".join(LINES)


def test_a_date_to_come_back_at_is_a_wait() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    found = _platform(lambda _: httpx.Response(503, headers={"Retry-After": later})).post(LINES)
    assert found.retry_after is not None
    assert 90 < found.retry_after <= 100


@pytest.mark.parametrize("error", [httpx.ConnectError("c"), httpx.ReadTimeout("r"), OSError(5, "e")])
def test_a_platform_that_can_not_be_reached_is_asked_later(error: Exception) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error

    assert _platform(fail).post(LINES) == _retry(type(error).__name__)


@pytest.mark.parametrize(("key", "project"), [(None, None), ("", "")])
def test_without_key_and_project_none_is_sent(key: str | None, project: str | None) -> None:
    made = Platform("http://host", key, project)
    assert "Authorization" not in made._open().headers
    assert made._parameters == {}
    made.close()
    assert made._client is None
    made.close()


@pytest.mark.parametrize(("size", "encodings"), [(999, [None]), (1_000, ["zstd", "gzip"])])
def test_what_is_small_goes_as_it_is_and_an_unknown_compression_once(size: int, encodings: list[str | None]) -> None:
    pytest.importorskip("zstandard")
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(415 if request.headers.get("Content-Encoding") != "gzip" else 200, json={})

    made = _platform(answer)
    line = b"x" * (size - 1) + b"\n"
    first = made.post([line])
    assert [one.headers.get("Content-Encoding") for one in asked] == encodings
    assert first == (Answer() if size >= 1_000 else Answer(rejected={0: "status 415: "}))
    if size >= 1_000:
        assert gzip.decompress(asked[-1].content) == line
        made.post([line])
        assert asked[-1].headers["Content-Encoding"] == "gzip"
        assert len(asked) == 3


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ({1: (200, {}), 3: (200, {})}, Answer()),
        ({1: (200, {"rejected": [{"index": 1, "reason": "a"}]}), 3: (200, {"rejected": [{"index": 2, "reason": "b"}]})},
         Answer(rejected={1: "a", 4: "b"})),
        ({1: (503, {})}, _retry("status 503")),
        ({1: (200, {"rejected": [{"index": 0, "reason": "a"}]}), 3: (503, {})},
         _retry("status 503", taken=2, rejected={0: "a"})),
        ({1: (200, {}), 3: (413, {}), 4: (503, {})}, _retry("status 503", taken=3)),
    ],
)  # fmt: skip
def test_the_halves_of_a_batch(answers: dict[int, tuple[int, Any]], wanted: Answer) -> None:
    """``answers``: by the number of the first line; the first request, of all lines, is too large."""

    def answer(request: httpx.Request) -> httpx.Response:
        numbers = [json.loads(line)["number"] for line in request.content.splitlines()]
        status, body = (413, {}) if len(numbers) == 5 else answers.get(numbers[0], (200, {}))
        if status == 413 and len(numbers) == 1:
            status = 200
        return httpx.Response(status, json=body)

    assert _post(answer) == wanted


class _Scripted:
    """A platform that answers as a test says, and keeps the lines of each request."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[list[bytes]] = []
        self.closed = self.children = 0

    def post(self, lines: list[bytes]) -> Answer:
        self.asked.append(list(lines))
        return self.answers.pop(0) if self.answers else Answer()

    def close(self) -> None:
        self.closed += 1

    def forked(self) -> None:
        self.children += 1


def _sink(spool: Spool | None, *answers: Answer) -> tuple[_HttpSink, _Scripted]:
    platform = _Scripted(*answers)
    return _HttpSink(cast("Platform", platform), spool), platform


@pytest.mark.parametrize(
    ("answer", "counts", "left", "is_away"),
    [
        (Answer(), FlushResult(sent=5), 0, False),
        (Answer(rejected={1: "r", 2: "r"}), FlushResult(sent=3, rejected=2), 0, False),
        (_retry("r"), FlushResult(), 5, True),
        (_retry("r", taken=2), FlushResult(sent=2), 3, True),
        (_retry("r", taken=2, rejected={1: "r"}), FlushResult(sent=1, rejected=1), 3, True),
    ],
)
def test_without_a_spool_what_is_not_taken_is_left(
    answer: Answer, counts: FlushResult, left: int, is_away: bool
) -> None:
    sink, platform = _sink(None, answer)
    assert sink.wait_seconds() is None
    lines = list(LINES)
    assert sink.deliver(lines) is (left == 0)
    assert (sink.counts, lines) == (counts, LINES[5 - left :])
    assert (sink.wait_seconds() is not None) is is_away
    if is_away:
        assert sink.deliver(lines) is False
        assert len(platform.asked) == 1  # nothing is asked before the wait ends
        sink.hurry()
        assert sink.deliver(lines) is True
        assert sink.wait_seconds() is None
    sink.abandon([b"x\n", b"y\n"])
    assert (sink.counts.dropped, platform.closed) == (2, 1)
    sink.forked()
    assert (sink.counts, platform.children) == (FlushResult(), 1)


def test_with_a_spool_what_is_not_taken_is_kept_in_order(tmp_path: Path) -> None:
    sink, platform = _sink(Spool(tmp_path), _retry("r", taken=1, rejected={0: "bad"}))
    assert sink.deliver([])
    assert platform.asked == []
    assert sink.deliver(list(LINES[:3]))
    assert sink.counts == FlushResult(rejected=1, spooled=2)
    assert json.loads((tmp_path / "rejected.jsonl").read_bytes()) == {"reason": "bad", "event": {"number": 1}}
    sink.hurry()
    assert sink.deliver([LINES[3]])  # the spool is not empty, so the new line waits behind it
    assert sink.counts == FlushResult(rejected=1, spooled=3)
    sink.tick()
    assert platform.asked[1:] == [LINES[1:4]]
    assert sink.counts == FlushResult(sent=3, rejected=1)
    assert sink.deliver([LINES[4]])
    assert platform.asked[2:] == [[LINES[4]]]


def test_a_time_that_the_platform_gave_is_kept_until_it_takes_events(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr("memtrace.exporters.http.time.monotonic", lambda: now)
    caplog.set_level(logging.INFO, "memtrace")
    sink, platform = _sink(
        None, _retry("r" * 300, retry_after=5.0), _retry("later", is_ours=True), Answer(), _retry("m", is_ours=True)
    )
    sink.deliver([LINES[0]])
    sink.hurry()
    assert sink.wait_seconds() == 5.0
    now = 1_004.9
    assert sink.deliver([LINES[0]]) is False
    assert len(platform.asked) == 1
    now = 1_005.0
    assert sink.wait_seconds() == 0.01
    sink.deliver([LINES[0]])
    assert len(platform.asked) == 2
    sink.hurry()  # this time the platform gave no time
    sink.deliver([LINES[0]])
    assert (sink.counts.sent, sink.wait_seconds()) == (1, None)
    sink.deliver([LINES[0]])
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("INFO", f"the platform can't take events now ({'r' * 200}); they wait"),
        ("WARNING", "the platform can't take events now (m); they wait"),
    ]


def test_the_first_refusal_is_told(caplog: pytest.LogCaptureFixture) -> None:
    sink, _ = _sink(None, Answer(rejected={0: "x" * 300}), Answer(rejected={0: "second"}))
    sink.deliver([LINES[0]])
    sink.deliver([LINES[0]])
    assert caplog.messages == [f"the platform refused events, the first one so: {'x' * 200}"]


@pytest.mark.parametrize(
    ("failures", "longest"), [(1, 0.5), (2, 1.0), (3, 2.0), (7, 32.0), (8, LONGEST_WAIT_SECONDS), (5_000, 60.0)]
)
def test_the_wait_doubles_up_to_a_minute(failures: int, longest: float) -> None:
    found = [_backoff(failures) for _ in range(200)]
    assert longest / 2 <= min(found) < longest * 0.6
    assert longest * 0.9 < max(found) <= longest


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ([], []),
        ([MAX_BATCH_BYTES + 1], [1]),
        ([MAX_BATCH_BYTES - 1, 1], [2]),
        ([MAX_BATCH_BYTES, 1], [1, 1]),
        ([1, MAX_BATCH_BYTES, 1, 1], [1, 1, 2]),
    ],
)
def test_batches_of_a_spool(sizes: list[int], wanted: list[int]) -> None:
    assert [len(batch) for batch in _batches([b"x" * size for size in sizes])] == wanted


class _Held:
    """Takes the lines of deliveries; holds them back while it is stuck."""

    def __init__(self, *, stuck: bool = False) -> None:
        self.counts = FlushResult()
        self.got: list[int] = []
        self.left: list[bytes] | None = None
        self.stuck = stuck
        self.error: Exception | None = None

    def deliver(self, lines: list[bytes]) -> bool:
        if self.error is not None:
            raise self.error
        if not self.stuck:
            self.got.append(len(lines))
        return not self.stuck

    def tick(self) -> None: ...

    def wait_seconds(self) -> float | None:
        return 60.0

    def hurry(self) -> None: ...

    def abandon(self, lines: list[bytes]) -> None:
        self.left = lines

    def forked(self) -> None:
        self.got = []


def _exporter(sink: _Held, monkeypatch: pytest.MonkeyPatch, most: int = 64_000_000) -> BackgroundExporter:
    """An exporter whose queue is only emptied by ``flush``."""
    monkeypatch.setattr(background, "BLOCK_SECONDS", 0.0)
    made = BackgroundExporter(cast("background.Sink", sink), most)
    monkeypatch.setattr(made, "_start", lambda: False)
    return made


def _raw(number: int = 0) -> Any:
    return (TRACE, {"name": f"n{number}"}, "t", number, "t")


@pytest.mark.parametrize(
    ("events", "batches"),
    [(1, [1]), (MAX_BATCH_EVENTS, [2_000]), (MAX_BATCH_EVENTS + 1, [2_000, 1]), (2 * MAX_BATCH_EVENTS, [2_000, 2_000])],
)
def test_a_batch_has_at_most_two_thousand_events(
    events: int, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = _Held()
    exporter = _exporter(sink, monkeypatch)
    exporter.export([_raw(number) for number in range(events)])
    assert exporter.flush(20) == FlushResult()
    assert sink.got == batches
    assert exporter._bytes == 0


@pytest.mark.parametrize(
    ("most", "dropped", "queued"), [(802, 0, 2), (801, 0, 2), (641, 0, 2), (640, 1, 1), (320, 1, 1), (319, 2, 0)]
)
def test_a_quarter_more_room_is_for_events_without_values(
    most: int, dropped: int, queued: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event counts as 400 bytes and its value: here 401."""
    sink = _Held()
    exporter = _exporter(sink, monkeypatch, most)
    for number in range(2):
        exporter.export([_raw(number)])
    assert exporter.result().dropped == dropped
    exporter.flush(20)
    assert sum(sink.got) == queued


def test_events_are_sent_without_being_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first event starts the thread, and a later one wakes it."""
    monkeypatch.setattr(background, "LINGER_SECONDS", 0.001)
    came = threading.Semaphore(0)

    class Sink(_Held):
        def deliver(self, lines: list[bytes]) -> bool:
            super().deliver(lines)
            came.release()
            return True

    sink = Sink()
    exporter = BackgroundExporter(cast("background.Sink", sink))
    for number in range(2):
        exporter.export([_raw(number)])
        assert came.acquire(timeout=60), "nobody sends"
    assert sink.got == [1, 1]
    exporter.close()


def test_an_error_of_the_sink_drops_what_is_in_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = _Held()
    exporter = _exporter(sink, monkeypatch)
    exporter.export([_raw(), _raw(1)])
    sink.error = ValueError("no")
    assert exporter.flush(20) == FlushResult(dropped=2)
    sink.error = None
    exporter.export([_raw(2)])
    assert exporter.flush(20) == FlushResult(dropped=2)
    assert sink.got == [1]


def test_the_end_hands_over_what_is_in_hand_and_what_is_queued(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sink = _Held(stuck=True)
    exporter = _exporter(sink, monkeypatch)
    exporter.export([_raw(1)])
    exporter.flush(1)
    exporter.export([_raw(2)])
    sink.counts = FlushResult(sent=1, damaged=3)
    exporter.close()
    assert sink.left is not None
    assert [json.loads(line)["name"] for line in sink.left] == ["n1", "n2"]
    said = "1 events sent, 0 spooled, 0 dropped, 0 rejected, and 3 lines of the spool were damaged"
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [("WARNING", said)]
    sink.left = None
    exporter.close()
    assert sink.left is None


def test_an_event_that_can_not_be_written_down_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(Preparation):
        def line(self, event: RawEvent) -> bytes:
            if event[1] == {"name": "n1"}:
                raise ValueError
            return super().line(event)

    sink = _Held()
    exporter = _exporter(sink, monkeypatch)
    exporter.prepare_with(Odd())
    exporter.export([_raw(number) for number in range(3)])
    assert exporter.flush(20) == FlushResult(dropped=1)
    assert sink.got == [2]
    sink.stuck = True
    exporter.export([_raw(3), _raw(1)])
    exporter.close()
    assert sink.left is not None
    assert [json.loads(line)["name"] for line in sink.left] == ["n3"]
    assert exporter.result() == FlushResult(dropped=2)


def test_an_end_that_fails_still_tells_the_counts_and_raises_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(_Held):
        def abandon(self, lines: list[bytes]) -> None:
            raise OSError("the disk is gone")

    sink = Broken()
    sink.counts = FlushResult(sent=2, spooled=1)
    exporter = _exporter(sink, monkeypatch)
    exporter.close()
    assert caplog.records[-1].getMessage() == "2 events sent, 1 spooled, 0 dropped, 0 rejected"
    assert "end of the exporter" in caplog.text


def test_a_child_begins_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = _Held(stuck=True)
    exporter = _exporter(sink, monkeypatch, 401)
    exporter.export([_raw(1)])
    exporter.flush(1)
    exporter.export([_raw(2)])
    exporter.export([_raw(3)])
    assert exporter.result().dropped == 1
    exporter.after_fork()
    assert exporter.result() == FlushResult()
    sink.stuck = False
    exporter.flush(1)
    assert sink.got == []


@pytest.mark.parametrize(
    ("value", "more", "wanted"),
    [
        ("héy", None, {"truncated": True, "size": 4}),
        ("half", {"base": {"id": "b", "size": 99}, "keptBytes": 3, "kind": "Message"},
         {"truncated": True, "size": 99, "kind": "Message"}),
    ],
)  # fmt: skip
def test_an_event_without_its_value_tells_the_size(value: str, more: Any, wanted: dict[str, Any]) -> None:
    raw = [VARIABLE, None, "t", 1, "t"]
    places = {VALUE: value, MORE: more, MEDIA_TYPE: "application/json"}
    raw += [None] * (max(places) + 1 - len(raw))
    for place, one in places.items():
        raw[place] = one
    found = background._without_value(tuple(raw))
    assert found[MORE] == wanted
    assert (found[VALUE], found[MEDIA_TYPE]) == ("", "text/plain")
    assert [one for n, one in enumerate(found) if n not in places] == [
        one for n, one in enumerate(raw) if n not in places
    ]
    assert background._without_value(_raw()) == _raw()


@pytest.mark.parametrize(("limit", "wanted"), [(None, (2, 0)), (20, (2, 0)), (19, (1, 1)), (9, (0, 2))])
def test_a_file_of_events_has_a_largest_size(tmp_path: Path, limit: int | None, wanted: tuple[int, int]) -> None:
    sink = FileSink(tmp_path / "events", limit)
    for _ in range(2):
        assert sink.deliver([b"123456789\n"])
    assert (sink.counts.sent, sink.counts.dropped) == wanted
    assert (tmp_path / "events").stat().st_size == 10 * wanted[0]
    sink.abandon([])
    assert (sink.counts.sent, sink.counts.dropped) == wanted
    sink.forked()
    assert sink.counts == FlushResult()


@pytest.mark.parametrize(
    ("sizes", "most", "dropped", "held"),
    [
        ([11], 10, 1, []),
        ([10], 10, 0, [10]),
        ([5, 5], 10, 0, [10]),
        ([5, 6], 10, 1, [6]),
        ([5, 11], 10, 1, [5]),  # what never fits drops nothing else
    ],
)
def test_a_spool_drops_the_oldest_for_room(
    tmp_path: Path, sizes: list[int], most: int, dropped: int, held: list[int]
) -> None:
    spool = Spool(tmp_path, most)
    assert sum(spool.append([b"x" * (size - 1) + b"\n"]) for size in sizes) == dropped
    spool.rotate()
    assert sorted(path.stat().st_size for path in tmp_path.glob(f"*{SUFFIX}")) == held
    assert spool.count() == len(sizes) - dropped


def test_a_spool_drops_no_more_than_the_room_that_is_needed(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 10)
    for name in (b"1", b"2", b"3"):
        assert spool.append([name * 2 + b"\n"]) == 0
        spool.rotate()
    assert spool.append([b"44\n"]) == 1
    spool.rotate()
    oldest = spool.oldest()
    assert oldest is not None
    assert (spool.count(), oldest.lines()[1]) == (3, [b"22\n"])  # the lines are not JSON, so they count as damaged
    oldest.release()
    assert spool.append([b"55555\n"]) == 2
    spool.rotate()
    assert sorted(path.read_bytes() for path in tmp_path.glob(f"*{SUFFIX}")) == [b"44\n", b"55555\n"]


def test_the_folder_of_a_spool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {folder_name(url, owner) for url in ("http://a", "http://b") for owner in ("p", "q", None)}
    assert len(names) == 6
    assert folder_name("http://a", "") == folder_name("http://a", None)
    for variable, state in [("LOCALAPPDATA", tmp_path / "l"), ("XDG_STATE_HOME", tmp_path / "x")]:
        monkeypatch.setenv(variable, str(state))
        assert default_directory("http://a", "p") == state / "memtrace" / "spool" / folder_name("http://a", "p")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("LOCALAPPDATA")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert default_directory("u", None).parent == tmp_path / ".local" / "state" / "memtrace" / "spool"


def test_without_zstandard_bodies_go_as_gzip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    encoding, compress = post._compression()
    assert (encoding, gzip.decompress(compress(b"body"))) == ("gzip", b"body")


def test_a_recording_that_is_gone_keeps_no_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another process that begins at the same time removes old recordings too; here a dead link stands for one."""
    monkeypatch.setattr(local, "MAX_FOLDER_BYTES", 10)
    monkeypatch.setattr(local, "MAX_FILE_BYTES", 5)
    (tmp_path / "1.ndjson").symlink_to(tmp_path / "absent")
    for number in (2, 3, 4):
        (tmp_path / f"{number}.ndjson").write_bytes(b"xxx")
    local._make_room(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("[234].ndjson")) == ["4.ndjson"]
