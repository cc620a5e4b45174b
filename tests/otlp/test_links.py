"""Edges between a conversation's spans: an answer derives from its question's past, and from nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_asyncio

from ingest.otlp.media_types import PROTOBUF
from ingest.otlp.rules import AROUND, EQUAL, LINKED, PART, SAME_ID
from tests.otlp.conftest import Takes
from tests.otlp.spans import ASKED, BO, CHANGED, REX, TOLD, Sent, chat, conversation, memory, protobuf

_SPANS = {span.word: span for span in conversation()}


@pytest_asyncio.fixture(scope="module")
async def graph(takes: Takes) -> dict[str, Any]:
    return await takes.graph([(protobuf(conversation()), "application/x-protobuf")], "agent of Ada")


def _past(graph: dict[str, Any], start: str) -> set[str]:
    """The values of a variable's causal past."""
    level, found = {f"variables:{start}#0"}, set()
    while level:
        found |= level
        level = {one["source"] for one in graph["derivations"].values() if one["target"] in level} - found
    return {graph["variables"][one]["value"] for one in found}


def _edges(graph: dict[str, Any]) -> set[tuple[str, str, str, str | None]]:
    short = {
        f"variables:{span.variable(side, place)}#0": f"{span.word} {side} {place}"
        for span in _SPANS.values()
        for side in ("input", "output")
        for place in range(3)
    }
    edges = graph["derivations"].values()
    return {(short[one["source"]], short[one["target"]], one["kind"], one["comment"]) for one in edges}


def test_the_edges_of_a_conversation_are_exactly_these(graph: dict[str, Any]) -> None:
    own = {
        ("t1-agent input 0", "t1-agent output 0"),
        ("t1-chat input 0", "t1-chat output 0"),
        ("t2-agent input 0", "t2-agent output 0"),
        ("t2-chat input 0", "t2-chat output 0"),
        ("t3-agent input 0", "t3-agent output 0"),
        ("t3-chat input 0", "t3-chat output 0"),
        ("t3-search input 0", "t3-search output 0"),
    }
    around = {
        ("t1-agent input 0", "t1-add output 0"),
        ("t1-agent input 0", "t1-chat input 0"),  # through a span of no dialect
        ("t1-chat output 0", "t1-agent output 0"),
        ("t2-agent input 0", "t2-add output 0"),
        ("t2-agent input 0", "t2-chat input 0"),
        ("t2-chat output 0", "t2-agent output 0"),
        ("t3-agent input 0", "t3-chat input 0"),
        ("t3-agent input 0", "t3-search input 0"),
        ("t3-chat output 0", "t3-agent output 0"),
        ("t3-search output 0", "t3-agent output 0"),
    }
    expected: set[tuple[str, str, str, str | None]] = {(*pair, "Derivation", None) for pair in own}
    expected |= {(*pair, "Derivation", AROUND) for pair in around}
    expected |= {
        ("t1-chat output 0", "t1-add output 0", "Derivation", EQUAL),
        ("t2-chat output 0", "t2-add output 0", "Derivation", EQUAL),
        ("t3-search output 0", "t3-chat input 0", "Derivation", PART),
        ("t1-add output 0", "t2-add output 0", "Revision", SAME_ID),
        ("t2-add output 0", "t3-search output 0", "Read", SAME_ID),  # not the first version, which was overwritten
    }
    assert _edges(graph) == expected


def test_the_past_of_an_answer_reaches_the_messages_of_other_traces(graph: dict[str, Any]) -> None:
    past = _past(graph, _SPANS["t3-agent"].variable("output"))
    assert {ASKED, REX, CHANGED, BO, TOLD} <= past
    assert "Noted." not in past


def test_a_search_considered_the_stored_unit_with_its_score(graph: dict[str, Any]) -> None:
    search, unit = (
        f"operations:{_SPANS['t3-search'].operation}#0",
        f"variables:{_SPANS['t2-add'].variable('output')}#0",
    )
    assert (search, unit, "returned", 0, 0.75) in graph["usages"]


