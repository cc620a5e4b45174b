"""The folder of a local NATS server: settings, password, streams, and the state between commands."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock

from api.local_servers.files import write_private
from api.local_servers.nats.errors import LocalNatsError
from store.runtime.private_files import make_folders

USER = "memtrace"
MAX_PAYLOAD_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class State:
    """The content of ``server.json``.

    Attributes:
        port: the last port for clients.
        http_port: the last port of the monitoring pages; None if they are off.
        pid: the server's process; None if it was stopped.
        created: when that process was created (seconds since the epoch, from the operating system). The time
            distinguishes the server from a later process with the same pid.
    """

    port: int
    http_port: int | None = None
    pid: int | None = None
    created: float | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """A server's folder; ``path`` is absolute."""

    path: Path

    @property
    def password_file(self) -> Path:
        """Holds the user's password, and nothing else."""
        return self.path / "password"

    @property
    def log(self) -> Path:
        """The server's log; each start appends to it."""
        return self.path / "nats.log"

    @property
    def settings(self) -> Path:
        """The server's settings, with the password."""
        return self.path / "nats.conf"

    @property
    def server_name(self) -> str:
        """The server's name, by which a command recognises this folder's server at a port."""
        return f"memtrace-{self.path.stat().st_ino:x}"

    @property
    def _state_file(self) -> Path:
        return self.path / "server.json"

    def make(self) -> None:
        """Make the folder, for its owner only.

        Raises:
            LocalNatsError: it holds something else, or can't be made.
        """
        try:
            make_folders(self.path)
            if not self._state_file.exists():
                strange = sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))
                if set(strange) - {self.password_file.name, self.settings.name}:
                    raise LocalNatsError(
                        f"{self.path} is not the folder of a local NATS server and not empty "
                        f"(it holds {strange[0]}); name another one"
                    )
                self.path.chmod(0o700)
        except OSError as error:
            raise LocalNatsError(f"The folder {self.path} can't be used: {error.strerror}") from error

    @contextmanager
    def sole(self) -> Iterator[None]:
        """Lock the folder against other commands that start or stop its server."""
        with filelock.FileLock(self.path / ".lock"):
            yield

    def read_state(self) -> State | None:
        """The stored state; None if no server was ever started in the folder.

        Raises:
            LocalNatsError: the state file is damaged.
        """
        try:
            return State(**json.loads(self._state_file.read_text("utf-8")))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, TypeError) as error:
            raise LocalNatsError(
                f"{self._state_file} is damaged ({error}). Delete it and the log beside it and start again, after "
                "making sure that no NATS server of this folder runs."
            ) from error

    def write_state(self, state: State) -> None:
        """Store a state."""
        write_private(self._state_file, json.dumps(asdict(state), indent=2) + "\n")

    def write_settings(self, state: State, store_bytes: int) -> None:
        """Write the settings. The server listens on this machine only, and syncs a message before acknowledging."""
        lines = [
            "# Written anew at every start.",
            f"server_name: {json.dumps(self.server_name)}",
            f'listen: "127.0.0.1:{state.port}"',
            *([f'http: "127.0.0.1:{state.http_port}"'] if state.http_port else []),
            f"max_payload: {MAX_PAYLOAD_BYTES}",
            f"authorization {{ user: {json.dumps(USER)}, password: {json.dumps(self._password())} }}",
            "jetstream {",
            f"  store_dir: {json.dumps(str(self.path / 'streams'))}",
            "  max_memory_store: 256MB",
            f"  max_file_store: {store_bytes}",
            "  sync_interval: always",
            "}",
        ]
        write_private(self.settings, "\n".join(lines) + "\n")

    def _password(self) -> str:
        password = self.password_file.read_text("utf-8").strip() if self.password_file.exists() else ""
        if not password:
            password = secrets.token_hex(20)
            write_private(self.password_file, password + "\n")
        return password
