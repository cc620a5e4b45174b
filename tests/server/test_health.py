"""Health, readiness and metrics of the server."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.http.documented import Problem
from tests.neo4j_server import Neo4jServer
from tests.server.forwarder import Forwarder
from tests.server.running import START_SECONDS, Place, RunningServer, neo4j_place, running

WELL = {"status": "ready", "store": "ok", "migrations": "ok", "queue": "ok", "events": "ok", "stores": {}}
AWAY = dict.fromkeys(("store", "migrations", "queue"), "unavailable") | {
    "status": "not ready",
    "events": "ok",
    "stores": {},
}


def samples(client: httpx.Client) -> dict[tuple[str, ...], float]:
    """What `/metrics` counts: by name and the values of the labels."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_well(server: RunningServer) -> None:
    with server.client(None) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()) == (200, WELL)


def test_counted(server: RunningServer) -> None:
    name = "memtrace_request_seconds_count"
    with server.client() as client:
        before = samples(client)
        for _ in range(3):
            assert client.get("/v1/export/nothing").status_code == 404
        client.get("/nowhere/1")
        client.get("/nowhere/2")
        client.request("PROPFIND", "/healthz")
        client.post("/graphql", json={"query": "{ __typename }"})
        after = samples(client)
    grown = {key: after[key] - before.get(key, 0) for key in after if key[0] == name}
    assert grown[name, "http", "GET", "/v1/export/{trace}", "4xx"] == 3
    assert grown[name, "none", "GET", "unmatched", "4xx"] == 2
    assert grown[name, "health", "OTHER", "/healthz", "4xx"] == 1
    assert grown[name, "graphql", "POST", "/graphql", "2xx"] == 1
    assert grown[name, "metrics", "GET", "/metrics", "2xx"] == 1
    assert after["memtrace_store_up",] == 1
    assert after["memtrace_requests_under_way",] == 1
    assert {key[1] for key in after if key[0] == "memtrace_jobs"} == {
        "queued",
        "running",
        "done",
        "failed",
        "cancelled",
    }


def test_projects_are_nobodys_business(server: RunningServer) -> None:
    with server.client() as client:
        client.get("/v1/export/nothing", params={"project": server.project})
        pages = [client.get(path).text for path in ("/metrics", "/readyz", "/healthz")]
    assert server.project not in "".join(pages)


def await_ready(client: httpx.Client) -> None:
    """A busy machine's store may answer too late at first."""
    deadline = time.monotonic() + START_SECONDS
    while (said := client.get("/readyz").json()) != WELL:
        assert time.monotonic() < deadline, said
        time.sleep(0.1)


@pytest.mark.full
@pytest.mark.neo4j
def test_a_store_that_goes_away_and_comes_back(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    with Forwarder(neo4j_server.uri) as forwarder:
        straight = neo4j_place(neo4j_server, tmp_path)
        place = Place(f"bolt://127.0.0.1:{forwarder.port}", straight.environment)
        with running(place, tmp_path, job_concurrency=0) as server, server.client(None) as client:
            key = straight.make_key("reader", server.project)
            headers = {"Authorization": f"Bearer {key}"}
            await_ready(client)
            forwarder.close()
            answer = client.get("/readyz")
            assert (answer.status_code, answer.json()) == (503, AWAY)
            assert client.get("/healthz").status_code == 200
            metrics = samples(client)
            assert metrics["memtrace_store_up",] == 0
            assert not [name for name in metrics if name[0] == "memtrace_jobs"]
            refused = client.get("/v1/export/nothing", headers=headers)
            problem = Problem.model_validate(refused.json())
            assert (refused.status_code, problem.status) == (503, 503)
            assert int(refused.headers["retry-after"]) > 0
            assert str(forwarder.port) not in refused.text
            forwarder.open()
            await_ready(client)
            assert client.get("/v1/export/nothing", headers=headers).status_code == 404
