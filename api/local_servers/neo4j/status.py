"""What there is to know of a local server."""

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
        http_port: The port of Neo4j's own web pages on 127.0.0.1, None where they are off.
        started: Whether this call started it; False where it ran already.
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
    """What is known of a home's server without asking it.

    Attributes:
        running: Whether its process runs.
        crashed: Whether it is gone without having been stopped.
        home: The home folder.
        version: The version whose data the home holds, None for a home that was never started.
        uri: Where the server listens, None where it doesn't run.
        http_port: The port of Neo4j's own web pages, None where they are off or the server doesn't run.
        pid: Its process, None where it doesn't run.
        memory: Its resident memory in bytes, None where it doesn't run.
        started_at: When its process was started (UTC), None where it doesn't run.
        password_file: Where its password is kept.
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
