"""Which worker holds which lane: the document that the workers change in turn."""

from __future__ import annotations

import json
import os
import socket

import pytest

from ingest.queue.protocol import LANES, LEASE_SECONDS, Share
from ingest.queue.shares import Shares, has_ended, worker_name, workers_of

ALL = frozenset(range(LANES))
HERE = socket.gethostname()[:60]


def document(beats: dict[str, int], **holders: str) -> str:
    """A document with these workers; ``holders`` gives the last lane of each stretch, as ``to5="a"``."""
    lanes: dict[str, str] = {}
    start = 0
    for name, holder in holders.items():
        end = int(name.removeprefix("to")) + 1
        lanes |= dict.fromkeys(map(str, range(start, end)), holder)
        start = end
    return json.dumps({"beats": beats, "holders": lanes})


@pytest.mark.parametrize(
    ("stored", "give_back", "beats", "held", "surplus"),
    [
        (None, (), {"me": 1}, ALL, ()),
        (document({"me": 4}, to15="me"), (), {"me": 5}, ALL, ()),
        # All lanes are another's: this worker waits until the other gives some back.
        (document({"x/1/a": 7}, to15="x/1/a"), (), {"x/1/a": 7, "me": 1}, (), ()),
        # The other has its half and one lane is free: a worker takes free lanes up to its share.
        (document({"x/1/a": 7}, to7="x/1/a"), (), {"x/1/a": 7, "me": 1}, range(8, 16), ()),
        # Three workers: a share is a third, rounded up.
        (document({"a": 1, "b": 1}, to4="a", to8="b"), (), {"a": 1, "b": 1, "me": 1}, range(9, 15), ()),
        # Lanes beyond the share are surplus, the highest first, and are held until they are given back.
        (document({"me": 1, "a": 1}, to15="me"), (), {"me": 2, "a": 1}, ALL, range(8, 16)),
        (document({"me": 1, "a": 1}, to15="me"), range(8, 16), {"me": 2, "a": 1}, range(8), ()),
        # A lane of another can't be given back by this worker.
        (document({"me": 1, "a": 1}, to7="me", to15="a"), [8, 9], {"me": 2, "a": 1}, range(8), ()),
        # A lane whose holder is unknown is free.
        (document({"a": 1}, to7="a", to15="nobody"), (), {"a": 1, "me": 1}, range(8, 16), ()),
    ],
)
def test_a_worker_takes_its_share(
    stored: str | None, give_back: range | list[int], beats: dict[str, int], held: range, surplus: range
) -> None:
    written, share = Shares("me").renewed(stored, give_back)
    assert share == Share(frozenset(held), frozenset(surplus))
    found = json.loads(written)
    assert found["beats"] == beats
    assert {int(lane) for lane, holder in found["holders"].items() if holder == "me"} == set(held)
    assert workers_of(written) == len(beats)


def test_a_worker_that_leaves_frees_its_lanes_and_no_others() -> None:
    left = json.loads(Shares("me").left(document({"me": 1, "a": 3}, to7="me", to15="a")))
    assert left == {"beats": {"a": 3}, "holders": {str(lane): "a" for lane in range(8, 16)}}
    assert json.loads(Shares("me").left(None)) == {"beats": {}, "holders": {}}
    assert workers_of(None) == 0


def test_a_worker_whose_beat_stands_still_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    now, mine = 100.0, Shares("me")
    monkeypatch.setattr("ingest.queue.shares.time.monotonic", lambda: now)
    theirs = document({"me": 1, "a": 1}, to15="a")
    assert mine.renewed(theirs, ())[1].held == frozenset()
    now += LEASE_SECONDS
    assert mine.renewed(theirs, ())[1].held == frozenset()  # not longer than the lease
    now += 0.1
    assert mine.renewed(document({"me": 1, "a": 2}, to15="a"), ())[1].held == frozenset()  # it has reported
    now += LEASE_SECONDS
    assert mine.renewed(document({"me": 1, "a": 2}, to15="a"), ())[1].held == frozenset()
    now += 0.1
    written, share = mine.renewed(document({"me": 1, "a": 2}, to15="a"), ())
    assert (share.held, json.loads(written)["beats"]) == (ALL, {"me": 2})
    # It comes back with the beat it had: its time counts from now on.
    assert mine.renewed(document({"me": 2, "a": 2}, to15="me"), ())[1].surplus == frozenset(range(8, 16))
    # This worker itself is never gone for itself.
    now += 10 * LEASE_SECONDS
    assert mine.renewed(document({"me": 2}, to15="me"), ())[1] == Share(ALL, frozenset())


@pytest.mark.parametrize(
    ("worker", "ended"),
    [
        (worker_name(), False),
        (f"{HERE}/{os.getppid()}/x", False),
        (f"{HERE}/4194304/x", True),  # larger than any process id
        (f"elsewhere/4194304/{HERE}", False),
        (f"{HERE}/{10**30}/x", False),
        (f"{HERE}/4194304x/x", False),
        (f"{HERE}//x", False),
        (HERE, False),
        ("", False),
    ],
    ids=["this", "its parent", "ended", "elsewhere", "too large", "no number", "no id", "a name alone", "nothing"],
)
def test_only_an_ended_process_of_this_machine_is_known_to_have_ended(worker: str, ended: bool) -> None:
    assert has_ended(worker) is ended


def test_a_process_of_another_user_has_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(process: int, signal: int) -> None:
        assert (process, signal) == (77, 0)
        raise PermissionError

    monkeypatch.setattr("ingest.queue.shares.os.kill", kill)
    assert not has_ended(f"{HERE}/77/x")


def test_no_two_workers_have_one_name() -> None:
    host, process, rest = worker_name().split("/")
    assert (host, process, len(rest)) == (HERE, str(os.getpid()), 12)
    assert worker_name() != worker_name()
