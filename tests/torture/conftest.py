"""A whole team of processes, and a server alone, to be killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from api.local_servers.nats import LocalNats
from api.local_servers.neo4j import LocalNeo4j
from api.local_servers.neo4j.distribution import Distribution
from tests.nats_server import NatsServer
from tests.ports import free_ports
from tests.server.running import Place, sqlite_place
from tests.torture.processes import Nats, Neo4j, Part, Process, World


@pytest.fixture(scope="package")
def team_at_work(
    nats: NatsServer, neo4j_distribution: Distribution, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Neo4j, NATS, a server and two workers, which nothing but the tests of this folder uses."""
    folder = tmp_path_factory.mktemp("team")
    bolt, port = free_ports(2)
    with ExitStack() as stack:
        home = LocalNeo4j(folder / "neo4j", version=neo4j_distribution.version, port=bolt)
        neo4j = home.start(guarded=True)
        stack.callback(home.stop, kill=True)
        local = LocalNats(folder / "nats", port=0)
        broker = NatsServer(local, local.start(guarded=True))
        stack.callback(local.stop, kill=True)
        place = Place(
            neo4j.uri,
            {
                "MEMTRACE_NEO4J_USER": neo4j.user,
                "MEMTRACE_NEO4J_PASSWORD": neo4j.password,
                "MEMTRACE_VALUES": (folder / "values").as_uri(),
                **broker.environment(),
            },
        )
        done = place.here("migrate")
        assert done.returncode == 0, done.stderr
        environment = place.variables(job_concurrency=0, rate_limit="1000000/minute", log_format="text")
        server = Process("server", ["serve", "--port", str(port)], environment, folder, "listens on")
        workers = [Process(f"worker-{n}", ["worker"], environment, folder, "writes events") for n in range(2)]
        for one in (server, *workers):
            stack.callback(one.kill)
            one.start()
        parts: list[Part] = [workers[0], server, Nats(broker), Neo4j(home), workers[1]]
        yield World(place, parts, f"http://127.0.0.1:{port}", place.settings())


@pytest.fixture
def team(team_at_work: World) -> World:
    """The team, whose logs hold nothing of tests before."""
    team_at_work.forget_logs()
    return team_at_work


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[World]:
    """A server on a SQLite file with a journal."""
    place = sqlite_place(tmp_path)
    (port,) = free_ports(1)
    environment = place.variables(rate_limit="1000000/minute", log_format="text")
    server = Process("server", ["serve", "--port", str(port)], environment, tmp_path, "listens on")
    server.start()
    yield World(place, [server], f"http://127.0.0.1:{port}", place.settings())
    server.kill()
