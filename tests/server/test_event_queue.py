"""A queue that is full or away: senders are told, the recorder waits, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from uuid import uuid4

import httpx
import pytest

from tests.data import ROOT
from tests.nats_server import NatsServer
from tests.server.event_workers import behind, event_worker, own_nats
from tests.server.running import START_SECONDS, Place, RunningServer, running, sqlite_place
from tests.server.wire_events import PATIENCE_SECONDS, arrives, await_metric, event, lines, message, metrics, send

SMALL = 1 << 17
"""Bytes of a queue that is soon full."""

_VARIABLES = 60
_RECORDER = f"""
import json, secrets, sys, time
import memtrace

def say(found):
    print(json.dumps([found.sent, found.spooled, found.dropped, found.rejected]), flush=True)

with memtrace.trace("recorded", id=sys.argv[1]):
    for number in range({_VARIABLES}):
        memtrace.variable(secrets.token_hex(400), kind="Message", name=f"m{{number}}")
say(memtrace.flush(20))
sys.stdin.readline()
deadline = time.monotonic() + {PATIENCE_SECONDS}
while memtrace.flush(1).spooled and time.monotonic() < deadline:
    time.sleep(0.1)
say(memtrace.flush(1))
"""


def _refused(response: httpx.Response) -> None:
    assert response.status_code == 503, response.text
    assert int(response.headers["retry-after"]) >= 1
    assert response.headers["content-type"].startswith("application/problem+json")


def _fill(server: RunningServer, trace: str) -> int:
    """Send until the queue is full; how many messages it took."""
    taken = 0
    while True:
        response = send(server, lines(message(trace, f"m{taken}", token_hex(4000))))
        if response.status_code != 200:
            _refused(response)
            return taken
        taken += 1
        assert taken < SMALL // 1000, "it is never full"


def test_a_full_journal_refuses_and_takes_again_when_there_is_room(tmp_path: Path) -> None:
    """What waits for something that never comes takes the room, until it is given up."""
    trace = uuid4().hex
    with running(sqlite_place(tmp_path), tmp_path, queue_bytes=SMALL, event_tries=5) as server:
        taken = 0
        while True:
            # Large ones, so that the queue is full before the first of them is given up, also on a slow machine.
            early = message(trace, f"early{taken}", token_hex(20_000)) | {"operation": "never"}
            response = send(server, lines(early))
            if response.status_code != 200:
                break
            taken += 1
            assert taken < SMALL // 1000, "it is never full"
        _refused(response)
        assert taken > 3
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (response := send(server, lines(message(trace, "m", token_hex(4000))))).status_code != 200:
            _refused(response)
            assert time.monotonic() < deadline
            time.sleep(0.1)
        arrives(server, trace, 1)
        await_metric(server, "memtrace_dead_letters", taken)
        assert "Traceback" not in server.log_text


@contextmanager
def _recorder(server: RunningServer, folder: Path, trace: str) -> Iterator[subprocess.Popen[str]]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    said = {
        "MEMTRACE_ENDPOINT": server.url,
        "MEMTRACE_API_KEY": server.key("writer"),
        "MEMTRACE_SPOOL": str(folder / "spool"),
        "PYTHONPATH": str(ROOT / "sdk"),
    }
    with subprocess.Popen(
        [sys.executable, "-c", _RECORDER, trace],
        env=own | said,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _counts(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    found: list[int] = json.loads(process.stdout.readline())
    return found


@pytest.mark.usefixtures("nats")  # skips where there is none
@pytest.mark.parametrize("trouble", ["full", "away"])
def test_the_recorder_delivers_by_itself_what_the_queue_could_not_take(tmp_path: Path, trouble: str) -> None:
    filling, recorded = uuid4().hex, uuid4().hex
    with own_nats(tmp_path) as broker:
        place = behind(sqlite_place(tmp_path), broker)
        with running(place, tmp_path, queue_bytes=SMALL) as server:
            server.key("writer")
            taken = _trouble(server, broker, filling, trouble)
            with _recorder(server, tmp_path, recorded) as recorder:
                sent, spooled, *lost = _counts(recorder)
                assert (sent, lost) == (0, [0, 0])
                assert spooled > _VARIABLES
                broker.start()
                with event_worker(place, tmp_path):
                    assert recorder.stdin is not None
                    recorder.stdin.write("go on\n")
                    recorder.stdin.flush()
                    assert _counts(recorder) == [spooled, 0, 0, 0]
                    arrives(server, recorded, _VARIABLES)
                    if taken:
                        arrives(server, filling, taken)
                    assert send(server, lines(message(filling, "afterwards"))).status_code == 200
                    arrives(server, filling, taken + 1)
            assert metrics(server.url)["memtrace_dead_letters"] == 0
            assert "Traceback" not in server.log_text


def _trouble(server: RunningServer, broker: NatsServer, trace: str, trouble: str) -> int:
    """Bring the queue into trouble; how many messages it has taken before."""
    if trouble == "full":
        return _fill(server, trace)
    broker.stop()
    _refused(send(server, lines(message(trace, "m"))))
    found = metrics(server.url)
    assert found["memtrace_queue_up"] == 0
    assert found['memtrace_events_received_total{result="accepted"}'] == 0
    return 0


@pytest.mark.usefixtures("nats")
def test_servers_and_workers_tell_how_the_queue_stands(tmp_path: Path) -> None:
    trace = uuid4().hex
    with own_nats(tmp_path) as broker:
        place = behind(sqlite_place(tmp_path), broker)
        with running(place, tmp_path) as server:
            bad = event("used", trace, operation="none", variable="m0", position=0)
            sent = lines(*(message(trace, f"m{number}") for number in range(5)), bad, {"v": 1})
            assert send(server, sent).json()["accepted"] == 6
            before = metrics(server.url)
            assert before['memtrace_events_received_total{result="accepted"}'] == 6
            assert before['memtrace_events_received_total{result="rejected"}'] == 1
            assert (before["memtrace_queue_up"], before["memtrace_queue_packets"]) == (1, 1)
            assert before["memtrace_queue_bytes"] > 0
            assert before["memtrace_queue_oldest_seconds"] > 0
            assert (before["memtrace_event_workers"], before["memtrace_dead_letters"]) == (0, 0)
            assert _queue(place)["packets"] == 1
            with event_worker(place, tmp_path, event_tries=1) as worker:
                arrives(server, trace, 5)
                await_metric(server, "memtrace_event_workers", 1)
                await_metric(server, "memtrace_dead_letters", 1)
                found = metrics(worker.url)
                assert found["memtrace_events_written_total"] == 5
                assert found["memtrace_events_given_up_total"] == 1
                assert found["memtrace_event_batches_total"] >= 1
                assert found["memtrace_packets_postponed_total"] == 0
                assert found["memtrace_event_store_failures_total"] == 0
                assert found["memtrace_queue_up"] == 1
                after = _queue(place)
                assert (after["packets"], after["workers"], after["oldestSeconds"]) == (0, 1, None)
            broker.stop()
            assert metrics(server.url)["memtrace_queue_up"] == 0
            stats = place.here("stats", "--json")
            assert (stats.returncode, json.loads(stats.stdout)["queue"]) == (0, None)
            assert "can't be reached" in stats.stderr


def test_the_journals_server_tells_what_its_worker_does(tmp_path: Path) -> None:
    trace, place = uuid4().hex, sqlite_place(tmp_path)
    with running(place, tmp_path, event_tries=1) as server:
        bad = event("used", trace, operation="none", variable="m0", position=0)
        assert send(server, lines(message(trace, "m0"), bad)).json()["accepted"] == 2
        arrives(server, trace, 1)
        await_metric(server, "memtrace_events_given_up_total", 1)
        found = metrics(server.url)
        assert (found["memtrace_events_written_total"], found["memtrace_event_workers"]) == (1, 1)
        own, others = _queue(place, "--project", server.project), _queue(place)
    assert own == {"packets": 0, "bytes": 0, "oldestSeconds": None, "workers": 1, "deadLetters": 1}
    assert others["deadLetters"] == 0


def _queue(place: Place, *options: str) -> dict[str, object]:
    done = place.here("stats", "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)["queue"]
    return found


@pytest.mark.usefixtures("nats")
def test_a_worker_ends_well_while_the_broker_is_away(tmp_path: Path) -> None:
    """It ended after 11.8 s with an unexpected ConnectionResetError and exit code 1."""
    with own_nats(tmp_path) as broker:
        place = behind(sqlite_place(tmp_path), broker)
        assert place.here("migrate").returncode == 0
        with event_worker(place, tmp_path) as worker:
            broker.stop()
            began = time.monotonic()
            worker.process.send_signal(signal.SIGTERM)
            assert worker.process.wait(START_SECONDS) == 0
            assert time.monotonic() - began < 10
        log = worker.log.read_text("utf-8")
        assert "the queue is away" in log
        assert "unexpected" not in log
