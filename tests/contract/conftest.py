"""Each test has its own project, so tests don't see each other. Deleting projects would double the time."""

from __future__ import annotations

from uuid import uuid4

import pytest

from store.contract.protocol import Database, GraphStore


@pytest.fixture
def project() -> str:
    """The name of a project that nobody has used."""
    return f"test-{uuid4().hex}"


@pytest.fixture
def store(database: Database, project: str) -> GraphStore:
    """The project's part of the database."""
    return database.project(project)
