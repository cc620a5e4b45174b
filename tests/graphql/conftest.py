"""A server with the sample."""

from __future__ import annotations

import pytest

from tests.graphql.changing import verdicts, withdraw
from tests.graphql.world import World, make_world
from tests.server.running import RunningServer, neo4j_place_of_server, place, server, sqlite_place_of_server

__all__ = ["neo4j_place_of_server", "place", "server", "sqlite_place_of_server"]


@pytest.fixture(scope="package")
def world(server: RunningServer) -> World:
    """The sample with verdicts, in the server's own project."""
    return make_world(server, server.project)


@pytest.fixture
def nobody_has_judged(world: World) -> None:
    """Verdicts of other modules on the shared world's failure, such as documents of docs/graphql.md, are gone."""
    for verdict in verdicts(world, world.ids["failure"]):
        if verdict["method"] == "human":
            assert withdraw(world, verdict["id"], "admin")["__typename"] == "VerdictWithdrawn"
