"""A real Neo4j Community server on this machine, from packages alone: starting, status and stopping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import filelock
import psutil

from api.local_servers.neo4j.distribution import DEFAULT_VERSION, Progress, check_version, obtain
from api.local_servers.neo4j.errors import LocalNeo4jError
from api.local_servers.neo4j.home import Home, State, default_home
from api.local_servers.neo4j.java import launch, set_initial_password
from api.local_servers.neo4j.ready import explain, wait_until_ready
from api.local_servers.neo4j.registry import Registry
from api.local_servers.neo4j.status import RunningServer, ServerStatus
from api.local_servers.ports import first_free_port, problem_of_ports
from api.local_servers.process import DetachedProcess, find, stop

USER = "neo4j"
DEFAULT_PORT = 7687
DEFAULT_HEAP = "1g"
DEFAULT_PAGE_CACHE = "256m"
_KILL_TIMEOUT = 20.0


class LocalNeo4j:
    """The Neo4j server of one home folder."""

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        version: str | None = None,
        port: int | None = None,
        http_port: int | None = None,
        heap: str = DEFAULT_HEAP,
        page_cache: str = DEFAULT_PAGE_CACHE,
        cache: Path | None = None,
        registry: Registry | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Describes a server; nothing is fetched or started yet.

        Args:
            home: The folder of its data, logs and password; None for the user's data folder.
            version: Neo4j's version; None for the version of the home's data, else `DEFAULT_VERSION`.
            port: The Bolt port. 0 for any free port; None for the last port or 7687 if free, else any free port.
            http_port: The port of Neo4j's own web pages; None for none.
            heap: Java's heap, such as `1g`.
            page_cache: Neo4j's page cache, such as `256m`.
            cache: The folder of fetched jars; None for the default folder.
            registry: The registry of jars; None for the default registry.
            progress: Called with the stage, the done items and all items (0 if unknown).

        Raises:
            LocalNeo4jError: An argument is not usable.
        """
        if version is not None:
            check_version(version)
        for name, size in (("heap", heap), ("page cache", page_cache)):
            if not re.fullmatch(r"[1-9][0-9]*[kmgKMG]", size):
                raise LocalNeo4jError(f"'{size}' is not a size of the {name}; give one such as 512m or 1g")
        for number in (port, http_port):
            if number is not None and not 0 <= number <= 65535:
                raise LocalNeo4jError(f"{number} is not a port")
        self._home = Home((Path(home).expanduser() if home is not None else default_home()).absolute())
        self._version = version
        self._port = port
        self._http_port = http_port
        self._heap = heap
        self._page_cache = page_cache
        self._cache = cache
        self._registry = registry
        self._progress = progress
        self._child: DetachedProcess | None = None

    def start(self, timeout: float = 120.0, guarded: bool = False) -> RunningServer:
        """Starts the server, unless it runs, and waits until it answers.

        Args:
            timeout: Seconds to wait for an answer at most.
            guarded: Whether the server is killed when this process ends, however it ends.

        Raises:
            LocalNeo4jError: It can't be fetched or started, or the home is of another version.
        """
        self._home.make()
        with self._sole():
            state = self._home.read_state()
            version = self._choose_version(state)
            process = self._find(state)
            if process is not None and state is not None:
                server = self._describe(state, process.pid, started=False)
                wait_until_ready(server.port, USER, server.password, lambda: self._gone(state), timeout)
                return server
            return self._launch(version, state, timeout, guarded)

    def stop(self, kill: bool = False, timeout: float = 60.0) -> bool:
        """Stops the server and waits until it is down.

        Args:
            kill: Whether to kill the server at once; the next start then recovers from its logs.
            timeout: Seconds to wait at most for a clean stop.

        Returns:
            Whether it ran.

        Raises:
            LocalNeo4jError: It still runs after `timeout`.
        """
        if self._home.read_state() is None:
            return False
        with self._sole():
            state = self._home.read_state()
            process = self._find(state)
            if process is not None:
                # An orderly stop closes the store first (about 10 s).
                seconds = _KILL_TIMEOUT if kill else timeout
                if not stop(process, seconds, kill):
                    raise LocalNeo4jError(
                        f"The server (process {process.pid}) is still stopping after {seconds:.0f} s; "
                        "wait, or end it at once with stop --kill"
                    )
            if state is not None:
                self._home.write_state(replace(state, pid=None, created=None))
            if self._child is not None:
                self._child.wait()
        return process is not None

    def status(self) -> ServerStatus:
        """The status of the server, without starting, stopping or writing anything."""
        state = self._home.read_state()
        process = self._find(state)
        running = process is not None and state is not None
        return ServerStatus(
            running=running,
            crashed=not running and state is not None and state.pid is not None,
            home=self._home.path,
            version=state.version if state else None,
            uri=_uri(state.port) if running and state and state.port else None,
            http_port=state.http_port if running and state else None,
            pid=process.pid if process else None,
            memory=process.memory_info().rss if process else None,
            started_at=datetime.fromtimestamp(process.create_time(), UTC) if process else None,
            password_file=self._home.password_file,
        )

    @contextmanager
    def running(self, kill_on_exit: bool = False, timeout: float = 120.0) -> Iterator[RunningServer]:
        """The server for the length of a `with` block. A server that ran before keeps running.

        Args:
            kill_on_exit: Kill the server at the end instead of the slow clean stop, even if this process is killed
                first. For data that are thrown away.
            timeout: Seconds to wait for its first answer at most.
        """
        server = self.start(timeout, guarded=kill_on_exit)
        try:
            yield server
        finally:
            if server.started:
                self.stop(kill=kill_on_exit)

    @contextmanager
    def _sole(self) -> Iterator[None]:
        lock = filelock.FileLock(self._home.lock_file)
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            if self._progress:
                self._progress("waiting for another process that starts or stops this server", 0, 0)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _choose_version(self, state: State | None) -> str:
        if state is None or not self._home.has_data():
            return self._version or DEFAULT_VERSION
        if self._version not in (None, state.version):
            raise LocalNeo4jError(
                f"The home {self._home.path} holds the data of Neo4j {state.version}, not {self._version}. "
                f"Start it with --version {state.version}, or name another folder with --home."
            )
        return state.version

    def _launch(self, version: str, state: State | None, timeout: float, guarded: bool) -> RunningServer:
        distribution = obtain(version, self._cache, self._registry, self._progress)
        port, http_port = self._choose_ports(state)
        self._home.fill()
        self._home.write_settings(port, http_port, self._heap, self._page_cache)
        # From here on the folder is known as a home, whatever happens to this process.
        state = State(version, port, http_port)
        self._home.write_state(state)
        password = self._home.password()
        if self._progress:
            self._progress(f"starting Neo4j {version}", 0, 0)
        if not self._home.has_data():
            set_initial_password(distribution, self._home, password)
        child = self._child = launch(distribution, self._home, self._heap)
        try:
            process = child.process
            state = replace(state, pid=process.pid, created=process.create_time())
            self._home.write_state(state)
            if guarded:
                child.guard()
            server = self._describe(state, process.pid, started=True)
            wait_until_ready(port, USER, password, lambda: explain(child.exit_code), timeout)
        except BaseException as error:
            child.drop()
            self._home.write_state(replace(state, pid=None, created=None))
            if isinstance(error, LocalNeo4jError):
                raise LocalNeo4jError(f"{error} The end of its log:\n{self._home.log_tail()}") from None
            raise
        return server

    def _choose_ports(self, state: State | None) -> tuple[int, int | None]:
        problem = problem_of_ports(self._port, self._http_port)
        if problem is not None:
            raise LocalNeo4jError(problem)
        if self._port:
            return self._port, self._http_port
        liked = [state.port if state else None, DEFAULT_PORT] if self._port is None else []
        return first_free_port(liked, self._http_port), self._http_port

    def _describe(self, state: State, pid: int, started: bool) -> RunningServer:
        if state.port is None:
            raise LocalNeo4jError(f"The home {self._home.path} does not say at which port its server listens.")
        return RunningServer(
            uri=_uri(state.port),
            port=state.port,
            user=USER,
            password=self._home.password(),
            version=state.version,
            home=self._home.path,
            password_file=self._home.password_file,
            pid=pid,
            http_port=state.http_port,
            started=started,
        )

    def _gone(self, state: State) -> str | None:
        return None if self._find(state) else "while it was starting"

    def _find(self, state: State | None) -> psutil.Process | None:
        return find(state.pid, state.created, f"@{self._home.arguments_file}") if state else None


def _uri(port: int) -> str:
    return f"neo4j://127.0.0.1:{port}"
