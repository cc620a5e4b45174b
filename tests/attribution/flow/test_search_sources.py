"""What searches return, found from what the trace was told before."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from attribution.free_pass.search_sources import REPLIES, sources_returned
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from store.contract.protocol import Database
from tests.attribution.flow.test_holes import Agent, graph_of


async def test_the_texts_of_a_trace_are_compared_once(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Agent.of("sources", "My dog is called Rufus.")
    note = ("note", "The user has a dog called Rufus.", VariableKind.RESPONSE)
    story.step("note down", OperationKind.GENERATION, [story.evidence[0]], note)
    query = story.trace.variable("question", "What is the dog called?", kind=VariableKind.QUERY)
    found = ("found", "The user has a dog called Rufus.", VariableKind.RETRIEVAL_RESULT)
    story.step("search", OperationKind.RETRIEVAL, [query], found)
    graph = await graph_of(sqlite_database, story)
    assert await sources_returned(graph) == {REPLIES}

    async def read(_: TraceGraph, names: Iterable[str]) -> dict[str, str]:
        raise AssertionError(list(names))

    monkeypatch.setattr(TraceGraph, "texts", read)
    assert await sources_returned(graph) == {REPLIES}
    with pytest.raises(AssertionError):
        await sources_returned(await graph_of(sqlite_database, story))
