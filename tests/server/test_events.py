"""Events over HTTP: what is taken, what is refused, and that nothing is half taken."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from uuid import uuid4

import pytest
import zstandard

from tests.server.running import RunningServer
from tests.server.wire_events import LINES, arrives, event, lines, message, send


@pytest.mark.parametrize("encoding", [None, "gzip", "zstd"])
def test_events_come_into_the_graph(server: RunningServer, encoding: str | None) -> None:
    trace = uuid4().hex
    body = lines(event("trace", trace, name="t"), *(message(trace, f"m{i}", "x" * 5000) for i in range(50)))
    packed = {None: body, "gzip": gzip.compress(body), "zstd": zstandard.compress(body)}[encoding]
    assert send(server, packed, encoding=encoding).json() == {"accepted": 51, "rejected": []}
    arrives(server, trace, 50)
    assert send(server, packed, encoding=encoding).json() == {"accepted": 51, "rejected": []}
    arrives(server, trace, 50)


@pytest.mark.one_engine
@pytest.mark.parametrize("is_list", [True, False])
def test_events_as_json(server: RunningServer, is_list: bool) -> None:
    trace = uuid4().hex
    body = json.dumps([message(trace, "m")] if is_list else message(trace, "m")).encode()
    assert send(server, body, "application/json").json()["accepted"] == 1
    arrives(server, trace, 1)


@pytest.mark.one_engine
def test_each_event_has_its_own_result(server: RunningServer) -> None:
    trace = uuid4().hex
    body = (
        lines(message(trace, "m0"))
        + b"not json\n\n"
        + lines(
            message(trace, "m1") | {"v": 0},
            message(trace, "m2") | {"kind": "Nonsense"},
            message(trace, "m3"),
        )
    )
    answer = send(server, body).json()
    assert answer["accepted"] == 2
    assert [one["index"] for one in answer["rejected"]] == [1, 2, 3]
    reasons = [one["reason"] for one in answer["rejected"]]
    assert "not JSON" in reasons[0]
    assert "version 1" in reasons[1]
    assert "kind" in reasons[2]
    arrives(server, trace, 2)


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("make_body", "encoding"),
    [
        (lambda: gzip.compress(b" " * (200 << 20)), "gzip"),
        (lambda: zstandard.compress(b" " * (200 << 20)), "zstd"),
        (lambda: gzip.compress(b" " * (20 << 20)) * 4, "gzip"),
        (lambda: b" " * (40 << 20), None),
    ],
    ids=["gzip", "zstd", "several members", "plain"],
)
def test_what_unpacks_beyond_the_limit_is_too_large(
    server: RunningServer, make_body: Callable[[], bytes], encoding: str | None
) -> None:
    response = send(server, make_body(), encoding=encoding)
    assert response.status_code == 413, response.text
    assert response.headers["content-type"].startswith("application/problem+json")


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("body", "kind", "encoding", "status"),
    [
        (b"x", "text/plain", None, 415),
        (b"x", LINES, "br", 415),
        (b"no gzip", LINES, "gzip", 400),
        (gzip.compress(b"{}\n" * 100)[:-9], LINES, "gzip", 400),
        (b"no zstd", LINES, "zstd", 400),
        (zstandard.compress(b"{}\n" * 100_000)[:-9], LINES, "zstd", 400),
        (zstandard.compress(b"{}\n") * 40, LINES, "zstd", 400),
        (b"{", "application/json", None, 400),
    ],
    ids=["type", "encoding", "no gzip", "half a gzip", "no zstd", "half a zstd", "too many frames", "no json"],
)
def test_what_is_no_request_is_refused(
    server: RunningServer, body: bytes, kind: str, encoding: str | None, status: int
) -> None:
    response = send(server, body, kind, encoding)
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("application/problem+json")


@pytest.mark.one_engine
def test_frames_and_members_that_follow_each_other_are_one_body(server: RunningServer) -> None:
    trace = uuid4().hex
    first, second = (lines(*(message(trace, f"{part}{number}") for number in range(20))) for part in "ab")
    assert send(server, gzip.compress(first) + gzip.compress(second), encoding="gzip").json()["accepted"] == 40
    packed = zstandard.compress(first) + zstandard.compress(second)
    assert send(server, packed, encoding="zstd").json()["accepted"] == 40
    arrives(server, trace, 40)


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("said", "named"),
    [({"v": 0}, "0"), ({"v": 2}, "2"), ({"v": "1"}, "'1'"), ({"v": True}, "True"), ({}, "no version")],
    ids=["older", "newer", "text", "truth", "none"],
)
def test_another_version_of_the_wire_is_refused_by_name(
    server: RunningServer, said: dict[str, object], named: str
) -> None:
    trace = uuid4().hex
    other = {key: value for key, value in message(trace, "other").items() if key != "v"} | said
    answer = send(server, lines(other, message(trace, "ours"))).json()
    reason = f"v: {named} is not supported; this side reads version 1"
    assert answer == {"accepted": 1, "rejected": [{"index": 0, "reason": reason}]}
    arrives(server, trace, 1)


@pytest.mark.one_engine
def test_the_schema_of_events_is_told(server: RunningServer) -> None:
    with server.client() as client:
        assert client.get("/v1/events/schema").json()["title"].startswith("MemTrace wire event, version 1")
