"""Servers and browsers for the tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attribution.report.browser import browser
from tests.graphql.world import World, make_world
from tests.server.running import (
    RunningServer,
    neo4j_place_of_server,
    place,
    running,
    server,
    sqlite_place,
    sqlite_place_of_server,
)
from tests.web.team import Team, disputed, make_team

__all__ = ["browser", "neo4j_place_of_server", "place", "server", "sqlite_place_of_server"]


@pytest.fixture(scope="package")
def world(server: RunningServer) -> World:
    """The sample with verdicts, on each engine."""
    return make_world(server, f"{server.project}-shown")


@pytest.fixture(scope="module")
def lone(request: pytest.FixtureRequest, explorer: RunningServer) -> World:
    """The sample on SQLite alone; each module has its own store, because some tests change it."""
    return make_world(explorer, f"{explorer.project}-{request.module.__name__.rpartition('.')[2]}")


@pytest.fixture(scope="package")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the explorer."""
    folder = tmp_path_factory.mktemp("explorer")
    with running(sqlite_place(folder), folder, graphiql="true", rate_limit="1000000/minute") as started:
        yield started


@pytest.fixture(scope="package")
def shared(server: RunningServer) -> World:
    """The sample in a project with annotators, on each engine."""
    return make_world(server, f"{server.project}-team")


@pytest.fixture(scope="package")
def team(explorer: RunningServer) -> Team:
    """Two people who disagree on a case, on SQLite alone; Ada has a second case."""
    team = make_team(make_world(explorer, f"{explorer.project}-team"))
    disputed(team)
    return team
