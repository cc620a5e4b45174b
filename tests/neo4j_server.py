"""A real Neo4j for tests: an existing one that the environment names, else a local one for the length of the run.

`tests/conftest.py` re-exports `neo4j_server` and `neo4j_distribution`.

Environment:
    MEMTRACE_TEST_NEO4J_URI: An existing server; with MEMTRACE_NEO4J_USER (default neo4j) and MEMTRACE_NEO4J_PASSWORD
        or MEMTRACE_NEO4J_PASSWORD_FILE.
    MEMTRACE_TEST_NEO4J_VERSION: The version of the local server, where none is named.
    MEMTRACE_REQUIRE_NEO4J: With 1, tests that need Neo4j fail rather than skip where none can be had.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import neo4j
import pytest

from tests.left_out import left_out

if TYPE_CHECKING:
    from api.local_servers.neo4j.distribution import Distribution

_HOW = "`make setup` installs its packages; MEMTRACE_TEST_NEO4J_URI names a server that runs already"


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """A server that answers."""

    uri: str
    user: str
    password: str = field(repr=False)
    version: str


def wanted_version() -> str | None:
    """The version that the environment asks for, None for the default one."""
    return os.environ.get("MEMTRACE_TEST_NEO4J_VERSION") or None


def existing_server() -> Neo4jServer | None:
    """The server that the environment names, asked for its version; None where it names none."""
    uri = os.environ.get("MEMTRACE_TEST_NEO4J_URI")
    if not uri:
        return None
    user = os.environ.get("MEMTRACE_NEO4J_USER") or "neo4j"
    password = os.environ.get("MEMTRACE_NEO4J_PASSWORD")
    if password is None:
        file = os.environ.get("MEMTRACE_NEO4J_PASSWORD_FILE")
        if not file:
            pytest.fail(
                "MEMTRACE_TEST_NEO4J_URI is set, but neither MEMTRACE_NEO4J_PASSWORD nor ..._FILE",
                pytrace=False,
            )
        password = Path(file).read_text(encoding="utf-8").strip()
    try:
        with neo4j.GraphDatabase.driver(uri, auth=(user, password)) as driver:
            version = driver.get_server_info().agent.removeprefix("Neo4j/")
    except (neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError) as error:
        pytest.fail(f"MEMTRACE_TEST_NEO4J_URI names {uri}, which can't be used: {error}", pytrace=False)
    return Neo4jServer(uri, user, password, version)


@pytest.fixture(scope="session")
def neo4j_distribution(request: pytest.FixtureRequest) -> Distribution:
    """The server's jars, fetched if they are not in the cache; skips the test if they are not available."""
    try:
        from api.local_servers.neo4j import DEFAULT_VERSION, LocalNeo4jError
    except ImportError as error:
        left_out("Neo4j", str(error), _HOW)
    from api.local_servers.neo4j.distribution import obtain

    try:
        return obtain(wanted_version() or DEFAULT_VERSION)
    except LocalNeo4jError as error:
        left_out("Neo4j", str(error), _HOW)


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server with authentication, one for the whole run. What is written stays: use a project of your own."""
    existing = existing_server()
    if existing is not None:
        yield existing
        return
    distribution: Distribution = request.getfixturevalue("neo4j_distribution")
    from api.local_servers.neo4j import LocalNeo4j

    home = tmp_path_factory.mktemp("neo4j")
    with LocalNeo4j(home, version=distribution.version, port=0).running(kill_on_exit=True) as server:
        yield Neo4jServer(server.uri, server.user, server.password, server.version)
    shutil.rmtree(home)
