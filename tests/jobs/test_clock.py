"""Leases and a clock that is set: a job is left when its runner is gone, whatever the clock says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from api.jobs.abandoned import Abandoned
from schema.control import Lease
from tests.jobs.asking import done, look, send, until
from tests.jobs.test_runners import Door, Large, client, door, has_begun, is_running, large
from tests.jobs.workers import working
from tests.stepped_clock import VARIABLE, set_clock

__all__ = ["client", "door", "large"]

HOUR = 3600


@pytest.mark.parametrize("step", [-HOUR, pytest.param(HOUR, marks=pytest.mark.one_engine)])
def test_what_a_killed_worker_leaves_another_does_although_the_clock_is_set(
    client: httpx.Client, door: Door, large: Large, tmp_path: Path, step: int
) -> None:
    clock = tmp_path / "clock"
    set_clock(clock, 0)
    place = door.server.place
    stepped = replace(place, environment={**place.environment, VARIABLE: str(clock)})
    settings = {"job_lease_seconds": 2, "uploads": door.uploads.as_uri()}
    with working(stepped, tmp_path, door.server.project, **settings) as first:
        receipt = send(client, large())
        until(client, receipt, has_begun)
        first.kill()
    assert is_running(look(client, receipt))
    set_clock(clock, step)
    with working(stepped, tmp_path, door.server.project, **settings) as second:
        done(client, receipt)
        assert second.events("job taken") == [receipt["id"]]
    assert look(client, receipt)["attempts"] == 2


def test_a_lease_is_left_when_it_was_seen_unchanged_for_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("api.jobs.abandoned.time.monotonic", lambda: now)
    left = Abandoned(5.0)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    still, renewed = Lease("1", "one", moment), [Lease("2", "two", moment - timedelta(hours=n)) for n in range(9)]
    found = []
    for number in range(9):
        found.append(left.among([still, renewed[number]]))
        now += 1.0
    # Unchanged for five seconds at the look before this one.
    assert found == [[]] * 6 + [[still]] * 3
    assert left.among([]) == []
    assert left.among([still]) == []
