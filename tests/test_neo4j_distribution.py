"""The jars of the local Neo4j server: fetched whole or not at all, checked, and locked."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path

import pytest

from api.local_servers.neo4j import LocalNeo4jError, Registry, RegistryError
from api.local_servers.neo4j.distribution import obtain
from api.local_servers.neo4j.locks import Jar, cache_lock, format_lock, read_lock
from api.local_servers.ports import any_free_port
from tests.data import ROOT

VERSION = "9.9.9"
JAR_PATH = f"org/neo4j/neo4j/{VERSION}/neo4j-{VERSION}.jar"
POM_PATH = JAR_PATH.replace(".jar", ".pom")
POM = f"""<project><modelVersion>4.0.0</modelVersion>
<groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version></project>"""


def small_jar() -> bytes:
    """A jar with nothing but an entry point's name in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        # A fixed date: with the current time, each jar would have a different hash.
        archive.writestr(zipfile.ZipInfo("org/neo4j/server/Neo4jCommunity.class"), b"not run")
    return buffer.getvalue()


@dataclass
class SmallRegistry:
    """What the HTTP server below serves, and what it was asked for."""

    files: dict[str, bytes] = field(default_factory=dict)
    refusals: int = 0
    cut_short: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    url: str = ""

    def client(self, attempts: int = 3) -> Registry:
        return Registry(self.url, attempts=attempts, pause=0.01, timeout=5)


@pytest.fixture
def small_registry() -> Iterator[SmallRegistry]:
    content = SmallRegistry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.lstrip("/")
            content.asked[path] += 1
            if content.refusals:
                content.refusals -= 1
                self.send_error(503)
            elif path not in content.files:
                self.send_error(404)
            else:
                body = content.files[path]
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if content.cut_short else body)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    content.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield content
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def locked_cache(small_registry: SmallRegistry, tmp_path: Path) -> Path:
    """An empty cache with a lock of the small server, which the registry has."""
    content = small_jar()
    small_registry.files[JAR_PATH] = content
    lock = cache_lock(VERSION, tmp_path / "cache" / "neo4j")
    lock.parent.mkdir(parents=True)
    jar = Jar("org.neo4j", "neo4j", VERSION, "", hashlib.sha256(content).hexdigest())
    lock.write_text(format_lock([jar], "for a test"))
    return tmp_path / "cache"


def python_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_fetches_once_and_through_a_burst_of_refusals(small_registry: SmallRegistry, locked_cache: Path) -> None:
    small_registry.refusals = 2
    told: list[tuple[str, int, int]] = []
    found = obtain(VERSION, locked_cache, small_registry.client(), lambda *step: told.append(step))
    assert found.main_class == "org.neo4j.server.Neo4jCommunity"
    assert [path.read_bytes() for path in found.jars] == [small_jar()]
    assert told == [(f"fetching Neo4j {VERSION}", 1, 1)]
    assert obtain(VERSION, locked_cache, small_registry.client()) == found
    assert small_registry.asked == {JAR_PATH: 3}


def test_two_processes_fetch_a_jar_once(small_registry: SmallRegistry, locked_cache: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from api.local_servers.neo4j.distribution import obtain; "
        "print(obtain(sys.argv[1], Path(sys.argv[2])).jars[0])"
    )
    command = [sys.executable, "-c", code, VERSION, str(locked_cache)]
    environment = {**python_environment(), "MEMTRACE_MAVEN_REGISTRY": small_registry.url}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = {process.communicate()[0].strip() for process in running}
    assert [process.returncode for process in running] == [0, 0]
    assert printed == {str(locked_cache / "neo4j" / "repository" / JAR_PATH)}
    assert small_registry.asked == {JAR_PATH: 1}


@pytest.mark.parametrize("keep", [0, 10, -1])
def test_refuses_a_jar_that_was_cut_short(small_registry: SmallRegistry, locked_cache: Path, keep: int) -> None:
    jar = obtain(VERSION, locked_cache, small_registry.client()).jars[0]
    jar.write_bytes(jar.read_bytes()[:keep])
    with pytest.raises(LocalNeo4jError, match=rf"{jar} is not the jar that was locked for org.neo4j:neo4j:{VERSION}"):
        obtain(VERSION, locked_cache, small_registry.client())


def test_keeps_no_half_of_a_download(small_registry: SmallRegistry, locked_cache: Path) -> None:
    small_registry.cut_short = True
    with pytest.raises(RegistryError, match=f"Could not fetch {JAR_PATH}"):
        obtain(VERSION, locked_cache, small_registry.client())
    assert files_below(locked_cache / "neo4j" / "repository") == []
    small_registry.cut_short = False
    assert len(obtain(VERSION, locked_cache, small_registry.client()).jars) == 1


