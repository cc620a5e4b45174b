"""Servers to send work to."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.server.running import RunningServer, neo4j_place_of_server, place, server, sqlite_place_of_server

__all__ = ["neo4j_place_of_server", "place", "server", "sqlite_place_of_server"]


@pytest.fixture
def writer(server: RunningServer) -> Iterator[httpx.Client]:
    """A client that may ask for work."""
    with server.client("writer") as client:
        yield client


@pytest.fixture
def reader(server: RunningServer) -> Iterator[httpx.Client]:
    """A client that may only look."""
    with server.client("reader") as client:
        yield client
