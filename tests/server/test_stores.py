"""Projects on stores of their own: the server, its health, and the command line."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from api.settings.credentials import neo4j_credentials
from store.open import open_database
from tests.neo4j_server import Neo4jServer
from tests.server.forwarder import Forwarder
from tests.server.running import ROOT, Place, RunningServer, neo4j_place, running, sqlite_place
from tests.server.wire_events import LINES, PATIENCE_SECONDS, drained, lines, message, metrics

SAMPLE = ROOT / "examples" / "sample" / "assistant.json"


@dataclass(frozen=True)
class World:
    """A place of two stores.

    Attributes:
        place: the main store, and the environment that names the other.
        stores: by name, as the settings have them.
        mapped: the project that is in ``eu``.
        home: a project in the main store.
    """

    place: Place
    stores: Mapping[str, Mapping[str, Any]]
    mapped: str
    home: str


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A main SQLite file, and a store of each engine, in a file of settings."""
    mapped, home = (f"{name}-{uuid4().hex[:8]}" for name in ("mapped", "home"))
    if request.param == "sqlite":
        eu: dict[str, Any] = {"uri": f"sqlite:///{tmp_path / 'eu.db'}"}
    else:
        server: Neo4jServer = request.getfixturevalue("neo4j_server")
        eu = _neo4j(server, tmp_path) | {"uri": server.uri}
    stores = {"eu": eu | {"projects": [mapped]}}
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in stores["eu"].items())
    config = tmp_path / "memtrace.toml"
    config.write_text(f"[stores.eu]\n{table}", "utf-8")
    place = Place(sqlite_place(tmp_path).store, {"MEMTRACE_CONFIG": str(config)})
    done = place.here("migrate")
    assert done.returncode == 0, done.stderr
    return World(place, stores, mapped, home)


def _neo4j(server: Neo4jServer, folder: Path) -> dict[str, Any]:
    secret = folder / "secret"
    secret.touch(mode=0o600)
    secret.write_text(server.password, "utf-8")
    values = (folder / "values-eu").as_uri()
    return {"database": "neo4j", "user": server.user, "password_file": str(secret), "values": values}


def ask(server: RunningServer, project: str, document: str, **variables: str) -> Any:
    with server.client("reader", project) as client:
        answer = client.post("/graphql", json={"query": document, "variables": variables})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["project"]


def variables_of(server: RunningServer, project: str, trace: str) -> int | None:
    document = "query($t: String!) { project { trace(reference: $t) { counts { variables } } } }"
    found = ask(server, project, document, t=trace)["trace"]
    return None if found is None else int(found["counts"]["variables"])


def send(server: RunningServer, project: str, trace: str, count: int) -> None:
    body = lines(*(message(trace, f"m{number}", "x" * 3000) for number in range(count)))
    with server.client("writer", project) as client:
        answer = client.post("/v1/events", content=body, headers={"Content-Type": LINES})
    assert answer.json() == {"accepted": count, "rejected": []}


def awaits(server: RunningServer, project: str, trace: str, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while variables_of(server, project, trace) != count:
        assert time.monotonic() < deadline, server.log_text[-3000:]
        time.sleep(0.05)


def imported(server: RunningServer, project: str) -> None:
    with server.client("writer", project) as client:
        job = client.post("/v1/import", params={"name": "assistant.json"}, content=SAMPLE.read_bytes()).json()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := client.get(f"/v1/jobs/{job['id']}").json())["state"] not in {"done", "failed"}:
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
    assert found["state"] == "done", found


async def traces_in(place: Mapping[str, Any], project: str) -> set[str]:
    """External ids of a project's traces, in one database alone."""
    credentials = neo4j_credentials(place["uri"], place.get("user"), None, place.get("password_file"))
    async with await open_database(place["uri"], place.get("values"), credentials) as opened:
        return {trace.external_id for trace in (await opened.project(project).traces()).items}


