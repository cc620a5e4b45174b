"""A model server, and a store for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from store.contract.protocol import GraphStore
from store.open import open_database
from tests.llm_server import LlmServer
from tests.optimization.harness.model import model


@pytest.fixture
def llm() -> Iterator[LlmServer]:
    """The scripted model."""
    with model() as server:
        yield server


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[GraphStore]:
    """An empty store."""
    async with await open_database(f"sqlite:///{tmp_path}/graph.db") as database:
        yield database.project("default")
