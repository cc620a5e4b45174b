"""Each test has a project of its own, so that tests don't see each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from store.protocol import Database, GraphStore


@pytest.fixture
def project() -> str:
    """The name of a project that nobody has used."""
    return f"test-{uuid4().hex}"


@pytest_asyncio.fixture
async def store(database: Database, project: str) -> AsyncIterator[GraphStore]:
    """The project's part of the database; its traces are deleted afterwards."""
    store = database.project(project)
    yield store
    while traces := (await store.traces()).items:
        for trace in traces:
            await store.delete_trace(trace.id)
