"""What tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from store.neo4j.database import Neo4jDatabase
from store.open import Credentials, open_database
from store.protocol import Database
from tests.neo4j_server import (
    Neo4jServer,
    neo4j_distribution,
    neo4j_server,
    pytest_terminal_summary,
)
from tests.object_store import object_store

__all__ = ["neo4j_distribution", "neo4j_server", "object_store", "pytest_terminal_summary"]


@pytest_asyncio.fixture(scope="session")
async def neo4j_database(
    neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Neo4jDatabase]:
    """A real Neo4j with its layout."""
    async with await _open_neo4j(neo4j_server, tmp_path_factory.mktemp("neo4j")) as opened:
        yield opened


async def _open_neo4j(server: Neo4jServer, folder: Path) -> Neo4jDatabase:
    values = (folder / "values").as_uri()
    opened = await open_database(server.uri, values, Credentials(server.user, server.password))
    assert isinstance(opened, Neo4jDatabase)
    await opened.migrate()
    return opened


@pytest_asyncio.fixture(scope="session", params=["sqlite", "sqlite-files", "neo4j"])
async def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """Each engine with an empty layout."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    values = (folder / "values").as_uri()
    if request.param == "neo4j":
        async with await _open_neo4j(request.getfixturevalue("neo4j_server"), folder) as server:
            yield server
        return
    outside = values if request.param == "sqlite-files" else None
    async with await open_database(f"sqlite:///{folder / 'test.db'}", outside) as opened:
        yield opened
