"""`memtrace serve` as a process of its own, for tests of any door.

A `conftest.py` beside the tests re-exports the fixtures `server`, `place`, `sqlite_place_of_server` and
`neo4j_place_of_server`; a test that has a `server` then runs on each engine. What is written to Neo4j stays: use
`server.project`, which is new in each run.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import pytest
import structlog
from typer.testing import CliRunner

from api.auth.keys import make_key
from api.cli.main import command_line
from api.settings import Settings
from api.settings.loading import load_settings
from schema.control import Role
from store.contract.protocol import Database
from store.open import Credentials, open_database
from tests.neo4j_server import Neo4jServer
from tests.server.watchdog import found_in

ROOT = Path(__file__).parents[2]
START_SECONDS = 300

# The tests may run with interrupts ignored, as in the background of a shell; processes inherit that.
_PROGRAM = """
import runpy, signal
from tests import stepped_clock
stepped_clock.install()
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("api.cli.main", run_name="__main__", alter_sys=True)
"""

_WATCHED = "import sys; from tests.server.watchdog import watch; watch(sys.argv.pop(1))" + _PROGRAM


@cache
def certificates() -> ssl.SSLContext:
    """The authorities that clients trust, read once because that takes ten times as long as a request."""
    return httpx.create_ssl_context()


@dataclass(frozen=True)
class Place:
    """A store, and what the environment must say to reach it."""

    store: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def variables(self, **settings: object) -> dict[str, str]:
        """The environment of a process that works on the store; of the caller's own only what is not MemTrace's."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
        said = {f"MEMTRACE_{name.upper()}": str(value) for name, value in settings.items()}
        return own | {"PYTHONPATH": str(ROOT), "MEMTRACE_STORE": self.store} | dict(self.environment) | said

    def settings(self, **settings: Any) -> Settings:
        """Settings for opening the store in this process."""
        own = {name.removeprefix("MEMTRACE_").lower(): value for name, value in self.environment.items()}
        return load_settings(None, {"store": self.store} | own | settings)

    def memtrace(self, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
        """Run a command of the command line to its end."""
        return subprocess.run(
            command(*arguments),
            env=self.variables(**settings),
            capture_output=True,
            text=True,
            check=False,
        )

    def here(self, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
        """Run a command to its end in this process, which saves the second that a start takes; see ``memtrace``."""
        said: dict[str, str | None] = {name: None for name in os.environ if name.startswith("MEMTRACE_")}
        said.update(self.variables(**settings))
        was_configured, logging = structlog.is_configured(), structlog.get_config()
        try:
            ran = CliRunner().invoke(command_line(), arguments, env=said)
        finally:
            structlog.reset_defaults()
            if was_configured:
                structlog.configure(**logging)
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return subprocess.CompletedProcess(arguments, ran.exit_code, ran.stdout, ran.stderr)

    async def opened(self) -> Database:
        """The store, opened in this process."""
        user, password = (self.environment.get(f"MEMTRACE_NEO4J_{name}") for name in ("USER", "PASSWORD"))
        credentials = Credentials(user or "neo4j", password) if password else None
        return await open_database(self.store, self.environment.get("MEMTRACE_VALUES"), credentials)

    def make_key(self, role: str = "reader", project: str = "default") -> str:
        """A new key, made in this process: a command would take a second of its own for each."""
        text, kept = make_key(project, "", Role(role), "test", datetime.now(UTC))

        async def keep() -> None:
            async with await self.opened() as opened:
                await opened.records(project).add_key(kept)

        # In a thread, for the caller may be in an event loop.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, keep()).result()
        return text


class RunningServer:
    """A server that listens.

    Attributes:
        url: the base URL, without a slash at its end.
        project: a project that nobody else uses, the only one whose jobs it runs unless ``job_projects`` says more.
        process: the server's.
        held: what blocked its event loop for too long; if there is anything, the test fails, see tests/conftest.py.
    """

    def __init__(self, place: Place, folder: Path, settings: Mapping[str, object]) -> None:
        self.place = place
        self.folder = folder
        self.project = f"server-{token_hex(4)}"
        self._keys: dict[tuple[str, str], str] = {}
        self._log = folder / f"server-{token_hex(4)}.log"
        self.held = found_in(self._log.with_suffix(".held"))
        self._said: list[str] = []
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _WATCHED, str(self.held.path), "serve", "--port", "0"],
                # Servers of other tests may share the store: each runs the jobs of its own project only.
                env=place.variables(**({"job_projects": self.project} | dict(settings))),
                stdout=log,
                stderr=subprocess.PIPE,
                text=True,
            )
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        self.url = self._await_url()
        watchdog.cancel()
        # A process that writes to a pipe that nobody reads blocks when it is full.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def key(self, role: str = "reader", project: str | None = None) -> str:
        """A key for a project, by default the server's own project. A key is made once for each role and project."""
        wanted = (role, project or self.project)
        if wanted not in self._keys:
            self._keys[wanted] = self.place.make_key(*wanted)
        return self._keys[wanted]

    def headers(self, role: str = "reader", project: str | None = None) -> dict[str, str]:
        """Headers of a request with such a key."""
        return {"Authorization": f"Bearer {self.key(role, project)}"}

    def client(self, role: str | None = "reader", project: str | None = None) -> httpx.Client:
        """A client with such a key; without any where the role is None."""
        headers = self.headers(role, project) if role else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=300, verify=certificates())

    def async_client(self, role: str | None = "reader", project: str | None = None) -> httpx.AsyncClient:
        """An asynchronous client; see ``client``."""
        headers = self.headers(role, project) if role else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=300, verify=certificates())

    @property
    def log_text(self) -> str:
        """All that the server has logged."""
        return self._log.read_text("utf-8")

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines of the log, of a server that logs in JSON."""
        return [json.loads(line) for line in self.log_text.splitlines()]

    def await_log(self, text: str) -> None:
        """Wait until the log says something."""
        deadline = time.monotonic() + START_SECONDS
        while text not in self.log_text:
            assert time.monotonic() < deadline, self.log_text
            time.sleep(0.01)

    @property
    def said(self) -> str:
        """The server's standard error after the line with its address."""
        return "".join(self._said)

    def stop(self) -> int:
        """Tell it to stop in order; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """End it as a lost machine would."""
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Wait until it has ended; its exit code."""
        code = self.process.wait(START_SECONDS)
        self._reader.join()
        return code

    def _await_url(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "listens on " in line:
                return line.rpartition(" ")[2].strip()
            self._said.append(line)
        pytest.fail(f"the server ended with {self.process.wait()}: {''.join(self._said)}\n{self.log_text}")

    def _read(self) -> None:
        assert self.process.stderr is not None
        self._said.extend(self.process.stderr)
        self.process.stderr.close()


def command(*arguments: str) -> list[str]:
    """The command line, as it is installed but with this interpreter."""
    return [sys.executable, "-c", _PROGRAM, *arguments]


@contextmanager
def running(place: Place, folder: Path, **settings: object) -> Iterator[RunningServer]:
    """A server on a free port, stopped at the end.

    Args:
        place: its store.
        folder: for its log.
        settings: by the names of ``api.settings``; they go into its environment.
    """
    server = RunningServer(place, folder, settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
    if held := server.held.new():
        pytest.fail("\n".join(held), pytrace=False)


def sqlite_place(folder: Path) -> Place:
    """A SQLite file that does not exist yet."""
    return Place(f"sqlite:///{folder / 'server.db'}")


def neo4j_place(server: Neo4jServer, folder: Path) -> Place:
    """A Neo4j server, with values in a folder."""
    return Place(
        server.uri,
        {
            "MEMTRACE_NEO4J_USER": server.user,
            "MEMTRACE_NEO4J_PASSWORD": server.password,
            "MEMTRACE_VALUES": (folder / "values").as_uri(),
        },
    )


@pytest.fixture(scope="session")
def sqlite_place_of_server(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The store of ``server`` in SQLite."""
    return sqlite_place(tmp_path_factory.mktemp("sqlite-server"))


@pytest.fixture(scope="session")
def neo4j_place_of_server(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The store of ``server`` in Neo4j, with its layout."""
    place = neo4j_place(neo4j_server, tmp_path_factory.mktemp("neo4j-server"))
    done = place.here("migrate")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(
    scope="session",
    params=[
        pytest.param("sqlite_place_of_server", id="sqlite"),
        pytest.param("neo4j_place_of_server", id="neo4j", marks=pytest.mark.neo4j),
    ],
)
def place(request: pytest.FixtureRequest) -> Place:
    """A store of each engine."""
    found: Place = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="package")
def server(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on each engine, for all tests of a folder: idle servers cost time, too."""
    # No test depends on how busy the machine is: what a deadline does is tested with servers of their own.
    patient = {"rate_limit": "1000000/minute", "request_seconds": 600}
    with running(place, tmp_path_factory.mktemp("server"), **patient) as started:
        yield started
