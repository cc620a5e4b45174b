"""Unpacking bodies and reading events within bounds."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
import zstandard
from starlette.exceptions import HTTPException

from api.errors import RateLimitedError, TooLargeError
from api.http import allowance, bodies
from api.http.allowance import RebuiltBytes
from api.http.bodies import EventsBody, Read
from api.http.inflate import inflate
from schema.errors import InputError
from tests.queue.sets import event_line

TEXT = b"0123456789" * 500


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


PACKED = {"gzip": gzip.compress(TEXT, mtime=0), "deflate": zlib.compress(TEXT), "zstd": _zstd(TEXT)}


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_is_unpacked_to_the_last_byte_of_the_limit(encoding: str) -> None:
    assert inflate(PACKED[encoding], encoding, len(TEXT)) == TEXT
    with pytest.raises(TooLargeError) as caught:
        inflate(PACKED[encoding], encoding, len(TEXT) - 1)
    assert str(caught.value) == "the unpacked body is larger than the limit of 4,999 bytes"


def test_a_plain_body_stays_as_it_is() -> None:
    assert inflate(TEXT, "identity", 1) == TEXT  # the caller has counted it


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize(("members", "is_taken"), [(1, True), (32, True), (33, False)])
def test_a_body_has_so_many_members_at_most(encoding: str, members: int, is_taken: bool) -> None:
    one = gzip.compress(b"a", mtime=0) if encoding == "gzip" else _zstd(b"a")
    if is_taken:
        assert inflate(one * members, encoding, 100) == b"a" * members
        return
    what = "members" if encoding == "gzip" else "frames"
    with pytest.raises(InputError) as caught:
        inflate(one * members, encoding, 100)
    assert str(caught.value) == f"body: is no {encoding}: it has more than 32 {what}"


@pytest.mark.parametrize(
    ("encoding", "body", "problem"),
    [
        ("gzip", PACKED["gzip"][:-1], "it ends too early"),
        ("gzip", b"", "it ends too early"),
        ("deflate", PACKED["deflate"][:-1], "it ends too early"),
        ("deflate", PACKED["deflate"] + b"x", "it has more after its end"),
        ("zstd", PACKED["zstd"][:-1], "it ends too early"),
        ("zstd", b"", "it ends too early"),
        ("gzip", b"plain", "Error -3 while decompressing data: incorrect header check"),
    ],
)
def test_a_broken_body_is_named(encoding: str, body: bytes, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        inflate(body, encoding, 10_000)
    assert str(caught.value) == f"body: is no {encoding}: {problem}"


def _line(number: int = 0) -> bytes:
    return event_line("session", "t", number, session=f"s{number}")


def _read(
    body: bytes, kind: str = "application/x-ndjson", most: int | None = None, limit: int = 1 << 20
) -> Read | None:
    return EventsBody(body, kind, "identity", limit).read("p", 1 << 20, most)


def test_good_events_are_read_and_bad_ones_are_named() -> None:
    found = _read(b"\n".join([_line(1), b"{}", _line(2)]))
    assert found is not None
    assert (found.accepted, found.rejected, found.rebuilt, [one.count for one in found.packets]) == (2, 1, 0, [2])
    answer = json.loads(found.answer)
    assert answer["accepted"] == 2
    assert [one["index"] for one in answer["rejected"]] == [1]
    assert set(answer["rejected"][0]) == {"index", "reason"}
    as_json = _read(b"[%s,{},%s]" % (_line(1), _line(2)), "application/json")
    assert as_json is not None
    assert as_json.answer == found.answer


def test_a_request_has_so_many_events_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MAX_EVENTS", 3)
    monkeypatch.setattr(bodies, "MAX_JSON_BYTES", 600)
    lines = [_line(number) for number in range(4)]
    for some, kind in (
        (b"\n".join(lines), "application/x-ndjson"),
        (b"\n".join(lines), "application/ndjson"),
        (b"[%s]" % b",".join(lines), "application/json"),
        (b"\n" * 7, "application/x-ndjson"),
    ):
        with pytest.raises(HTTPException) as caught:
            _read(some, kind)
        assert (caught.value.status_code, caught.value.detail) == (
            413,
            "a request holds at most 3 events: send several",
        )
    whole = _read(b"\n".join(lines[:3]) + b"\n" * 4)
    assert whole is not None
    assert whole.accepted == 3
    padded = b"[%s]" % b",".join(lines[:3])
    most = _read(padded.ljust(600), "application/json")
    assert most is not None
    assert most.accepted == 3
    with pytest.raises(HTTPException) as caught:
        _read(padded.ljust(601), "application/json")
    assert caught.value.detail == "JSON is taken up to 600 bytes: send lines, or several requests"


def test_a_long_request_is_left_to_the_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_SHORT_EVENTS", 2)
    body = b"\n".join([_line(1), _line(2)])
    for most, is_read in ((len(body), True), (len(body) - 1, False), (None, True)):
        assert (_read(body, most=most) is not None) is is_read
    three = b"\n".join([body, _line(3)])
    assert _read(three, most=len(three)) is None
    assert _read(three) is not None
    packed = EventsBody(gzip.compress(body, mtime=0), "application/x-ndjson", "gzip", 1 << 20)
    assert packed.read("p", 1 << 20, len(body)) is not None
    assert packed.read("p", 1 << 20, len(body) - 1) is None
    with pytest.raises(TooLargeError):  # the limit of the server is no reason to ask the helper
        EventsBody(gzip.compress(body, mtime=0), "application/x-ndjson", "gzip", 50).read("p", 1 << 20, 60)


def test_a_project_uses_what_it_has_and_then_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    allowed = RebuiltBytes(100, 10, lambda: now[0])

    def wait(project: str) -> Any:
        with pytest.raises(RateLimitedError) as caught:
            allowed.take(project, 1, 1)
        return caught.value.retry_after, str(caught.value)

    allowed.take("p", 100, 5)
    assert wait("p") == (0.0, "too many bytes of values that begin with others: try again in 1 s")
    allowed.take("p", 0, 5)  # without rebuilt values there is nothing to wait for
    allowed.take("q", 1, 1)
    now[0] = 0.1
    allowed.take("p", 100, 1)
    assert wait("p")[0] == pytest.approx(9.9)
    allowed.give_back("p", 100)
    assert allowed._left_over("p") == pytest.approx(99)
    now[0] = 1.0
    allowed.give_back("p", 1_000)
    assert allowed._left_over("p") == 0.0
    with pytest.raises(TooLargeError) as caught:
        allowed.take("p", 101, 2)
    assert str(caught.value) == "what the values of these events come to is larger than the limit of 100 bytes"
    allowed.take("p", 101, 1)  # one event may always come
    allowed.give_back("p", 0)
    assert allowed._left_over("p") == 101


def test_projects_that_owe_nothing_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "_MANY", 2)
    now = [0.0]
    allowed = RebuiltBytes(100, 10, lambda: now[0])
    for number in range(3):
        allowed.take(f"p{number}", 10 * (number + 1), 1)
    now[0] = 1.5
    allowed.take("new", 1, 1)
    assert set(allowed._spent) == {"p1", "p2", "new"}
