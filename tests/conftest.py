"""What tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import hypothesis
import pytest
import pytest_asyncio
from xdist.remote import Producer

from store.contract.protocol import Database
from store.neo4j.database import Neo4jDatabase
from store.open import Credentials, open_database
from tests.data import FULL
from tests.groups import VERSIONED, Groups, place_of
from tests.nats_server import nats
from tests.neo4j_server import (
    Neo4jServer,
    neo4j_distribution,
    neo4j_server,
    pytest_terminal_summary,
)
from tests.object_store import object_store
from tests.server.watchdog import new_findings

__all__ = ["nats", "neo4j_distribution", "neo4j_server", "object_store", "pytest_terminal_summary"]

SQLITE = pytest.param("sqlite_database", id="sqlite")
SQLITE_WITH_FILES = pytest.param("sqlite_files_database", id="sqlite-files")
NEO4J = pytest.param("neo4j_database", id="neo4j", marks=pytest.mark.neo4j)
_CONTRACT = "tests/contract/"


# How long an example takes depends on the machine, not on what is tested.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks."""
    for mark in (
        "neo4j: needs a Neo4j server",
        "once: is not worth its time on each version of Neo4j; all that tests.groups does not name has it",
        "values: also runs on SQLite with its values outside the file",
        "one_engine: what is tested comes before the store or beside it; runs on Neo4j too with MEMTRACE_TEST_FULL=1",
    ):
        config.addinivalue_line("markers", mark)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that selects the tests that depend on the version of Neo4j."""
    parser.addoption("--versioned", action="store_true", help="only what tests.groups names for each version of Neo4j")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules of tests that were not asked for are not even imported, because that takes longer than some tests."""
    if not config.getoption("versioned") or not collection_path.is_relative_to(config.rootpath):
        return None
    name = collection_path.relative_to(config.rootpath).as_posix() + ("/" if collection_path.is_dir() else "")
    return None if any(name.startswith(wanted) or wanted.startswith(name) for wanted in VERSIONED) else True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that has a database runs on each engine."""
    if "database" in metafunc.fixturenames:
        has_values = metafunc.definition.get_closest_marker("values") is not None
        engines = [SQLITE, SQLITE_WITH_FILES, NEO4J] if has_values else [SQLITE, NEO4J]
        metafunc.parametrize("database", engines, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need a server, leave out tests that one engine proves, and put long tests first."""
    for item in items:
        if "neo4j_server" in getattr(item, "fixturenames", ()):
            item.add_marker("neo4j")
        if not item.nodeid.startswith(VERSIONED):
            item.add_marker("once")
    if not FULL:
        _spare(config, items)
    items.sort(key=lambda item: place_of(item.nodeid))


def _spare(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what ``MEMTRACE_TEST_FULL=1`` does beside the rest.

    On Neo4j these are tests with the mark ``one_engine`` that run on another engine; and on a further version of it all
    but the first of the cases of a test of the contract.
    """
    elsewhere = {_function_of(item) for item in items if item.get_closest_marker("neo4j") is None}
    spared, seen = set(), set()
    for item in items:
        if item.get_closest_marker("neo4j") is None:
            continue
        function = _function_of(item)
        is_proved = function in elsewhere and item.get_closest_marker("one_engine") is not None
        is_a_further_case = config.getoption("versioned") and function in seen and function.startswith(_CONTRACT)
        if is_proved or is_a_further_case:
            spared.add(item)
        seen.add(function)
    config.hook.pytest_deselected(items=list(spared))
    items[:] = [item for item in items if item not in spared]


def _function_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


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
