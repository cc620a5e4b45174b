"""A Neo4j for the benchmarks: named by the environment, or a local server with its data in the cache.

Environment: MEMTRACE_TEST_NEO4J_URI with MEMTRACE_NEO4J_USER (default neo4j) and MEMTRACE_NEO4J_PASSWORD or
MEMTRACE_NEO4J_PASSWORD_FILE; MEMTRACE_TEST_NEO4J_VERSION is the version of the local server.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from store.open import Credentials

if TYPE_CHECKING:
    from api.local_servers.neo4j import LocalNeo4j

_HEAP, _PAGE_CACHE = "2g", "2g"
_START_SECONDS = 600.0
"""After a crash a large store is recovered first."""


class ServerError(Exception):
    """No server is available; says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers.

    Attributes:
        version: as the server reports, or as requested at the start.
        ours: whether the data belong to the benchmarks alone, and may stay.
    """

    uri: str
    credentials: Credentials
    version: str
    ours: bool


class ServerSource:
    """Starts the server when it is first asked for, and stops it at the end."""

    def __init__(self, cache: Path) -> None:
        """Data of a local server lie under ``cache``."""
        self._cache = cache
        self._server: Server | None = None
        self._error: ServerError | None = None
        self._local: LocalNeo4j | None = None

    async def get(self, key: str) -> Server:
        """The server.

        Args:
            key: names the layout of the data that a local server keeps.

        Raises:
            ServerError: there is none.
        """
        if self._error is not None:
            raise self._error
        if self._server is None:
            try:
                self._server = await asyncio.to_thread(lambda: _existing() or self._start(key))
            except ServerError as error:
                self._error = error
                raise
        return self._server

    async def close(self) -> None:
        """Stop the local server in order, so that its data can be used again."""
        if self._local is not None:
            await asyncio.to_thread(self._local.stop)
            self._local = None

    def _start(self, key: str) -> Server:
        try:
            from api.local_servers.neo4j import DEFAULT_VERSION, LocalNeo4j, LocalNeo4jError
        except ImportError as error:
            raise ServerError(str(error)) from error
        version = os.environ.get("MEMTRACE_TEST_NEO4J_VERSION") or DEFAULT_VERSION
        try:
            local = LocalNeo4j(
                self._cache / f"neo4j-{version}-{key}", version=version, port=0, heap=_HEAP, page_cache=_PAGE_CACHE
            )
            server = local.start(_START_SECONDS, guarded=True)
        except LocalNeo4jError as error:
            reason, _, log = str(error).partition(" The end of its log:\n")
            print(log, file=sys.stderr)
            raise ServerError(reason) from error
        if server.started:
            self._local = local
        return Server(server.uri, Credentials(server.user, server.password), server.version, ours=True)


def _existing() -> Server | None:
    uri = os.environ.get("MEMTRACE_TEST_NEO4J_URI")
    if not uri:
        return None
    password = os.environ.get("MEMTRACE_NEO4J_PASSWORD")
    file = os.environ.get("MEMTRACE_NEO4J_PASSWORD_FILE")
    if password is None and file:
        try:
            password = Path(file).read_text("utf-8").strip()
        except OSError as error:
            raise ServerError(f"the password file {file} can't be read: {error.strerror}") from error
    user = os.environ.get("MEMTRACE_NEO4J_USER") or "neo4j"
    try:
        with neo4j.GraphDatabase.driver(uri, auth=(user, password or "")) as driver:
            version = driver.get_server_info().agent.removeprefix("Neo4j/")
    except (DriverError, Neo4jError, ValueError) as error:
        raise ServerError(f"MEMTRACE_TEST_NEO4J_URI names {uri}, which can't be used: {error}") from error
    return Server(uri, Credentials(user, password or ""), version, ours=False)
