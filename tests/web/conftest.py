"""A server with the explorer, and a browser to open it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attribution.report.browser import browser
from tests.server.running import RunningServer, running, sqlite_place

__all__ = ["browser"]


@pytest.fixture(scope="session")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the explorer."""
    folder = tmp_path_factory.mktemp("explorer")
    with running(sqlite_place(folder), folder, graphiql="true", rate_limit="1000000/minute") as started:
        yield started
