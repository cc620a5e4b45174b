"""How the body of a request is cut into events, and which events a packet takes."""

from __future__ import annotations

import json
from random import Random

import pytest

from ingest.queue.admission import Sent, prepare
from ingest.queue.packets import unpack
from schema.errors import InputError


@pytest.mark.parametrize(
    ("body", "pieces"),
    [
        ("{}", ["{}"]),
        (' \n{"a": 1}\t', ['{"a": 1}']),
        ("[]", []),
        (" [ ] ", []),
        ("[{}]", ["{}"]),
        (' [ {"a": [1, 2]} , 2,"x" ]\n', ['{"a": [1, 2]}', "2", '"x"']),
        ("[[1], []]", ["[1]", "[]"]),
        ("7", ["7"]),
        ("null", ["null"]),
        ('[{"a":\n 1}]', ['{"a":  1}']),
        ('[{"a":\r\n1}]', ['{"a":  1}']),
        ('["ä", "\\ud800"]', ['"ä"', '"\\ud800"']),
        (f"[{'9' * 5_000}, 1e999]", ["9" * 5_000, "1e999"]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-le"])
def test_elements_stay_as_they_were_sent(body: str, pieces: list[str], encoding: str) -> None:
    assert Sent.json(body.encode(encoding)).pieces == [piece.encode() for piece in pieces]


@pytest.mark.parametrize(
    "body",
    ["", " ", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1] 2", "{} {}", "{},", '{"a"}', "nil", "[1}"],
)
def test_what_is_no_json_is_refused(body: str) -> None:
    with pytest.raises(InputError, match="body: is no JSON"):
        Sent.json(body.encode())


@pytest.mark.parametrize("body", [b"[1, \xff]", b"[" * 100_000])
def test_bytes_that_are_no_json_are_refused(body: bytes) -> None:
    with pytest.raises(InputError, match="body: is no JSON"):
        Sent.json(body)


@pytest.mark.parametrize(("most", "count"), [(None, 5), (0, 1), (3, 4), (4, 5), (5, 5)])
def test_reading_stops_after_the_limit_and_one(most: int | None, count: int) -> None:
    assert len(Sent.json(b"[1, 2, 3, 4, 5]", most).pieces) == count


def test_nothing_is_read_after_the_limit() -> None:
    assert Sent.json(b"[1, 2, 3, no JSON", 1).pieces == [b"1", b"2"]
    with pytest.raises(InputError):
        Sent.json(b"[1, 2, no JSON", 2)


@pytest.mark.parametrize(
    ("body", "pieces"),
    [(b"", []), (b"\n \r\n\t\n", []), (b"a\nb", [b"a", b"b"]), (b"a\r\n\nb\n", [b"a\r", b"b"])],
)
def test_empty_lines_are_skipped(body: bytes, pieces: list[bytes]) -> None:
    assert Sent.lines(body).pieces == pieces


def event(trace: str, name: str) -> bytes:
    time = "2026-01-01T00:00:00.000000Z"
    return json.dumps({"type": "trace", "v": 1, "trace": trace, "time": time, "name": name}).encode()


def test_each_event_is_judged_alone() -> None:
    sent = [event("t", "one"), b"{}", event("t", "two"), b"no JSON", event("u", "three")]
    whole = prepare("p", Sent(sent), 1 << 20)
    assert [refusal.index for refusal in whole.refused] == [1, 3]
    assert {packet.trace: unpack(packet) for packet in whole.packets} == {"t": [sent[0], sent[2]], "u": [sent[4]]}
    assert whole.accepted == 3


def test_an_event_that_is_too_large_alone_keeps_no_other_out() -> None:
    noise = [Random(number).randbytes(400).hex() for number in range(3)]
    sent = [b"{}", event("t", "small"), *(event("t", one) for one in noise), event("t", "last")]
    sizes = [len(prepare("p", Sent([one]), 1 << 20).packets[0].body) for one in sent[1:]]
    assert len(prepare("p", Sent(sent), 1 << 20).packets) == 1
    for limit in (max(sizes), max(sizes) - 1, min(sizes)):
        found = prepare("p", Sent(sent), limit)
        too_large = [place for place, size in enumerate(sizes, 1) if size > limit]
        assert [refusal.index for refusal in found.refused] == [0, *too_large]
        assert [line for packet in found.packets for line in unpack(packet)] == [
            line for place, line in enumerate(sent) if place not in {0, *too_large}
        ]
        assert all(len(packet.body) <= limit for packet in found.packets)
    assert found.refused[-1].reason.endswith(f"the queue takes {min(sizes):,} at most")


def test_the_bytes_of_rebuilt_values_are_counted() -> None:
    said = json.loads(event("t", "x")) | {"type": "variable", "variable": "v", "version": 1, "kind": "Other"}
    said |= {"value": "rest", "mediaType": "text/plain", "base": {"variable": "u", "kept": 5, "size": 9}}
    pieces = [json.dumps(said).encode(), json.dumps(said | {"variable": "w"}).encode(), event("t", "x")]
    one = prepare("p", Sent(pieces[:1]), 1 << 20).rebuilt
    assert one >= 9
    assert prepare("p", Sent(pieces), 1 << 20).rebuilt == 2 * one
    assert prepare("p", Sent(pieces[2:]), 1 << 20).rebuilt == 0