async def test_a_server_of_two_stores(world: World, tmp_path: Path) -> None:
    projects = (world.mapped, world.home)
    with running(world.place, tmp_path, job_projects=",".join(projects)) as server:
        for count, project in enumerate(projects, 2):
            send(server, project, f"of {project}", count)
            imported(server, project)
        drained(server)
        for count, project in enumerate(projects, 2):
            assert variables_of(server, project, f"of {project}") == count
            failures = ask(server, project, "{ project { failures { nodes { question } } } }")["failures"]["nodes"]
            assert len(failures) == 3
        for asking, asked in (projects, projects[::-1]):
            assert variables_of(server, asking, f"of {asked}") is None
        with server.client(None) as client:
            ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"], ready.json()["stores"]) == (200, "ready", {"eu": "ok"})
        assert metrics(server.url)['memtrace_mapped_store_up{store="eu"}'] == 1
    main, eu = {"uri": world.place.store}, world.stores["eu"]
    for project, own, foreign in ((world.mapped, eu, main), (world.home, main, eu)):
        assert await traces_in(own, project) == {f"of {project}", "assistant-sample"}
        assert await traces_in(foreign, project) == set()


def test_commands_know_the_stores(world: World) -> None:
    place = world.place
    assert place.here("migrate").stdout == "The layout is up to date.\n"
    assert place.here("import", str(SAMPLE), "--project", world.mapped).returncode == 0

    def traces(*more: str, **settings: object) -> int:
        done = place.here("stats", "--json", "--project", world.mapped, *more, **settings)
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["counts"]["Trace"])

    assert traces() == 1
    assert traces(config="", stores=json.dumps(world.stores)) == 1
    assert traces(config="") == 0
    assert traces("--store", place.store) == 0
    doctor = place.here("doctor", "--json")
    found = json.loads(doctor.stdout)
    assert (doctor.returncode, found["problems"]) == (0, [])
    assert found["details"]["stores"]["eu"]["projects"] == [world.mapped]
    engine = found["details"]["stores"]["eu"]["engine"]
    assert f"store eu      {engine} " in place.here("doctor").stdout
    cypher = place.here("cypher", "RETURN 1", "--project", world.mapped)
    assert cypher.returncode == (0 if engine == "neo4j" else 2), cypher.stderr
    assert place.here("cypher", "RETURN 1", "--project", world.home).returncode == 2


@pytest.fixture
def far(neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[tuple[World, Forwarder]]:
    """A mapped Neo4j that may be away."""
    assert neo4j_place(neo4j_server, tmp_path).here("migrate").returncode == 0
    mapped, home = (f"{name}-{uuid4().hex[:8]}" for name in ("mapped", "home"))
    with Forwarder(neo4j_server.uri) as forwarder:
        uri = f"bolt://127.0.0.1:{forwarder.port}"
        stores = {"eu": _neo4j(neo4j_server, tmp_path) | {"uri": uri, "projects": [mapped]}}
        place = Place(sqlite_place(tmp_path).store, {"MEMTRACE_STORES": json.dumps(stores)})
        yield World(place, stores, mapped, home), forwarder


@pytest.mark.neo4j
def test_a_mapped_store_that_is_away(far: tuple[World, Forwarder], tmp_path: Path) -> None:
    """Its projects wait, all others are served; also by a server that starts while it is away."""
    world, forwarder = far
    forwarder.close()
    with running(world.place, tmp_path, job_concurrency=0) as server, server.client(None) as client:
        send(server, world.home, "here", 2)
        awaits(server, world.home, "here", 2)
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        assert ready.json()["stores"] == {"eu": "unavailable"}
        assert metrics(server.url)["memtrace_store_up"] == 1
        assert metrics(server.url)['memtrace_mapped_store_up{store="eu"}'] == 0
        with server.client("reader", world.mapped) as theirs:
            assert theirs.get("/v1/export/nothing").status_code == 503
        with server.client("reader", world.home) as ours:
            assert ours.get("/v1/export/nothing").status_code == 404
        send(server, world.mapped, "there", 3)
        doctor = world.place.here("doctor", "--json")
        assert doctor.returncode == 1
        (problem,) = json.loads(doctor.stdout)["problems"]
        assert problem.startswith(f"store eu: bolt://127.0.0.1:{forwarder.port}: the server can't be reached")
        migrate = world.place.here("migrate")
        assert (migrate.returncode, migrate.stderr.startswith(f"error: {problem[:30]}")) == (5, True)
        forwarder.open()
        assert client.get("/readyz").json()["stores"] == {"eu": "ok"}
        awaits(server, world.mapped, "there", 3)
        assert metrics(server.url)["memtrace_dead_letters"] == 0
