"""The status of a local server."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that answers.

    Attributes:
        uri: Where drivers connect to.
        port: The Bolt port, on 127.0.0.1.
        user: The user's name.
        password: The user's password.
        version: Neo4j's version.
        home: The server's home folder.
        password_file: The file that holds the password.
        pid: The server's process.
        http_port: The port of Neo4j's own web pages on 127.0.0.1; None if the pages are off.
        started: Whether this call started it; False if it ran already.
    """

    uri: str
    port: int
    user: str
    password: str = field(repr=False)
    version: str
    home: Path
    password_file: Path
    pid: int
    http_port: int | None
    started: bool


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The status of a home's server, without a request to the server.

    Attributes:
        running: Whether its process runs.
        crashed: Whether the server ended without being stopped.
        home: The home folder.
        version: The version of the home's data; None if no server was ever started in the home.
        uri: The address of a running server; else None.
        http_port: The port of a running server's web pages; None if the pages are off.
        pid: The process id of a running server; else None.
        memory: The resident memory of a running server in bytes; else None.
        started_at: The start time of a running server (UTC); else None.
        password_file: The file of the server's password.
    """

    running: bool
    crashed: bool
    home: Path
    version: str | None
    uri: str | None
    http_port: int | None
    pid: int | None
    memory: int | None
    started_at: datetime | None
    password_file: Path
