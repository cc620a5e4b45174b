"""The recorder as it was, and servers to call."""

from __future__ import annotations

from collections.abc import Iterator

import memtrace
import pytest
from memtrace import context
from memtrace.exporters.memory import MemoryExporter

from tests.server.running import neo4j_place_of_server, place, server, sqlite_place_of_server

__all__ = ["neo4j_place_of_server", "place", "server", "sqlite_place_of_server"]


@pytest.fixture
def recorded() -> Iterator[MemoryExporter]:
    """Events of this test; the recorder must be faultless."""
    context.forget()
    before = memtrace.fault_counts()
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    yield exporter
    memtrace.configure(exporter=MemoryExporter())
    assert memtrace.fault_counts() == before
