"""A recorder that keeps its events in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator

import memtrace
import pytest
from memtrace import context, events
from memtrace.exporters.memory import MemoryExporter

from tests.sdk.graph import check


@pytest.fixture
def recorded() -> Iterator[MemoryExporter]:
    """Events of this test; when it ends they must be valid, whole and without a cycle, and the recorder faultless."""
    context.forget()
    before = memtrace.fault_counts()
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    yield exporter
    memtrace.configure(exporter=MemoryExporter())
    for event in exporter.events:
        events.decode(json.dumps(event))
    check(exporter.events)
    assert memtrace.fault_counts() == before
