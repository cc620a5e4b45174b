"""Reads while Neo4j is away fail within seconds. A socket that nobody answers at stands for the server."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from api.auth.keys import make_key
from api.server import create_app
from schema.control import Role
from schema.errors import StoreError
from store.neo4j.database import Neo4jDatabase
from store.values.object_values import ObjectValues
from tests.server.inside import serving, settings_for

WAIT_SECONDS = 0.5
LONGEST_SECONDS = 10.0
"""Without a bound, a read took a minute."""


@contextmanager
def _silent() -> Iterator[int]:
    """The port of a server that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=100)) as listening:
        yield listening.getsockname()[1]


def _free_port() -> int:
    with _silent() as port:
        return port


def _database(port: int, folder: Path) -> Neo4jDatabase:
    return Neo4jDatabase(f"bolt://127.0.0.1:{port}", "neo4j", "secret", ObjectValues(folder.as_uri()))


@pytest.mark.parametrize("was_used", [False, True], ids=["at the first use", "later"])
@pytest.mark.parametrize("is_silent", [False, True], ids=["refused", "silent"])
async def test_a_read_fails_soon(tmp_path: Path, is_silent: bool, was_used: bool) -> None:
    with _silent() as port:
        async with _database(port if is_silent else _free_port(), tmp_path) as database:
            database._connection._usable = was_used
            database.bound_waits(WAIT_SECONDS)
            began = time.monotonic()
            with pytest.raises(StoreError, match="can't be reached"):
                await database.project("p").counts(["0" * 32])
            assert time.monotonic() - began < LONGEST_SECONDS


async def test_a_request_gets_503(tmp_path: Path) -> None:
    text, _ = make_key("p", "", Role.READER, "test", datetime.now(UTC))
    with _silent() as port:
        async with _database(port, tmp_path) as database:
            with serving(create_app(settings_for(tmp_path), database)) as url:
                headers = {"Authorization": f"Bearer {text}"}
                began = time.monotonic()
                async with httpx.AsyncClient(base_url=url, headers=headers, timeout=300) as client:
                    answer = await client.post("/graphql", json={"query": "{ projects { name } }"})
                assert answer.status_code == 503, answer.text
                assert time.monotonic() - began < LONGEST_SECONDS
