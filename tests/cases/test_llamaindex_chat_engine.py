"""A chat engine over an index: one trace, its own question, and the search that a rewritten question misled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import check_whole


def script(body: dict[str, Any]) -> str:
    said = " ".join(str(one["content"]) for one in body["messages"])
    if "standalone question" in said.lower():
        return "For how many hours does the stove burn?"
    return "Two hours." if "does it burn" in said else "A good choice."


@pytest.mark.parametrize("environment", params_of("langchain"))
async def test_the_search_for_a_rewritten_question_is_blamed(environment: str, tmp_path: Path) -> None:
    run = recorded("llamaindex_chat_engine.py", environment, script, tmp_path)
    check_whole(run)
    assert run.said == ["A good choice.", "Two hours."]
    (trace,) = {event["trace"] for event in run.events if event["type"] == "operationStarted"}
    assert all(event["name"].startswith("SimpleVectorStore") for event in run.of("trace") if event["trace"] == trace)
    found = await tried(run, tmp_path, "Two hours.", "Nine hours")
    assert found.said == ("RetrievalError", "Retrieval", "VectorIndexRetriever")


def price(body: dict[str, Any]) -> str:
    newest = str(body["messages"][-1]["content"])
    return "Eight crowns." if "ferry" in newest else "It travels free." if "bicycle" in newest else "Hello."


@pytest.mark.parametrize("environment", params_of("langchain"))
async def test_a_postprocessor_that_dropped_the_node_is_blamed(environment: str, tmp_path: Path) -> None:
    run = recorded("llamaindex_reranked.py", environment, price, tmp_path)
    check_whole(run)
    assert run.said == ["Hello.", "It travels free.", "Eight crowns."]
    found = await tried(run, tmp_path, "Eight crowns.", "Twelve crowns")
    assert found.said == ("RetrievalError", "Retrieval", "Oldest")
    assert found.question == "What does the ferry cost by the list of 2025?"
