"""A scripted model, settings that reach it, and a small trace with a known fault."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from attribution.llm.transport.cache import Cache
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.settings import LlmSettings
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.llm.story import Story, tell
from tests.llm_server import LlmServer, llm_server

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(scope="session")
def no_certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Don't read the machine's certificates, which takes longer than a test: the scripted server speaks plain HTTP."""
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, no_certificates: Path) -> None:
    """Remove settings of a model that whoever runs the tests may have."""
    for name in os.environ:
        if name.startswith(("MEMTRACE_LLM_", "OPENAI_", "SSL_CERT_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SSL_CERT_DIR", str(no_certificates))


@pytest.fixture
def server() -> Iterator[LlmServer]:
    """A server that says what the test scripts."""
    with llm_server() as running:
        yield running


class Clients:
    """Makes clients of the server, and closes them at the end of the test."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.opened: list[LlmClient] = []
        self.waits: list[float] = []

    def settings(self, **values: Any) -> LlmSettings:
        """Settings with short waits."""
        chosen: dict[str, Any] = {
            "base_url": self._url,
            "model": "scripted",
            "api_key": KEY,
            "input_price": 1.0,
            "output_price": 10.0,
            "backoff": 0.001,
            "retries": 2,
            "timeout": 20,
        }
        return LlmSettings.load(**chosen | values)

    def __call__(self, cache: Cache | None = None, **values: Any) -> LlmClient:
        """A client with some settings; it records how long it would wait, and does not wait."""
        client = LlmClient(self.settings(**values), cache, self._wait)
        self.opened.append(client)
        return client

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest_asyncio.fixture
async def clients(server: LlmServer) -> AsyncIterator[Clients]:
    """Clients of the scripted server."""
    made = Clients(server.url)
    yield made
    for client in made.opened:
        await client.__aexit__(None, None, None)


@pytest_asyncio.fixture(scope="session")
async def stories(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """A store for traces of tests."""
    folder: Path = tmp_path_factory.mktemp("llm")
    async with await open_database(f"sqlite:///{folder / 'test.db'}") as opened:
        yield opened


@pytest_asyncio.fixture
async def story(stories: Database, request: pytest.FixtureRequest) -> Story:
    """A trace whose update drops the month."""
    return await tell(stories.project(request.node.nodeid))
