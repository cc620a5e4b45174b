"""Embeddings: in batches, in order, once."""

from __future__ import annotations

import json

import pytest

from attribution.llm.transport.budget import Limits, LlmBudget
from attribution.llm.transport.errors import BudgetError, LlmError
from schema.errors import InputError
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import KEY, Clients
from tests.llm_server import Answer, LlmServer, fail, llm_server, vectors


async def test_vectors_come_in_the_order_of_the_texts(clients: Clients, server: LlmServer) -> None:
    server.script(vectors)
    client = clients(embedding_model="embedder", embedding_price=2.0)
    assert await client.embed(["one two", "three", "one two", ""]) == [[7.0, 1.0], [5.0, 0.0], [7.0, 1.0], [1.0, 1.0]]
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "embedder", "input": ["one two", "three", " "], "encoding_format": "float"}
    assert client.run_budget.spent.input_tokens == 13
    assert client.run_budget.spent.cost == pytest.approx(26 / 1e6)


async def test_many_texts_go_in_batches(clients: Clients, server: LlmServer) -> None:
    server.script(vectors, repeat=True)
    texts = ["x" * (n + 1) for n in range(150)]
    found = await clients(embedding_model="embedder").embed(texts)
    assert [vector[0] for vector in found] == [len(text) for text in texts]
    assert [len(request.body["input"]) for request in server.requests] == [64, 64, 22]


async def test_large_texts_make_smaller_batches_and_are_cut(clients: Clients, server: LlmServer) -> None:
    server.script(vectors, repeat=True)
    found = await clients(embedding_model="embedder").embed([letter * 60_000 for letter in "abc"])
    assert [vector[0] for vector in found] == [8_000] * 3
    assert len(server.requests) == 3


async def test_what_was_embedded_is_kept(clients: Clients, server: LlmServer) -> None:
    cache = MemoryCache()
    server.script(vectors, repeat=True)
    first = await clients(cache, embedding_model="embedder").embed(["one", "three"])
    again = await clients(cache, embedding_model="embedder").embed(["three", "one", "fifteen"])
    assert again[:2] == first[::-1]
    assert server.requests[1].body["input"] == ["fifteen"]


async def test_another_model_is_asked_again(clients: Clients, server: LlmServer) -> None:
    cache = MemoryCache()
    server.script(vectors, repeat=True)
    await clients(cache, embedding_model="embedder").embed(["one"])
    await clients(cache, embedding_model="another").embed(["one"])
    assert [request.body["model"] for request in server.requests] == ["embedder", "another"]


@pytest.mark.parametrize(
    "document",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]},
    ],
)
async def test_vectors_that_do_not_fit_are_refused(clients: Clients, server: LlmServer, document: object) -> None:
    server.script(Answer(json.dumps(document).encode()))
    with pytest.raises(LlmError, match="malformed"):
        await clients(embedding_model="embedder", retries=0).embed(["one", "two"])


async def test_fails_and_is_charged_as_replies_are(clients: Clients, server: LlmServer) -> None:
    server.script(fail(429, "slow down", retry_after="2"), vectors)
    client = clients(embedding_model="embedder")
    budget = client.case_budget()
    await client.embed(["one"], budget)
    assert clients.waits == [2.0]
    assert budget.spent.calls == 2
    with pytest.raises(BudgetError):
        await client.embed(["x" * 500], LlmBudget(Limits(tokens=400)))


async def test_without_a_model_it_says_so(clients: Clients) -> None:
    with pytest.raises(InputError, match="MEMTRACE_LLM_EMBEDDING_MODEL is not set"):
        await clients().embed(["one"])


async def test_another_server_never_sees_the_key(clients: Clients, server: LlmServer) -> None:
    with llm_server() as other:
        other.script(vectors)
        client = clients(embedding_model="embedder", embedding_base_url=other.url, embedding_api_key="its-own-key")
        await client.embed(["one"])
        assert server.requests == []
        assert other.requests[0].headers["Authorization"] == "Bearer its-own-key"
        assert KEY not in str(other.requests[0].headers)
