"""The home folder of a local server: settings, password, and state between commands."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from api.local_servers.files import write_private
from api.local_servers.neo4j.errors import LocalNeo4jError
from store.runtime.private_files import make_folders

TRANSACTION_TIMEOUT = "10m"
"""The longest a transaction may take, as Neo4j's settings write it; no work of ours takes a minute."""

_FOLDERS = ("conf", "data", "logs", "run", "plugins", "import")


@dataclass(frozen=True, slots=True)
class State:
    """The content of `server.json`.

    Attributes:
        version: The Neo4j version whose data the home holds.
        port: The last Bolt port, None before the first start.
        http_port: The last HTTP port, None where HTTP is off.
        pid: The server's process id, None where it was stopped.
        created: When the process was created (seconds since the epoch, from the operating system). The time
            distinguishes the server from a later process with the same pid.
    """

    version: str
    port: int | None = None
    http_port: int | None = None
    pid: int | None = None
    created: float | None = None


def default_home() -> Path:
    """The home that is used where none is named: in the user's data folder."""
    return platformdirs.user_data_path("memtrace", appauthor=False) / "neo4j"


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder; `path` is absolute."""

    path: Path

    @property
    def lock_file(self) -> Path:
        """Held while a server is started or stopped."""
        return self.path / ".lock"

    @property
    def password_file(self) -> Path:
        """Holds the password of user `neo4j`, and nothing else."""
        return self.path / "password"

    @property
    def arguments_file(self) -> Path:
        """The file with the server's Java arguments. A process that was started with this file is the home's server."""
        return self.path / "run" / "server.args"

    @property
    def console_log(self) -> Path:
        """What the server's process printed since its last start."""
        return self.path / "logs" / "console.log"

    @property
    def _state_file(self) -> Path:
        return self.path / "server.json"

    def make(self) -> None:
        """Makes the folder, for its owner only.

        Raises:
            LocalNeo4jError: The folder holds something else, or can't be made.
        """
        try:
            make_folders(self.path)
            if not self._state_file.exists():
                strange = sorted(entry.name for entry in self.path.iterdir() if not entry.name.startswith("."))
                if strange:
                    raise LocalNeo4jError(
                        f"{self.path} is not the home of a local Neo4j server and not empty "
                        f"(it holds {strange[0]}); name another folder"
                    )
                self.path.chmod(0o700)
        except OSError as error:
            raise LocalNeo4jError(f"The home folder {self.path} can't be used: {error.strerror}") from error

    def fill(self) -> None:
        """Makes the folders that the server expects."""
        for name in _FOLDERS:
            (self.path / name).mkdir(exist_ok=True)

    def read_state(self) -> State | None:
        """The stored state; None if no server was ever started in the home.

        Raises:
            LocalNeo4jError: The state file is damaged.
        """
        try:
            text = self._state_file.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return State(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise LocalNeo4jError(
                f'{self._state_file} is damaged ({error}). Write {{"version": "..."}} into it, with the '
                "version of Neo4j that made the data, after making sure that no server of this home runs."
            ) from error

    def write_state(self, state: State) -> None:
        """Stores a state."""
        write_private(self._state_file, json.dumps(asdict(state), indent=2) + "\n")

    def password(self) -> str:
        """The password of user `neo4j`; a new password if the home has neither a password nor data.

        Raises:
            LocalNeo4jError: The password file is missing or empty, but the home has data.
        """
        try:
            password = self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            password = ""
        if password:
            return password
        if self.has_data():
            raise LocalNeo4jError(
                f"The password file {self.password_file} is missing or empty, but the data beside it "
                "need that password. Put the file back, or start with another home."
            )
        # Hexadecimal: a leading hyphen would be taken for an option by Neo4j's admin tool.
        password = secrets.token_hex(20)
        write_private(self.password_file, password + "\n")
        return password

    def has_data(self) -> bool:
        """Whether a server has run in this home; the initial password is fixed from then on."""
        return (self.path / "data" / "databases" / "system").exists()

    def write_settings(self, port: int, http_port: int | None, heap: str, page_cache: str) -> None:
        """Writes neo4j.conf; everything listens on this machine only.

        A transaction may take a quarter of the heap, and all transactions together 70 %.
        """
        heap_kib = int(heap[:-1]) * {"k": 1, "m": 1 << 10, "g": 1 << 20}[heap[-1].lower()]
        settings = {
            "server.bolt.listen_address": f"127.0.0.1:{port}",
            "server.bolt.advertised_address": f"127.0.0.1:{port}",
            "server.bolt.thread_pool_max_size": "64",
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "dbms.security.auth_enabled": "true",
            "dbms.usage_report.enabled": "false",
            "server.memory.pagecache.size": page_cache,
            "db.memory.transaction.max": f"{heap_kib // 4}k",
            "dbms.memory.transaction.total.max": f"{heap_kib * 7 // 10}k",
            "db.transaction.timeout": TRANSACTION_TIMEOUT,
            "db.tx_log.rotation.size": "16m",
            "db.tx_log.preallocate": "false",
        }
        if http_port is not None:
            settings["server.http.enabled"] = "true"
            settings["server.http.listen_address"] = f"127.0.0.1:{http_port}"
            settings["server.http.advertised_address"] = f"127.0.0.1:{http_port}"
        lines = ["# Written anew at every start.", *(f"{key}={value}" for key, value in settings.items())]
        (self.path / "conf" / "neo4j.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def log_tail(self, lines: int = 15) -> str:
        """The last lines that the server logged."""
        found: list[str] = []
        for path in (self.path / "logs" / "neo4j.log", self.console_log):
            if path.exists():
                found += path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
        return "\n".join(found)
