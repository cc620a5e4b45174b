"""A real NATS server with JetStream on this machine: starting, finding again and stopping."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.local_servers.nats.errors import LocalNatsError
from api.local_servers.nats.folder import MAX_PAYLOAD_BYTES, USER, Folder, State
from api.local_servers.nats.process import server_binary, wait_until_ready
from api.local_servers.ports import any_free_port, first_free_port, problem_of_ports
from api.local_servers.process import DetachedProcess, end, find

DEFAULT_PORT = 4222
DEFAULT_STORE_BYTES = 8 << 30


@dataclass(frozen=True, slots=True)
class RunningNats:
    """A server that answers.

    Attributes:
        uri: where clients connect to.
        port: the port for clients, on 127.0.0.1.
        http_port: the port of its monitoring pages on 127.0.0.1; None if the pages are off.
        user: the user's name.
        password_file: the file that holds the user's password.
        pid: its process.
        log: its log file.
        started: whether this call started it; False if it ran already.
    """

    uri: str
    port: int
    http_port: int | None
    user: str
    password_file: Path
    pid: int
    log: Path
    started: bool


class LocalNats:
    """The NATS server of one folder."""

    def __init__(
        self,
        folder: Path | str,
        *,
        port: int | None = None,
        http_port: int | None = None,
        store_bytes: int = DEFAULT_STORE_BYTES,
    ) -> None:
        """Describe a server; nothing is started yet.

        Args:
            folder: the folder of its streams, settings, log and password; a missing folder is made.
            port: the port for clients. None for the last port or 4222 if free, else any free port; 0 the same without
                4222.
            http_port: the port of its monitoring pages, which need no password; 0 for any free port, None for no pages.
            store_bytes: the most bytes of all its streams on disk.

        Raises:
            LocalNatsError: an argument is not usable.
        """
        for number in (port, http_port):
            if number is not None and not 0 <= number <= 65535:
                raise LocalNatsError(f"{number} is not a port")
        if store_bytes < MAX_PAYLOAD_BYTES:
            raise LocalNatsError(f"{store_bytes} bytes are too few for streams; {MAX_PAYLOAD_BYTES} are the least")
        self.folder = Path(folder).expanduser().absolute()
        self._folder = Folder(self.folder)
        self._port = port
        self._http_port = http_port
        self._store_bytes = store_bytes
        self._child: DetachedProcess | None = None

    def start(self, timeout: float = 60.0, guarded: bool = False) -> RunningNats:
        """Start the server, unless it runs, and wait until it answers.

        Args:
            timeout: the most seconds to wait for an answer; the server loads its streams first.
            guarded: whether the server is killed when this process ends, however it ends.

        Raises:
            LocalNatsError: the server can't be started.
        """
        binary = server_binary()
        self._folder.make()
        with self._folder.sole():
            state = self._folder.read_state()
            process = find(state.pid, state.created) if state else None
            if process is not None and state is not None:
                wait_until_ready(self._folder.server_name, state.port, process, timeout)
                return self._describe(state, process.pid, started=False)
            self._reap()
            return self._launch(binary, state, timeout, guarded)

    def stop(self, kill: bool = False, timeout: float = 30.0) -> bool:
        """Stop the server and wait until it has ended. After ``timeout`` seconds it is killed.

        Args:
            kill: whether to kill the server at once, as a lost machine would.
            timeout: seconds.

        Returns:
            Whether the server ran.

        Raises:
            ProcessError: the process can't be ended.
        """
        if self._folder.read_state() is None:
            return False
        with self._folder.sole():
            state = self._folder.read_state()
            process = find(state.pid, state.created) if state else None
            if process is not None:
                end(process, timeout, kill)
            if state is not None:
                self._folder.write_state(State(state.port, state.http_port))
            self._reap()
        return process is not None

    @contextmanager
    def running(self) -> Iterator[RunningNats]:
        """The server for the length of a ``with`` block. A server that ran before keeps running."""
        server = self.start(guarded=True)
        try:
            yield server
        finally:
            if server.started:
                self.stop()

    def _launch(self, binary: Path, state: State | None, timeout: float, guarded: bool) -> RunningNats:
        state = self._choose_ports(state)
        self._folder.write_settings(state, self._store_bytes)
        # From here on the folder is known as a server's, whatever happens to this process.
        self._folder.write_state(state)
        with self._folder.log.open("ab") as log:
            began = log.tell()
            child = self._child = DetachedProcess([str(binary), "--config", str(self._folder.settings)], log)
        try:
            process = child.process
            self._folder.write_state(State(state.port, state.http_port, process.pid, process.create_time()))
            if guarded:
                child.guard()
            wait_until_ready(self._folder.server_name, state.port, process, timeout)
        except BaseException as error:
            child.drop()
            self._folder.write_state(state)
            if isinstance(error, LocalNatsError):
                raise LocalNatsError(f"{error} The end of its log:\n{_tail(self._folder.log, began)}") from None
            raise
        return self._describe(state, process.pid, started=True)

    def _choose_ports(self, state: State | None) -> State:
        problem = problem_of_ports(self._port, self._http_port)
        if problem is not None:
            raise LocalNatsError(problem)
        liked = [state.port if state else None, DEFAULT_PORT if self._port is None else None]
        chosen = self._port or first_free_port(liked, self._http_port)
        return State(chosen, any_free_port() if self._http_port == 0 else self._http_port)

    def _describe(self, state: State, pid: int, started: bool) -> RunningNats:
        return RunningNats(
            uri=f"nats://127.0.0.1:{state.port}",
            port=state.port,
            http_port=state.http_port,
            user=USER,
            password_file=self._folder.password_file,
            pid=pid,
            log=self._folder.log,
            started=started,
        )

    def _reap(self) -> None:
        if self._child is not None:
            self._child.wait()


def _tail(log: Path, began: int) -> str:
    with log.open("rb") as file:
        file.seek(began)
        return "\n".join(file.read(64 << 10).decode("utf-8", "replace").splitlines()[-15:])
