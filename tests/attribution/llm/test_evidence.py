"""Evidence that shares no word with the question is found by its meaning."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from attribution.free_pass.flow import FlowPass
from attribution.needed.messages import Mode
from attribution.trace.graph import TraceGraph
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.llm.conftest import Clients
from tests.llm_server import Answer, LlmServer, Request

MEANT = "Nuts make my throat swell."


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[GraphStore]:
    async with await open_database(f"sqlite:///{tmp_path / 'evidence.db'}") as database:
        yield database.project("rules")


def meanings(request: Request) -> Answer:
    """One direction for all that is about allergies, another for the rest."""
    data = [
        {"index": number, "object": "embedding", "embedding": [3.0, 0.1] if _allergic(text) else [0.1, 50.0]}
        for number, text in enumerate(request.body["input"])
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    document = {"object": "list", "data": data, "model": "embedder", "usage": usage}
    return Answer(json.dumps(document).encode())


def _allergic(text: str) -> bool:
    return text == MEANT or "allergic" in text


async def test_words_and_meaning_are_fused(store: GraphStore, clients: Clients, server: LlmServer) -> None:
    told = Story.of("rules", "The ferry was late.", MEANT, "She is fond of the ferry.")
    failure = told.ask("What is she allergic to?", "walnuts", "No idea.", [], evidence=None)
    await told.trace.write(store)
    graph = await TraceGraph.load(store, told.trace.trace.id)
    by_words = await FlowPass().retrieve(graph, failure, Mode.QUESTION)
    assert told.evidence[1].id not in by_words
    server.script(meanings, repeat=True)
    client = clients(embedding_model="embedder")
    both = await FlowPass(client).retrieve(graph, failure, Mode.QUESTION)
    assert both[0] == told.evidence[1].id
    again = len(server.requests)
    flow = FlowPass(client)
    await flow.retrieve(graph, failure, Mode.QUESTION)
    await flow.retrieve(graph, failure, Mode.GOLD)
    assert len(server.requests) <= again + 3
