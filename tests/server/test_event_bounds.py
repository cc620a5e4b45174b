"""Bounds of events: their size, their rebuilt values, and Unicode texts."""

from __future__ import annotations

import json
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any
from uuid import uuid4

import httpx
import pytest
import zstandard

import api.http.events
from api.errors import RateLimitedError, TooLargeError
from api.http.allowance import RebuiltBytes
from api.http.bodies import EventsBody
from ingest.events.attributes import MOST_BYTES
from ingest.events.reading import MAX_EVENT_BYTES
from ingest.queue.admission import Sent, prepare
from schema.errors import InputError
from tests.server.inside import inside
from tests.server.running import Place, RunningServer, running, sqlite_place
from tests.server.wire_events import LINES, arrives, event, lines, message, send

pytestmark = pytest.mark.one_engine

MIB = 1 << 20


def _refusals(*pieces: bytes) -> list[tuple[int, str]]:
    prepared = prepare("p", Sent(list(pieces)), 1 << 30)
    return [(one.index, one.reason) for one in prepared.refused]


def _line(said: dict[str, Any]) -> bytes:
    return json.dumps(said).encode()


def test_what_an_event_says_beside_its_value_is_bounded(server: RunningServer) -> None:
    trace = uuid4().hex
    answer = send(
        server,
        lines(
            event("trace", trace, attributes={"a": "x" * MOST_BYTES}),
            message(trace, "m0"),
            message(trace, "m1", "x" * (2 * MIB)),
            message(trace, "m2", "x" * (2 * MIB)) | {"comment": "x" * MOST_BYTES},
            message(trace, "m3") | {"attributes": {"a": [[]] * MOST_BYTES}},
        ),
    ).json()
    assert answer["accepted"] == 2
    assert [one["index"] for one in answer["rejected"]] == [0, 3, 4]
    for one in answer["rejected"]:
        assert one["reason"].startswith("attributes: ")
        assert f"{MOST_BYTES:,}" in one["reason"]
    arrives(server, trace, 2)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        " [ ] ",
        "{}",
        "5",
        '["a,]", [1, [2]], {"b": ["]"]}]\n',
        "\r\n[1,\t2 , 3]",
        "[" + "9" * 5000 + ", 1e999]",
        '"\\ud800"',
    ],
)
def test_an_array_is_taken_apart_as_it_stands(text: str) -> None:
    whole = json.loads(text, parse_int=str)
    found = [json.loads(piece, parse_int=str) for piece in Sent.json(text.encode()).pieces]
    assert found == (whole if isinstance(whole, list) else [whole])


@pytest.mark.parametrize("text", ["", " ", "[", "]", "[1", "[1,]", "[,]", "[1 2]", "[1]2", "{}{}", "[}", "[" * 100_000])
def test_what_is_no_json_is_refused_whole(text: str) -> None:
    with pytest.raises(InputError, match="is no JSON"):
        Sent.json(text.encode())


def test_of_an_array_that_is_too_long_only_the_beginning_is_read() -> None:
    body = b"[" + b"1," * 2_000_000 + b"1]"
    tracemalloc.start()
    try:
        assert len(Sent.json(body, 20_000).pieces) == 20_001
        assert tracemalloc.get_traced_memory()[1] < 3 * len(body)
    finally:
        tracemalloc.stop()


def test_a_long_event_is_read_as_a_short_one_is() -> None:
    long = "x" * (2 * MOST_BYTES)
    good = message("t", "m", long)
    bad: dict[str, dict[str, Any]] = {
        "kind": good | {"kind": "Nonsense"},
        "v": good | {"v": 2},
        "value: no text": good | {"value": [long]},
        "value, or a text beside it: no valid Unicode": good | {"value": long + "\ud800"},
        "attributes": event("trace", "t") | {"attributes": {"a": long}},
    }
    found = _refusals(_line(good), *map(_line, bad.values()), _line(good)[:-1])
    assert [index for index, _ in found] == list(range(1, len(bad) + 2))
    for (_, reason), expected in zip(found, [*bad, "not JSON"], strict=True):
        assert reason.startswith(expected), (reason, expected)
    ((_, reason),) = _refusals(_line(message("t", "m", "x" * MAX_EVENT_BYTES)))
    assert f"at most {MAX_EVENT_BYTES:,}" in reason


HALF = "half \ud800 of"
HALVES: dict[str, dict[str, Any]] = {
    "value": {"value": HALF},
    "comment": {"comment": HALF},
    "category": {"category": HALF},
    "name": {"name": HALF},
    "className": {"className": HALF},
    "variable": {"variable": HALF},
    "trace": {"trace": HALF},
    "role": {"role": HALF},
    "attributes (a key)": {"attributes": {HALF: 1}},
    "attributes.a.1.b": {"attributes": {"a": [0, {"b": HALF}]}},
    "base.variable": {"base": {"variable": HALF, "kept": 1, "size": 2}},
}


@pytest.mark.parametrize("kind", [LINES, "application/json"])
def test_text_that_is_no_unicode_is_refused_by_its_field(server: RunningServer, kind: str) -> None:
    trace = uuid4().hex
    sent = [message(trace, f"m{number}") | said for number, said in enumerate(HALVES.values())]
    failed = {"operation": "o", "status": "error", "error": {"type": "E", "message": HALF}}
    sent += [event("operationEnded", trace, **failed), message(trace, "whole", "a whole pair: \U0001f9e0")]
    body = lines(*sent) if kind == LINES else json.dumps(sent).encode()
    answer = send(server, body, kind).json()
    assert answer["accepted"] == 1
    expected = [*HALVES, "error.message"]
    assert [one["index"] for one in answer["rejected"]] == list(range(len(expected)))
    for one, place in zip(answer["rejected"], expected, strict=True):
        assert one["reason"].startswith(f"{place}: text that is not valid Unicode"), one
    arrives(server, trace, 1)


