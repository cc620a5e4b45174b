"""Replies that are kept, and what of a user's environment is not sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.cache import FileCache
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.errors import LlmError
from attribution.llm.transport.reply import Reply
from attribution.verdicts.usage import Usage
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import KEY, Clients
from tests.llm_server import (
    LlmServer,
    refuse,
    say,
)


def _talk() -> Conversation:
    return Conversation("You are asked.", "How warm is it?")


async def _complete(client: LlmClient, budget: LlmBudget | None = None) -> Reply:
    return await client.complete(_talk(), budget or client.case_budget())


def _damage(folder: Path) -> None:
    (file,) = [path for path in folder.rglob("*") if path.is_file()]
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes()[:-3])


@pytest.mark.parametrize("kind", ["memory", "files"])
async def test_a_reply_is_paid_for_once(clients: Clients, server: LlmServer, tmp_path: Path, kind: str) -> None:
    cache = MemoryCache() if kind == "memory" else FileCache(tmp_path / "replies")
    server.script(say("20 degrees", usage=(30, 5)))
    first, again = clients(cache), clients(cache if kind == "memory" else FileCache(tmp_path / "replies"))
    budget = again.case_budget()
    assert await _complete(first) == await _complete(again, budget)
    assert len(server.requests) == 1
    assert budget.spent == Usage(30, 5, 1, 80 / 1e6)
    assert again.run_budget.spent == Usage()


@pytest.mark.parametrize("change", [{"model": "another"}, {"temperature": 1.0}, {"output_tokens": 7}])
async def test_another_question_is_asked_again(clients: Clients, server: LlmServer, change: dict[str, Any]) -> None:
    cache = MemoryCache()
    server.script(say("20"), say("30"))
    await _complete(clients(cache))
    assert (await _complete(clients(cache, **change))).content == "30"


async def test_refusals_are_not_kept(clients: Clients, server: LlmServer) -> None:
    client = clients(MemoryCache())
    server.script(refuse("no"), say("20 degrees"))
    with pytest.raises(LlmError):
        await _complete(client)
    assert (await _complete(client)).content == "20 degrees"


async def test_a_damaged_file_counts_as_absent(clients: Clients, server: LlmServer, tmp_path: Path) -> None:
    server.script(say("20"), say("30"))
    await _complete(clients(FileCache(tmp_path)))
    _damage(tmp_path)
    assert (await _complete(clients(FileCache(tmp_path)))).content == "30"


async def test_another_servers_variables_are_not_sent(
    clients: Clients, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-of-this-user")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-this-user")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-this-user")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server.script(say("20"), say("30"))
    await _complete(clients())
    await _complete(clients(api_key=None))
    for request in server.requests:
        assert "of-this-user" not in str(request.headers)
    assert [request.headers["Authorization"] for request in server.requests] == [f"Bearer {KEY}", "Bearer none"]
