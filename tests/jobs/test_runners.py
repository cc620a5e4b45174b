"""Runners: sharing jobs, stopping jobs on request, and continuing jobs of other runners."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import pytest

from tests.graph_files import GraphFile, conversation
from tests.jobs.asking import PATIENCE_SECONDS, Receipt, done, ended, look, send, small, start, until
from tests.jobs.workers import Worker, working
from tests.server.running import Place, RunningServer, running

Hire = Callable[..., Worker]
Large = Callable[[], GraphFile]


@dataclass(frozen=True)
class Door:
    """A server that runs no jobs itself, and its place of uploads."""

    server: RunningServer
    uploads: Path

    def waiting(self, receipt: Receipt) -> list[Path]:
        """The files that wait for a job."""
        return [path for path in self.uploads.rglob("*") if path.is_file() and path.name.startswith(receipt["id"])]


@pytest.fixture(scope="module")
def door(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A door on each engine."""
    folder = tmp_path_factory.mktemp("door")
    uploads = folder / "uploads"
    settings = {"job_concurrency": 0, "uploads": uploads.as_uri(), "rate_limit": "1000000/minute"}
    with running(place, folder, **settings) as server:
        yield Door(server, uploads)


@pytest.fixture
def client(door: Door) -> Iterator[httpx.Client]:
    """A client that may ask for work."""
    with door.server.client("writer") as client:
        yield client


@pytest.fixture
def hire(door: Door, tmp_path: Path) -> Iterator[Hire]:
    """Starts workers of the door's project."""
    with ExitStack() as stack:

        def start_one(*options: str, **settings: object) -> Worker:
            said = {"uploads": door.uploads.as_uri()} | settings
            return stack.enter_context(working(door.server.place, tmp_path, door.server.project, *options, **said))

        yield start_one


@pytest.fixture
def large(door: Door) -> Large:
    """Makes graphs whose import takes some seconds: on Neo4j, which is slower, a third of the size."""
    messages = 3_000 if door.server.place.store.startswith("sqlite:") else 1_000

    def make() -> GraphFile:
        questions = messages // 15
        return conversation(messages, questions, buffer_characters=3_000, graph_id=f"graph-{uuid4().hex}")

    return make


def is_running(receipt: Receipt) -> bool:
    return bool(receipt["state"] == "running")


def has_begun(receipt: Receipt) -> bool:
    return is_running(receipt) and receipt["stage"] is not None