def test_raw_halves_of_pairs_are_refused_too() -> None:
    piece = _line(message("t", "m", "HALF"))
    ((_, reason),) = _refusals(piece.replace(b"HALF", b"\xed\xa0\x80"))
    assert reason.startswith("value: text that is not valid Unicode")
    # An escaped backslash before "ud800" is plain text.
    assert _refusals(_line(message("t", "m", "\\ud800"))) == []


def test_what_is_not_known_may_be_called_anything(server: RunningServer) -> None:
    """The unknown name is in the reason, and the answer is still JSON."""
    answer = send(server, lines(message("t", "m") | {"\ud800": 1})).json()
    assert answer["accepted"] == 0
    assert answer["rejected"][0]["reason"].startswith("a key: text that is not valid Unicode")


def _rebuilt(trace: str, count: int, size: int) -> bytes:
    base = {"variable": "m", "kept": 1, "size": size}
    return lines(*(message(trace, f"m{number}", "!") | {"base": base} for number in range(count)))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that rebuilds little."""
    folder = tmp_path_factory.mktemp("small")
    settings = {"max_rebuilt_bytes": 64 * MIB, "rebuilt_bytes_per_second": MIB, "event_tries": 1}
    with running(sqlite_place(folder), folder, **settings) as started:
        yield started


def test_what_a_request_rebuilds_is_bounded(small: RunningServer) -> None:
    response = send(small, _rebuilt("t", 65, MIB))
    assert response.status_code == 413
    assert response.headers["content-type"].startswith("application/problem+json")
    assert f"{64 * MIB:,} bytes" in response.json()["detail"]
    answer = send(small, _rebuilt("t", 2, 2**40)).json()
    assert [one["reason"] for one in answer["rejected"]] == [
        f"base.size: {2**40} bytes; a value is rebuilt up to {64 * MIB}"
    ] * 2


def test_what_a_project_has_rebuilt_comes_back_with_time(small: RunningServer) -> None:
    def post(project: str, body: bytes) -> Any:
        headers = {"Content-Type": LINES, "Content-Encoding": "zstd"}
        with small.client("writer", project) as client:
            return client.post("/v1/events", content=zstandard.compress(body), headers=headers)

    assert [post("busy", _rebuilt("t", 1, 64 * MIB)).status_code for _ in range(3)] == [200, 200, 429]
    refused = post("busy", _rebuilt("t", 1, 64 * MIB))
    assert int(refused.headers["retry-after"]) >= 1
    assert "values that begin with others" in refused.json()["detail"]
    # A project with anything left is served whole, and waits afterwards. Requests without rebuilt values don't wait,
    # nor do other projects.
    assert post("busy", lines(message("t", "plain"))).status_code == 200
    assert post("other", _rebuilt("t", 1, 64 * MIB)).status_code == 200


def test_an_allowance() -> None:
    now = 0.0
    allowed = RebuiltBytes(100, 10, lambda: now)
    allowed.take("p", 60, 5)
    allowed.take("p", 90, 5)  # a project with anything left is served whole
    with pytest.raises(RateLimitedError) as refused:
        allowed.take("p", 1, 1)
    assert refused.value.retry_after == 5
    allowed.take("p", 0, 10)
    allowed.take("other", 100, 2)
    now = 5.1
    allowed.take("p", 1, 1)
    with pytest.raises(TooLargeError):
        allowed.take("third", 101, 2)
    allowed.take("third", 101, 1)  # the event can't be sent in parts
    allowed.give_back("third", 101)
    allowed.take("third", 100, 2)
    now = 1000.0
    allowed.take("p", 100, 2)


def test_a_request_is_not_read_where_all_else_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, int] = {}
    read, keep = EventsBody.read, api.http.events.keep

    def noted(*args: Any) -> Any:
        threads["read"] = threading.get_ident()
        return read(*args)

    async def kept(*args: Any) -> None:
        threads["loop"] = threading.get_ident()
        await keep(*args)

    monkeypatch.setattr(EventsBody, "read", noted)
    monkeypatch.setattr(api.http.events, "keep", kept)
    with inside(tmp_path) as (_, url):
        inner = Place(f"sqlite:///{tmp_path / 'inside.db'}")
        headers = {"Authorization": f"Bearer {inner.make_key('writer')}", "Content-Type": LINES}
        body = lines(message("t", "m"), *[{"v": 2}] * 20)
        found = httpx.post(f"{url}/v1/events", content=body, headers=headers, timeout=300).json()
    assert (found["accepted"], len(found["rejected"])) == (1, 20)
    assert threads["read"] != threads["loop"]


def test_what_is_too_large_for_the_queue_is_named_by_its_place_in_the_request() -> None:
    pieces = [b"{}", _line(message("t", "m0")), _line(message("t", "m1", token_hex(50_000)))]
    prepared = prepare("p", Sent(pieces), 10_000)
    assert ([one.index for one in prepared.refused], prepared.accepted) == ([0, 2], 1)