def test_a_deletion_ends_all_versions(graph: dict[str, Any]) -> None:
    deletion = f"operations:{_SPANS['t4-delete'].operation}#0"
    units = [f"variables:{_SPANS[word].variable('output')}#0" for word in ("t1-add", "t2-add")]
    assert graph["invalidations"] == {(unit, deletion) for unit in units}


def test_operations_keep_their_kind_parent_session_and_attributes(graph: dict[str, Any]) -> None:
    kinds = {word: graph["operations"][f"operations:{span.operation}#0"]["kind"] for word, span in _SPANS.items()}
    assert kinds | {"t2-agent": None} == {
        "t1-agent": "Other",
        "t1-http": "Other",
        "t1-chat": "Generation",
        "t1-add": "Extraction",
        "t2-agent": None,
        "t2-http": "Other",
        "t2-chat": "Generation",
        "t2-add": "Update",
        "t3-agent": "Other",
        "t3-search": "Retrieval",
        "t3-chat": "Generation",
        "t4-delete": "Deletion",
    }
    http = graph["operations"][f"operations:{_SPANS['t1-http'].operation}#0"]
    attributes = json.loads(http["attributes"])
    assert attributes["http.route"] == "/v1"
    assert attributes["parentId"] == f"operations:{_SPANS['t1-agent'].operation}#0"
    assert attributes["otel"]["dialect"] == "genai"  # because of the GenAI attribute for the conversation id
    assert {one["session_id"] for one in graph["operations"].values()} == {"sessions:c1#0"}
    chat_ = json.loads(graph["operations"][f"operations:{_SPANS['t1-chat'].operation}#0"]["attributes"])
    assert chat_["gen_ai.usage.input_tokens"] == 7
    assert "gen_ai.input.messages" not in chat_  # it is a variable


@pytest.mark.parametrize("is_linked", [True, False])
async def test_span_links_inside_a_trace(takes: Takes, is_linked: bool) -> None:
    resource = {"memtrace.trace": "linked"}
    first = Sent("a", "a", 0, 10, chat([("user", "one")], "two"), trace="x", resource=resource)
    links = (("x", "a"),) if is_linked else ()
    second = Sent("b", "b", 20, 30, chat([("user", "three")], "four"), trace="y", links=links, resource=resource)
    graph = await takes.graph([(protobuf([second]), PROTOBUF), (protobuf([first]), PROTOBUF)], "linked")
    found = {(one["source"], one["target"]) for one in graph["derivations"].values() if one["comment"] == LINKED}
    source = f"variables:{first.variable('output')}#0"
    targets = {f"variables:{second.variable('input', place)}#0" for place in (0, 1)}
    assert found == ({(source, target) for target in targets} if is_linked else set())


async def test_without_contents_a_read_may_be_of_any_version_before_it(takes: Takes) -> None:
    spans = [
        Sent("v1", "create_memory", 0, 1, memory("create_memory", "u")),
        Sent("v2", "update_memory", 2, 3, memory("update_memory", "u")),
        Sent("read", "search_memory", 4, 5, memory("search_memory") | {"gen_ai.memory.records": [{"id": "u"}]}),
        Sent("v3", "update_memory", 6, 7, memory("update_memory", "u")),
    ]
    graph = await takes.graph([(protobuf(spans), PROTOBUF)], spans[0].trace_id.hex())
    reads = {one["source"] for one in graph["derivations"].values() if one["kind"] == "Read"}
    assert reads == {f"variables:{span.variable('output')}#0" for span in spans[:2]}


async def test_a_parent_that_never_comes_and_a_circle_of_parents(takes: Takes) -> None:
    spans = [
        Sent("a", "a", 0, 10, chat([("user", "hello you")], "hello"), parent="b"),
        Sent("b", "b", 0, 10, chat([("user", "hello me")], "hello"), parent="a"),
        Sent("c", "c", 0, 10, chat([("user", "hello all")], "hello"), parent="nobody"),
    ]
    graph = await takes.graph([(protobuf(spans), PROTOBUF)], spans[0].trace_id.hex())
    assert len(graph["operations"]) == 3
