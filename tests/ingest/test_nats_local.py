"""The local NATS server: started, found again, stopped, killed; streams survive and secrets stay secret."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from nats import connect
from nats.aio.client import Client

from api.local_servers.nats import LocalNats, LocalNatsError, RunningNats
from tests.nats_server import NatsServer

pytestmark = pytest.mark.usefixtures("nats")  # skips where the server can't be had


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalNats]:
    server = LocalNats(tmp_path / "nats", port=0)
    yield server
    server.stop(kill=True)


async def client(server: RunningNats | NatsServer) -> Client:
    password = server.password_file.read_text("utf-8").strip()
    return await connect(server.uri, user=server.user, password=password, allow_reconnect=False)


def answer_to(server: RunningNats, password: str) -> bytes:
    """The server's answer to a login with a password."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        said = connection.makefile("rb")
        assert said.readline().startswith(b"INFO ")
        hello = json.dumps({"user": server.user, "pass": password, "verbose": False})
        connection.sendall(f"CONNECT {hello}\r\nPING\r\n".encode())
        return said.readline()


async def stored(server: RunningNats) -> int:
    connection = await client(server)
    try:
        return (await connection.jetstream().stream_info("kept")).state.messages
    finally:
        await connection.close()


@pytest.mark.parametrize("kill", [False, True])
async def test_what_is_acknowledged_outlives_the_server(local: LocalNats, kill: bool) -> None:
    first = await asyncio.to_thread(local.start)
    connection = await client(first)
    stream = connection.jetstream()
    await stream.add_stream(name="kept", subjects=["kept.*"])
    for number in range(20):
        await stream.publish("kept.a", str(number).encode())
    assert connection.max_payload == 8 << 20
    await connection.close()
    assert local.stop(kill=kill)
    second = await asyncio.to_thread(local.start)
    assert (second.uri, second.started) == (first.uri, True)
    assert second.pid != first.pid
    assert await stored(second) == 20


async def test_a_server_that_was_killed_by_others_is_started_again(local: LocalNats) -> None:
    first = local.start()
    os.kill(first.pid, signal.SIGKILL)
    psutil.Process(first.pid).wait(300)
    assert local.start().port == first.port


def test_only_who_has_the_password_gets_in(local: LocalNats) -> None:
    server = local.start()
    password = server.password_file.read_text("utf-8").strip()
    assert answer_to(server, password) == b"PONG\r\n"
    assert b"Authorization Violation" in answer_to(server, "another")
    for path in (local.folder, *local.folder.iterdir()):
        if path.name in {"password", "nats.conf", "server.json", local.folder.name}:
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    assert password not in " ".join(psutil.Process(server.pid).cmdline())
    assert password not in server.log.read_text("utf-8")
    listens = {found.laddr.ip for found in psutil.Process(server.pid).net_connections() if found.status == "LISTEN"}
    assert listens == {"127.0.0.1"}


def test_a_second_start_finds_it(local: LocalNats) -> None:
    first = local.start()
    other = LocalNats(local.folder)
    again = other.start()
    assert (again.pid, again.started) == (first.pid, False)
    assert other.stop()
    assert not local.stop()


def test_monitoring_is_there_where_it_is_asked_for(tmp_path: Path) -> None:
    local = LocalNats(tmp_path / "nats", port=0, http_port=0, store_bytes=64 << 20)
    with local.running() as server, urlopen(f"http://127.0.0.1:{server.http_port}/jsz") as answer:
        config = json.load(answer)["config"]
    assert config["max_storage"] == 64 << 20
    assert config["sync_always"] is True


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalNatsError, match=f"Port {port} "):
            LocalNats(tmp_path / "nats", port=port).start()


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters").touch()
    with pytest.raises(LocalNatsError, match="letters"):
        LocalNats(tmp_path).start()
    assert [path.name for path in tmp_path.iterdir()] == ["letters"]


def test_a_start_that_fails_says_why(local: LocalNats) -> None:
    local.start()
    local.stop()
    (local.folder / "streams").rename(local.folder / "elsewhere")
    (local.folder / "streams").touch()
    with pytest.raises(LocalNatsError, match="not a directory"):
        local.start()


def test_a_guarded_server_ends_with_its_starter(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from api.local_servers.nats import LocalNats; "
        "print(LocalNats(sys.argv[1], port=0).start(guarded=True).pid, flush=True); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "nats"], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    try:
        psutil.Process(int(done.stdout)).wait(300)
    except psutil.NoSuchProcess:
        return


async def test_the_fixture_survives_a_kill(nats: NatsServer) -> None:
    before, uri = nats.pid, nats.uri
    nats.kill()
    nats.start()
    assert nats.pid != before
    connection = await client(nats)
    assert nats.uri == uri
    await connection.close()
