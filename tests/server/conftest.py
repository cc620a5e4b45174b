"""Servers to call."""

from __future__ import annotations

import os

import pytest

from tests.server.running import neo4j_place_of_server, place, server, sqlite_place_of_server

__all__ = ["neo4j_place_of_server", "place", "server", "sqlite_place_of_server"]


@pytest.fixture
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the caller's settings."""
    for name in [name for name in os.environ if name.startswith("MEMTRACE_")]:
        monkeypatch.delenv(name)
