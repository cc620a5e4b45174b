"""What tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio
from xdist.remote import Producer

from store.contract.protocol import Database
from store.neo4j.database import Neo4jDatabase
from store.open import Credentials, open_database
from tests.groups import VERSIONED, Groups, place_of
from tests.left_out import pytest_terminal_summary
from tests.nats_server import nats
from tests.neo4j_server import Neo4jServer, neo4j_distribution, neo4j_server
from tests.object_store import object_store
from tests.server.watchdog import new_findings
from tests.shared import pytest_sessionstart
from tests.suites import is_within
from tests.tiers import (
    is_left_out,
    pytest_addoption,
    pytest_configure,
    pytest_configure_node,
    pytest_ignore_collect,
)

__all__ = [
    "nats",
    "neo4j_distribution",
    "neo4j_server",
    "object_store",
    "pytest_addoption",
    "pytest_configure",
    "pytest_configure_node",
    "pytest_ignore_collect",
    "pytest_sessionstart",
    "pytest_terminal_summary",
]

SQLITE = pytest.param("sqlite_database", id="sqlite")
SQLITE_WITH_FILES = pytest.param("sqlite_files_database", id="sqlite-files")
NEO4J = pytest.param("neo4j_database", id="neo4j", marks=pytest.mark.neo4j)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that has a database runs on each engine."""
    if "database" in metafunc.fixturenames:
        has_values = metafunc.definition.get_closest_marker("values") is not None
        engines = [SQLITE, SQLITE_WITH_FILES, NEO4J] if has_values else [SQLITE, NEO4J]
        metafunc.parametrize("database", engines, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need a server, by their fixtures, leave out what is not asked for, put long ones first."""
    for item in items:
        if "neo4j_server" in getattr(item, "fixturenames", ()):
            item.add_marker("neo4j")
        if not is_within(item.nodeid, VERSIONED):
            item.add_marker("once")
    left = {item for item in items if is_left_out(item)}
    config.hook.pytest_deselected(items=list(left))
    items[:] = sorted((item for item in items if item not in left), key=lambda item: place_of(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Groups:
    """Tests that share slow fixtures run in one process."""
    return Groups(config, log)


@pytest.fixture(scope="session", autouse=True)
def kept_for_replays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What recordings keep for replays goes into a folder of the tests, not of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMTRACE_REPLAY", str(tmp_path_factory.mktemp("replay")))
        yield


@pytest.fixture(autouse=True)
def loops_are_free() -> Iterator[None]:
    """Fail if a server's event loop was blocked for too long during this test, or by work that it left behind."""
    yield
    found = new_findings()
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.fixture(scope="session")
def database(request: pytest.FixtureRequest) -> Database:
    """An engine. What is written stays: use a project of your own."""
    return cast(Database, request.getfixturevalue(request.param))


@pytest_asyncio.fixture(scope="session")
async def neo4j_database(
    neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Neo4jDatabase]:
    """A real Neo4j with its layout."""
    values = (tmp_path_factory.mktemp("neo4j") / "values").as_uri()
    credentials = Credentials(neo4j_server.user, neo4j_server.password)
    async with await open_database(neo4j_server.uri, values, credentials) as opened:
        assert isinstance(opened, Neo4jDatabase)
        await opened.migrate()
        yield opened


@pytest_asyncio.fixture(scope="session")
async def sqlite_database(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """A SQLite file that holds its values."""
    async with await open_database(_uri(tmp_path_factory.mktemp("sqlite"))) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session")
async def sqlite_files_database(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """A SQLite file with its values in a folder."""
    folder = tmp_path_factory.mktemp("sqlite-files")
    async with await open_database(_uri(folder), (folder / "values").as_uri()) as opened:
        yield opened


def _uri(folder: Path) -> str:
    return f"sqlite:///{folder / 'test.db'}"