def wait_for(reached: Callable[[], object]) -> None:
    """Wait until something is so; what never is fails the test."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def children(worker: Worker) -> list[psutil.Process]:
    """The processes that do the work of a worker."""
    return psutil.Process(worker.process.pid).children(recursive=True)


def test_two_workers_share_the_jobs(client: httpx.Client, hire: Hire, large: Large) -> None:
    # Longer than SQLite is locked by one import, which renewals wait for; shorter than the whole of it.
    workers = [hire(job_lease_seconds=4), hire(job_lease_seconds=4)]
    graph = large()
    long_one = send(client, graph)
    until(client, long_one, has_begun)
    short = [send(client, small(f"graph-{uuid4().hex}")) for _ in range(4)]
    for receipt in short:
        done(client, receipt)
    assert done(client, long_one)["variables"] == len(graph.nodes)
    taken = [worker.events("job taken") for worker in workers]
    assert sorted(taken[0] + taken[1]) == sorted(receipt["id"] for receipt in [long_one, *short])
    assert [look(client, receipt)["attempts"] for receipt in [long_one, *short]] == [1] * 5
    assert all(taken), "one of them did all"


@pytest.mark.one_engine
def test_a_job_that_waits_is_cancelled_at_once(client: httpx.Client, door: Door, hire: Hire) -> None:
    receipt = send(client, small(f"graph-{uuid4().hex}"))
    assert len(door.waiting(receipt)) == 1
    cancelled = client.delete(f"/v1/jobs/{receipt['id']}").json()
    assert door.waiting(receipt) == []
    assert (cancelled["state"], cancelled["cancelRequested"]) == ("cancelled", True)
    worker = hire()
    done(client, send(client, small(f"graph-{uuid4().hex}")))
    assert receipt["id"] not in worker.events("job taken")
    assert look(client, receipt) == cancelled
    assert client.delete(f"/v1/jobs/{receipt['id']}").json() == cancelled


@pytest.mark.one_engine
def test_an_import_is_stopped_before_it_writes(client: httpx.Client, hire: Hire, large: Large) -> None:
    hire()
    graph = large()
    receipt = send(client, graph)
    until(client, receipt, is_running)
    assert client.delete(f"/v1/jobs/{receipt['id']}").json()["cancelRequested"]
    found = ended(client, receipt)
    assert (found["state"], found["result"], found["error"]) == ("cancelled", None, None)
    assert client.get(f"/v1/export/{graph.graph_id}").status_code == 404
    assert done(client, send(client, graph))["existing"] == {}


@pytest.mark.one_engine
def test_an_attribution_is_stopped_and_goes_on_later(client: httpx.Client, hire: Hire) -> None:
    hire()
    graph = conversation(messages=200, questions=150, graph_id=f"graph-{uuid4().hex}")
    trace = done(client, send(client, graph))["traceId"]
    receipt = start(client, "attributions", traceId=trace)
    until(client, receipt, lambda found: found["done"] > 0)
    client.delete(f"/v1/jobs/{receipt['id']}")
    found = ended(client, receipt)
    assert found["state"] == "cancelled"
    assert 0 < found["done"] < found["total"] == 50
    result = done(client, start(client, "attributions", traceId=trace))
    assert result["failures"] == 50
    assert found["done"] <= result["cached"] < 50


def test_what_a_killed_worker_leaves_another_does(client: httpx.Client, door: Door, hire: Hire, large: Large) -> None:
    first = hire(job_lease_seconds=2)
    graph = large()
    receipt = send(client, graph)
    until(client, receipt, has_begun)
    helpers = children(first)
    assert helpers
    first.kill()
    assert psutil.wait_procs(helpers, timeout=PATIENCE_SECONDS)[1] == []
    assert is_running(look(client, receipt))
    second = hire(job_lease_seconds=2)
    assert done(client, receipt)["variables"] == len(graph.nodes)
    assert second.events("job taken") == [receipt["id"]]
    assert look(client, receipt)["attempts"] == 2
    assert client.get(f"/v1/export/{graph.graph_id}").content == graph.as_bytes()
    wait_for(lambda: not door.waiting(receipt))


@pytest.mark.one_engine
def test_a_worker_that_is_told_to_stop_gives_back(client: httpx.Client, hire: Hire, large: Large) -> None:
    first = hire(job_lease_seconds=3600)
    receipt = send(client, large())
    until(client, receipt, has_begun)
    helpers = children(first)
    assert first.stop() == 0
    assert psutil.wait_procs(helpers, timeout=PATIENCE_SECONDS)[1] == []
    assert look(client, receipt)["state"] == "queued"
    assert first.events("job given back") == [receipt["id"]]
    second = hire(job_lease_seconds=3600)
    done(client, receipt)
    assert second.events("job taken") == [receipt["id"]]


@pytest.mark.one_engine
def test_work_that_dies_is_tried_three_times(client: httpx.Client, door: Door, hire: Hire, large: Large) -> None:
    worker = hire()
    receipt = send(client, large())
    for attempt in (1, 2, 3):
        wait_for(lambda: children(worker))
        for helper in children(worker):
            helper.kill()
        while len(worker.events("job ended")) < attempt:
            time.sleep(0.02)
    found = ended(client, receipt)
    assert found["state"] == "failed"
    assert found["error"] == "something went wrong in the server, 3 times; its log has more under the job's id"
    wait_for(lambda: not door.waiting(receipt))
    done(client, send(client, small(f"graph-{uuid4().hex}")))


@pytest.mark.one_engine
def test_several_at_a_time(client: httpx.Client, hire: Hire, large: Large) -> None:
    receipts = [send(client, large()) for _ in range(2)]
    worker = hire("--concurrency", "3")  # a project gets two of three places
    for receipt in receipts:
        until(client, receipt, lambda found: found["startedAt"] is not None)
    wait_for(lambda: len(children(worker)) == 2)
    for receipt in receipts:
        done(client, receipt)


def test_secrets_are_in_no_process_list(client: httpx.Client, door: Door, hire: Hire, large: Large) -> None:
    worker = hire()
    receipt = send(client, large())
    until(client, receipt, has_begun)
    secret = door.server.place.environment.get("MEMTRACE_NEO4J_PASSWORD", os.devnull)
    for process in children(worker):
        assert secret not in " ".join(process.cmdline())
    client.delete(f"/v1/jobs/{receipt['id']}")
    ended(client, receipt)
