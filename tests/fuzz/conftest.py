"""A server that holds the sample."""

from __future__ import annotations

import pytest

from tests.graphql.world import World, make_world
from tests.server.running import RunningServer, neo4j_place_of_server, place, server, sqlite_place_of_server

__all__ = ["neo4j_place_of_server", "place", "server", "sqlite_place_of_server"]


@pytest.fixture(scope="package")
def world(server: RunningServer) -> World:
    """The sample in the server's own project."""
    return make_world(server, server.project)
