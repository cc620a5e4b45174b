"""The disk: permissions of files, a full disk, and damaged files."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import psutil
import pytest

from api.settings.loading import open_store
from schema.errors import DiskFullError, StoreError
from store.runtime.private_files import make_folders
from store.sqlite.connections import Connections
from store.values.objects import Objects
from tests.server.running import START_SECONDS, Place, RunningServer, neo4j_place_of_server, running, sqlite_place

__all__ = ["neo4j_place_of_server"]

PAGE = 4096


@pytest.fixture
def open_umask() -> Iterator[None]:
    """New files of a process are readable by everybody, unless the process sets a mode."""
    before = os.umask(0)
    yield
    os.umask(before)


def others(folder: Path) -> list[str]:
    """Files below a folder that other users can read."""
    found = []
    for path in folder.iterdir():
        mode = path.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            found.append(path.name)
            found += others(path) if path.is_dir() else []
    return found


@pytest.mark.usefixtures("open_umask")
async def test_files_are_their_owners(tmp_path: Path) -> None:
    folder, values = tmp_path / "data", tmp_path / "values"
    folder.mkdir(mode=0o755)
    values.mkdir(mode=0o755)
    with running(sqlite_place(folder), tmp_path, values=values.as_uri()) as server:
        with server.client("writer") as client:
            assert client.post("/v1/import", params={"name": "a.json"}, content=b"{}").status_code == 202
        assert {"server.db", "server.db-wal", "server.db-shm", "server.db-queue"} <= {
            one.name for one in folder.iterdir()
        }
        assert others(folder) == []
    await Objects(values.as_uri()).put("project/trace/a.pack", b"data")
    assert others(values) == []
    assert stat.S_IMODE((values / "project/trace/a.pack").stat().st_mode) == 0o600
    make_folders(values / "project" / "other", values)
    assert others(values) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
@pytest.mark.parametrize("mask", ["0777", "0277"])
def test_a_umask_takes_no_rights_from_the_owner(tmp_path: Path, mask: str) -> None:
    place = sqlite_place(tmp_path / "data")
    (tmp_path / "data").mkdir()
    said = place.variables(values=(tmp_path / "values").as_uri())
    command = f"umask {mask}; exec {sys.executable} -m memtrace_platform import examples/sample/assistant.json"
    subprocess.run(["sh", "-c", command], env=said, check=True, capture_output=True)
    made = [path for path in tmp_path.rglob("*") if path != tmp_path / "data"]
    assert {"server.db", "values"} <= {path.name for path in made}
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_doctor_warns_of_files_for_all(tmp_path: Path) -> None:
    place = sqlite_place(tmp_path)
    tmp_path.chmod(0o755)
    assert place.here("migrate").returncode == 0
    assert "warnings" not in json.loads(place.here("doctor", "--json").stdout)["details"]
    file = tmp_path / "server.db"
    file.chmod(0o644)
    found = place.here("doctor", "--json")
    details = json.loads(found.stdout)["details"]
    assert found.returncode == 0
    assert details["warnings"][0] == f"{file} can be read by others of this machine (mode 644): chmod 600"
    assert "chmod 600" in place.here("doctor").stdout
    tmp_path.chmod(0o700)
    assert "warnings" not in json.loads(place.here("doctor", "--json").stdout)["details"]


@contextmanager
def full_disk(server: RunningServer) -> Iterator[None]:
    """No file of a server can grow any more; its log neither."""
    process = psutil.Process(server.process.pid)
    _, hard = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        process.rlimit(resource.RLIMIT_FSIZE, (hard, hard))


def states(server: RunningServer) -> tuple[int, str, str]:
    """What `/readyz` says: its status, and of the store and the events."""
    with server.client(None) as client:
        answer = client.get("/readyz")
        return answer.status_code, answer.json()["store"], answer.json()["events"]


def test_a_full_disk(tmp_path: Path) -> None:
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0) as server, full_disk(server):
        deadline = time.monotonic() + START_SECONDS
        # A writer that is at work keeps a look from being taken.
        while (found := states(server)) != (503, "unavailable", "unavailable"):
            assert time.monotonic() < deadline, found
            time.sleep(0.1)
        with server.client(None) as client:
            assert client.get("/healthz").status_code == 200


def test_a_disk_that_takes_small_writes_alone(tmp_path: Path) -> None:
    """The small writes of readiness succeed on such a disk, and events fail."""
    event = {"v": 1, "type": "variable", "trace": "t", "time": "2026-01-01T00:00:00.000000Z", "kind": "Message"}
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0) as server:
        process = psutil.Process(server.process.pid)
        _, hard = process.rlimit(resource.RLIMIT_FSIZE)
        largest = max(file.stat().st_size for file in tmp_path.glob("server.db*"))
        process.rlimit(resource.RLIMIT_FSIZE, (largest + (256 << 10), hard))
        with server.client("writer") as client:
            for number in range(50):
                value = {"variable": f"v{number}", "name": "v", "version": 0, "value": token_hex(100_000)}
                answer = client.post("/v1/events", json=event | value | {"mediaType": "text/plain"})
                if answer.status_code != 200:
                    break
        assert answer.status_code == 503
        assert states(server)[2] == "unavailable"
        process.rlimit(resource.RLIMIT_FSIZE, (hard, hard))


async def test_no_space_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Connections(tmp_path / "x.db")
    monkeypatch.setattr("store.sqlite.connections.has_room", lambda _folder: False)
    await connections.write(lambda connection: connection.execute("CREATE TABLE t (x)"))
    for _ in range(2):
        with pytest.raises(DiskFullError, match=r"x\.db: the disk is full"):
            await connections.check()
    await connections.close()


async def test_a_folder_that_is_full_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = Objects(tmp_path.as_uri())
    (tmp_path / "taken").write_bytes(b"a file where a folder is needed")
    with pytest.raises(StoreError) as caught:
        await objects.put("taken/a", b"data")
    assert not isinstance(caught.value, DiskFullError)
    monkeypatch.setattr("store.values.objects.has_room", lambda _folder: False)
    with pytest.raises(DiskFullError):
        await objects.put("taken/a", b"data")


async def test_a_file_that_can_not_grow_is_full(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "x.db")
    await connections.write(lambda connection: connection.execute("CREATE TABLE t (x)"))
    await connections.write(lambda connection: connection.pragma("max_page_count", 1))
    with pytest.raises(DiskFullError):
        await connections.write(lambda connection: connection.execute("INSERT INTO t VALUES (zeroblob(100000))"))
    await connections.close()


async def test_who_writes_for_long_is_no_fault(tmp_path: Path) -> None:
    connections, other = Connections(tmp_path / "x.db"), Connections(tmp_path / "x.db")
    await connections.write(lambda connection: connection.execute("CREATE TABLE t (x)"))
    begun, told = threading.Event(), threading.Event()

    def work(_connection: object) -> None:
        begun.set()
        assert told.wait(300)

    task = asyncio.create_task(other.write(work))
    await asyncio.to_thread(begun.wait, 60)
    await connections.check()
    told.set()
    await task
    await connections.close()
    await other.close()


@pytest.mark.neo4j
async def test_no_space_for_values(neo4j_place_of_server: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async with await open_store(neo4j_place_of_server.settings()) as database:
        await database.check()
        monkeypatch.setattr("store.values.objects.has_room", lambda _folder: False)
        with pytest.raises(DiskFullError, match="values at file://"):
            await database.check()


def damage(file: Path) -> None:
    """Overwrite the pages of a file but the first."""
    with file.open("r+b") as opened:
        for start in range(PAGE, file.stat().st_size, PAGE):
            opened.seek(start)
            opened.write(b"\xff" * 64)


def test_damage_that_was_met(tmp_path: Path) -> None:
    place = sqlite_place(tmp_path)
    with running(place, tmp_path, job_concurrency=0) as server:
        server.stop()
    pages = asyncio.run(pages_of(tmp_path / "server.db", "api_key"))
    with (tmp_path / "server.db").open("r+b") as opened:
        for page in pages:
            opened.seek((page - 1) * PAGE)
            opened.write(b"\xff" * PAGE)
    with running(place, tmp_path, job_concurrency=0) as server:
        assert states(server) == (200, "ok", "ok")
        with server.client(None) as client:
            unknown = {"Authorization": f"Bearer mt_{'0' * 16}_{'a' * 43}"}
            assert client.get("/v1/export/x", headers=unknown).status_code == 503
        assert states(server) == (503, "damaged", "ok")


async def pages_of(file: Path, table: str) -> list[int]:
    """The first pages of a table and of its indexes."""
    connections = Connections(file)
    found = await connections.read(
        lambda connection: connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?", (table,)
        ).fetchall()
    )
    await connections.close()
    return [int(str(page)) for (page,) in found]


def test_doctor_looks_at_the_journal(tmp_path: Path) -> None:
    place, journal = sqlite_place(tmp_path), tmp_path / "server.db-queue"
    with running(place, tmp_path, job_concurrency=0) as server:
        server.stop()
    well = place.here("doctor", "--json")
    assert well.returncode == 0, well.stdout
    assert json.loads(well.stdout)["details"]["queue"] == {"path": str(journal), "packets": 0, "deadLetters": 0}
    assert "packets 0, dead letters 0" in place.here("doctor").stdout
    damage(journal)
    found = place.here("doctor", "--json")
    assert found.returncode == 1
    (problem,) = json.loads(found.stdout)["problems"]
    assert str(journal) in problem
    assert "damaged" in problem


async def test_a_check_says_each_time_the_same(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "nowhere" / "x.db")
    for _ in range(3):
        with pytest.raises(StoreError) as caught:
            await connections.check()
        assert "x.db" in str(caught.value)
    await connections.close()


@pytest.mark.usefixtures("open_umask")
def test_missing_parents_are_private_too(tmp_path: Path) -> None:
    Objects((tmp_path / "deep" / "values").as_uri())
    make_folders(tmp_path / "very" / "deep")
    assert others(tmp_path) == []
