"""How late the event loop is, in the metrics and in the log."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import httpx
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from api.http.lag import LoopLag
from tests.server.inside import inside
from tests.server.test_health import samples

BUCKET = "memtrace_loop_lag_seconds_bucket"


def late(found: dict[tuple[str, ...], float], than: str) -> float:
    """How often the timer was later than this."""
    return found[BUCKET, "+Inf"] - found[BUCKET, than]


def test_a_loop_that_is_held_is_counted_and_told(tmp_path: Path) -> None:
    with capture_logs() as logs, inside(tmp_path) as (app, url):

        @app.get("/hold")
        async def hold() -> None:
            time.sleep(3)  # noqa: ASYNC251 (to hold the loop is what this is for)

        with httpx.Client(base_url=url, timeout=60) as client:
            deadline = time.monotonic() + 300
            while not samples(client)["memtrace_loop_lag_seconds_count",]:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            before = late(samples(client), "2.5")
            assert client.get("/hold").status_code == 200
            while (after := late(samples(client), "2.5")) == before:
                assert time.monotonic() < deadline
                time.sleep(0.05)
    assert after == before + 1
    told = [line for line in logs if line["event"] == "the event loop was late"]
    assert told
    assert told[0]["log_level"] == "warning"
    assert max(line["longest_seconds"] for line in told) > 2.5


def test_long_delays_are_told_at_most_once_in_ten_seconds_and_none_is_forgotten() -> None:
    lag = LoopLag(CollectorRegistry())
    with capture_logs() as logs:
        for now, seconds in ((0, 0.9), (1, 1.5), (2, 3.0), (5, 2.0), (10.9, 0.0), (11.1, 0.0), (40, 0.0), (41, 1.1)):
            lag.note(seconds, now)
    assert [(line["longest_seconds"], line["times"]) for line in logs] == [(1.5, 1), (3.0, 2), (1.1, 1)]


async def test_it_ends_with_the_server() -> None:
    before = asyncio.all_tasks()
    async with LoopLag(CollectorRegistry()).watching():
        assert asyncio.all_tasks() - before
    assert asyncio.all_tasks() == before


def test_threads_hurry_while_the_loop_is_late_and_for_a_second_after() -> None:
    lag = LoopLag(CollectorRegistry())
    found = []
    for now, seconds in (
        (0, 0.0),
        (1, 0.02),
        (2, 0.05),
        (2.9, 0.0),
        (3.1, 0.0),
        (4, 2.0),
        (4.5, 0.04),
        (5.4, 0),
        (6, 0),
    ):
        lag.note(seconds, now)
        found.append(lag.hurries(now))
    assert found == [False, False, True, True, False, True, True, True, False]


async def test_a_late_loop_shortens_the_turns_of_threads_until_it_ends() -> None:
    usual = sys.getswitchinterval()
    async with LoopLag(CollectorRegistry()).watching():
        await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251 (to hold the loop is what this is for)
        while sys.getswitchinterval() == usual:
            await asyncio.sleep(0)
        assert sys.getswitchinterval() < usual
    assert sys.getswitchinterval() == usual
