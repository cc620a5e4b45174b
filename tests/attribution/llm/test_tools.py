"""The agent's tools: results, and bounds on the length of results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.llm.agent.tools import WINDOW, Tools, tool_descriptions
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.data import as_data
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from store.contract.protocol import Database
from tests.attribution.llm.story import LONG, Story
from tests.factory import TraceBuilder

MOST_CHARACTERS = 30_000
"""The longest result of a tool, whatever the trace holds: here every other character takes six when it is escaped."""


async def _call(story: Story, tool: str, **arguments: Any) -> dict[str, Any]:
    return await Tools(story.case).call(tool, arguments)


async def test_an_operation_with_its_variables(story: Story) -> None:
    shown = await _call(story, "look_at_operation", operation=story.op("update"))
    assert (shown["operation"], shown["kind"], shown["name"]) == (story.op("update"), "Update", "update")
    assert [item["variable"] for item in shown["used"]["items"]] == [story.v("unit"), story.v("noise")]
    assert [item["variable"] for item in shown["made"]["items"]] == [story.v("newer")]
    assert [item["variable"] for item in shown["ended"]["items"]] == [story.v("unit")]


async def test_a_variable_with_its_neighbours(story: Story) -> None:
    shown = await _call(story, "look_at_variable", variable=story.v("unit"))
    assert shown["value"] == "Mara moved to Leeds\nin March 2025."
    assert shown["made_by"]["operation"] == story.op("extract")
    assert shown["ended_by"]["operation"] == story.op("update")
    assert shown["used_by"]["items"] == [story.op("update")]
    assert shown["derived_from"]["items"] == [story.v("message")]
    assert shown["derived"]["items"] == [story.v("newer")]


async def test_a_long_value_in_windows(story: Story) -> None:
    text = f"{LONG} the end"
    first = await _call(story, "look_at_variable", variable=story.v("long"))
    assert text.startswith(first["value"])
    assert first["characters"] == len(text)
    assert "read_value" in first["note"]
    read = ""
    while len(read) < len(text):
        part = await _call(story, "read_value", variable=story.v("long"), offset=len(read), length=10**9)
        assert 0 < len(part["part"]) <= WINDOW
        read += part["part"]
    assert read == text
    assert (await _call(story, "read_value", variable=story.v("long"), offset=10**9))["part"] == ""


async def test_search_finds_all_words_in_any_order_and_case(story: Story) -> None:
    found = await _call(story, "search", words="2025 LEEDS")
    assert [hit["variable"] for hit in found["hits"]] == [story.v("message"), story.v("unit")]
    assert "March 2025" in found["hits"][0]["snippet"]
    found = await _call(story, "search", words="2025 leeds", kind="MemoryUnit")
    assert [hit["variable"] for hit in found["hits"]] == [story.v("unit")]


async def test_search_gathers_versions_of_a_name(story: Story) -> None:
    found = await _call(story, "search", words="moved to", kind="MemoryUnit")
    (hit,) = found["hits"]
    assert (hit["variable"], hit["last"], hit["count"]) == (story.v("unit"), story.v("read-1"), 4)


async def test_steps_back_and_forward(story: Story) -> None:
    back = await _call(story, "step", variable=story.v("newer"), direction="back")
    assert [(item["variable"], item["by"]["operation"]) for item in back["items"]] == [
        (story.v("unit"), story.op("update")),
        (story.v("noise"), story.op("update")),
    ]
    forward = await _call(story, "step", variable=story.v("newer"), direction="forward")
    assert [item["variable"] for item in forward["items"]] == [story.v("read-0"), story.v("read-1")]


@pytest.mark.parametrize("of", ["unit", "newer", "read-0"])
async def test_versions_of_a_unit_from_any_of_them(story: Story, of: str) -> None:
    shown = await _call(story, "versions", variable=story.v(of))
    assert [item["variable"] for item in shown["items"]] == [story.v("unit"), story.v("newer")]
    assert shown["items"][0]["ended_by"]["operation"] == story.op("update")


@pytest.fixture
async def crowded(stories: Database, request: pytest.FixtureRequest) -> FailureView:
    """A trace where everything is large: names, comments, values, fans."""
    store = stories.project(request.node.nodeid)
    builder = TraceBuilder(store.project_id)
    builder.session("talk")
    huge = "<name>\u2028 " * 5_000
    hub = builder.operation("hub", name=huge, comment=huge, kind=OperationKind.UPDATE)
    sources = [
        builder.variable(f"source-{n}", f"needle {n} {huge}", kind=VariableKind.MESSAGE, name=f"{n} {huge}")
        for n in range(60)
    ]
    builder.use(hub, *sources)
    unit = None
    for version in range(60):
        unit = builder.variable(f"unit-{version}", huge, hub, name="unit", version=version)
        builder.derive(unit, *sources, by=hub)
        builder.invalidate(hub, unit)
    question = builder.variable("question", "What?", kind=VariableKind.QUERY)
    failure = builder.failure(question, unit)
    await builder.write(store)
    return FailureView(await TraceGraph.load(store, builder.trace.id), failure, [sources[0].id])


async def test_no_result_is_too_long(crowded: FailureView) -> None:
    tools = Tools(crowded)
    sizes = {}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("look_at_operation", {"operation": "op0"}),
        ("look_at_variable", {"variable": "v0"}),
        ("look_at_variable", {"variable": "v60"}),
        ("read_value", {"variable": "v0", "length": 10**9}),
        ("search", {"words": "needle"}),
        ("step", {"variable": "v60", "direction": "back"}),
        ("step", {"variable": "v0", "direction": "forward"}),
        ("versions", {"variable": "v60"}),
        ("no-such-tool" * 1_000, {}),
        ("step", {"variable": "v" * 10_000, "direction": "back"}),
    ]
    for name, arguments in calls:
        result = as_data(await tools.call(name, arguments))
        sizes[name[:20]] = len(result)
        assert "<" not in result
    assert max(sizes.values()) < MOST_CHARACTERS, sizes


async def test_long_lists_are_paged(crowded: FailureView) -> None:
    tools = Tools(crowded)
    seen: list[str] = []
    while True:
        page = await tools.call("step", {"variable": "v60", "direction": "back", "start": len(seen)})
        seen += [item["variable"] for item in page["items"]]
        assert page["of"] == 60
        if not page["items"]:
            break
    assert seen == [f"v{n}" for n in range(60)]


def test_tools_are_described_with_closed_schemas() -> None:
    described = tool_descriptions()
    names = [tool["function"]["name"] for tool in described]
    assert names == [
        "look_at_operation",
        "look_at_variable",
        "read_value",
        "search",
        "step",
        "versions",
        "propose_verdict",
    ]
    for tool in described:
        assert tool["function"]["parameters"]["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool)
    assert [tool["function"]["name"] for tool in tool_descriptions(only_propose=True)] == ["propose_verdict"]