def test_gives_up_at_the_first_file_that_cannot_be_had(small_registry: SmallRegistry, tmp_path: Path) -> None:
    lock = cache_lock(VERSION, tmp_path / "neo4j")
    lock.parent.mkdir(parents=True)
    jars = [Jar("org.neo4j", f"part-{number}", VERSION, "", "0" * 64) for number in range(50)]
    lock.write_text(format_lock(jars, "for a test"))
    with pytest.raises(RegistryError, match=r"part-\d+"):
        obtain(VERSION, tmp_path, small_registry.client())
    assert len(small_registry.asked) <= 4


def test_refuses_another_jar_from_the_registry(small_registry: SmallRegistry, locked_cache: Path) -> None:
    small_registry.files[JAR_PATH] = b"something else"
    with pytest.raises(RegistryError, match=rf"neo4j-{VERSION}\.jar that is not the expected one"):
        obtain(VERSION, locked_cache, small_registry.client())
    assert files_below(locked_cache / "neo4j" / "repository") == []


def test_unreachable_registry_is_explained(locked_cache: Path) -> None:
    nowhere = Registry(f"http://user:secret@127.0.0.1:{any_free_port()}", attempts=2, pause=0.01)
    with pytest.raises(RegistryError) as caught:
        obtain(VERSION, locked_cache, nowhere)
    message = str(caught.value)
    assert JAR_PATH in message
    assert "MEMTRACE_TEST_NEO4J_URI" in message
    assert "--store" in message
    assert "\n" not in message
    assert "secret" not in message
    assert files_below(locked_cache / "neo4j" / "repository") == []


def test_a_version_without_lock_is_resolved_checked_and_locked(small_registry: SmallRegistry, tmp_path: Path) -> None:
    jar = small_jar()
    small_registry.files |= {
        POM_PATH: POM.encode(),
        f"{POM_PATH}.sha1": hashlib.sha1(POM.encode()).hexdigest().encode(),
        JAR_PATH: jar,
        f"{JAR_PATH}.sha1": b"0" * 40,
    }
    with pytest.raises(RegistryError, match=rf"neo4j-{VERSION}\.jar that is not the expected one"):
        obtain(VERSION, tmp_path, small_registry.client())
    small_registry.files[f"{JAR_PATH}.sha1"] = f"{hashlib.sha1(jar).hexdigest()}  neo4j.jar".encode()
    found = obtain(VERSION, tmp_path, small_registry.client())
    lock = read_lock(cache_lock(VERSION, tmp_path / "neo4j").read_text(), "lock")
    assert lock == (Jar("org.neo4j", "neo4j", VERSION, "", hashlib.sha256(jar).hexdigest()),)
    small_registry.files.clear()
    assert obtain(VERSION, tmp_path, small_registry.client()) == found


def test_says_which_files_the_registry_has_no_hash_for(small_registry: SmallRegistry, tmp_path: Path) -> None:
    small_registry.files |= {POM_PATH: POM.encode(), JAR_PATH: small_jar()}
    told: list[str] = []
    obtain(VERSION, tmp_path, small_registry.client(), lambda what, _done, _total: told.append(what))
    assert f"not checked, because the registry publishes no hash: {JAR_PATH}" in told


def test_a_version_that_does_not_exist(small_registry: SmallRegistry, tmp_path: Path) -> None:
    with pytest.raises(LocalNeo4jError, match=f"The registry has no Neo4j {VERSION}"):
        obtain(VERSION, tmp_path, small_registry.client())


@pytest.mark.parametrize("version", ["4.4.0", "5.25.1", "../x", "latest", ""])
def test_refuses_versions_that_cannot_be_started(version: str) -> None:
    with pytest.raises(LocalNeo4jError, match=r"not a version|too old"):
        obtain(version)


@pytest.mark.parametrize("version", ["5.26.31", "2026.09.0"])
def test_shipped_locks_name_the_server(version: str) -> None:
    text = (resources.files("api.local_servers.neo4j") / "locks" / f"{version}.txt").read_text()
    jars = read_lock(text, version)
    assert jars[0].path == f"org/neo4j/neo4j/{version}/neo4j-{version}.jar"
    assert len({jar.path for jar in jars}) == len(jars) > 200


def test_a_damaged_lock_is_named_with_its_line() -> None:
    with pytest.raises(LocalNeo4jError, match="that lock, line 2"):
        read_lock("# comment\nabc org.neo4j:neo4j:1\n", "that lock")
