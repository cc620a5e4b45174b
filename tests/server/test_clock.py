"""The journal and a clock that is set: what waits is written in its order, and soon."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tests.server.running import Place, RunningServer, running, sqlite_place
from tests.server.wire_events import arrives, await_metric, drained, event, lines, message, metrics, send
from tests.stepped_clock import VARIABLE, set_clock

HOUR = 3600


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    """Says what the clocks of servers show."""
    file = tmp_path / "clock"
    set_clock(file, 0)
    return file


@pytest.fixture
def stepped(tmp_path: Path, clock: Path) -> Place:
    """A store of its own, and a clock that can be set."""
    return replace(sqlite_place(tmp_path), environment={VARIABLE: str(clock)})


@contextmanager
def _busy(place: Place) -> Iterator[None]:
    """Nothing can be written to the store."""
    connection = sqlite3.connect(place.store.removeprefix("sqlite:///"), isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


def _names(server: RunningServer, trace: str) -> list[str]:
    document = "query($t: String!) { project { trace(reference: $t) { variables(first: 100) { nodes { name } } } } }"
    with server.client() as client:
        answer = client.post("/graphql", json={"query": document, "variables": {"t": trace}}).json()
    return [node["name"] for node in answer["data"]["project"]["trace"]["variables"]["nodes"]]


@pytest.mark.parametrize("step", [-HOUR, HOUR])
def test_what_was_taken_before_the_clock_was_set_is_written_first(
    stepped: Place, clock: Path, tmp_path: Path, step: int
) -> None:
    trace = uuid4().hex
    with running(stepped, tmp_path) as before:
        project, key = before.project, before.key("writer")
        with _busy(stepped):
            for number in range(3):
                assert send(before, lines(message(trace, f"m{number}"))).json()["accepted"] == 1
            before.kill()
    set_clock(clock, step)
    with running(stepped, tmp_path) as after:
        after.project = project
        assert key
        assert send(after, lines(message(trace, "m3"))).json()["accepted"] == 1
        arrives(after, trace, 4)
        assert _names(after, trace) == ["m0", "m1", "m2", "m3"]
        assert metrics(after.url)["memtrace_dead_letters"] == 0


@pytest.mark.parametrize("step", [-HOUR, HOUR])
def test_what_waits_is_tried_again_although_the_clock_is_set(
    stepped: Place, clock: Path, tmp_path: Path, step: int
) -> None:
    """One event is given up after its tries, and one is written: neither waits for the clock."""
    trace = uuid4().hex
    with running(stepped, tmp_path, event_tries=4) as server:
        early = event("used", trace, operation="o", variable="m", position=0)
        never = event("used", trace, operation="o", variable="never", position=1)
        for one in (early, never):
            assert send(server, lines(one)).json()["accepted"] == 1
        await_metric(server, "memtrace_packets_postponed_total", 2)
        set_clock(clock, step)
        assert send(server, lines(message(trace, "m"))).status_code == 200
        started = event("operationStarted", trace, operation="o", name="o", kind="Other")
        assert send(server, lines(started)).status_code == 200
        drained(server)
        await_metric(server, "memtrace_dead_letters", 1)
        document = "query($t: String!) { project { trace(reference: $t) { operations { nodes { used { name } } } } } }"
        with server.client() as client:
            answer = client.post("/graphql", json={"query": document, "variables": {"t": trace}}).json()
        (operation,) = answer["data"]["project"]["trace"]["operations"]["nodes"]
        assert [one["name"] for one in operation["used"]] == ["m"]
