from __future__ import annotations

from uuid import uuid4

import pytest
import pytest_asyncio

from schema.models import WHOLE_VALUE_BYTES
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.values

HAY = "hay " * 2000


async def scanned(store: GraphStore, text: str, trace_id: str | None = None) -> list[str]:
    result = await store.scan(text, trace_id)
    assert not result.truncated
    return [hit.variable.external_id for hit in result.hits]


def haystack(project: str) -> TraceBuilder:
    trace = TraceBuilder(project)
    trace.variable("small", "A small Needle, 100%_sure (a.c)")
    trace.variable("medium", "hay " * 150 + "needle in the MIDDLE")
    trace.variable("large", HAY + "Needle at the end")
    trace.variable("across", HAY + "straw" + HAY, comment="needle")
    trace.variable("ünï", HAY + "ÉCOLE Straße 東京タワー 🚀 القهوة")
    trace.variable("whole", "x" * (WHOLE_VALUE_BYTES - 4) + "edge")
    trace.variable("not whole", "x" * (WHOLE_VALUE_BYTES - 3) + "edge")
    trace.variable("again", HAY + "Needle at the end")
    return trace


@pytest_asyncio.fixture(scope="module")
async def hay(database: Database) -> GraphStore:
    """A project with a haystack, which tests only read."""
    trace = haystack(f"test-{uuid4().hex}")
    store = database.project(trace.project)
    await trace.write(store)
    return store


FOUND = {
    "needle": ["small", "medium", "large", "again"],
    "NEEDLE AT": ["large", "again"],
    "eedl": ["small", "medium", "large", "again"],
    "middle": ["medium"],
    "hay straw": ["across"],
    "hay strawhay": ["across"],
    "100%_sure": ["small"],
    "100_%sure": [],
    "a.c": ["small"],
    "école": ["ünï"],
    "straße": ["ünï"],
    "京タ": ["ünï"],
    "🚀": ["ünï"],
    "القهوة": ["ünï"],
    "edge": ["whole", "not whole"],
    "absent": [],
    "' OR '1'='1": [],
}
"""What a text finds."""


@pytest.mark.each_engine
async def test_whole_values_are_scanned(hay: GraphStore) -> None:
    assert {text: await scanned(hay, text) for text in FOUND} == FOUND


async def test_all_bytes_are_counted_once(store: GraphStore, project: str) -> None:
    trace = haystack(project)
    await trace.write(store)
    distinct = sum(len(text.encode()) for text in trace.texts.values())
    assert (await store.scan("needle")).scanned_bytes == distinct


async def test_a_scan_of_one_trace_and_of_all(store: GraphStore, project: str) -> None:
    first, second = TraceBuilder(project, "first"), TraceBuilder(project, "second")
    for trace in (first, second):
        trace.variable(f"small of {trace.name}", "needle")
        trace.variable(f"large of {trace.name}", HAY + "needle")
        await trace.write(store)
    by_id = sorted((first, second), key=lambda trace: trace.trace.id)
    assert await scanned(store, "needle") == [f"{size} of {t.name}" for t in by_id for size in ("small", "large")]
    assert await scanned(store, "needle", second.trace.id) == ["small of second", "large of second"]
    assert await scanned(store, "needle", "0" * 32) == []


async def test_only_recorded_variables_are_hits(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for text in ("needle", HAY + "needle"):
        first = trace.variable(text[:3], text)
        trace.variable(first.external_id, text, occurrence=1)
    await trace.write(store)
    assert [hit.variable for hit in (await store.scan("needle")).hits] == [trace.variables[0], trace.variables[2]]


async def test_bounds_end_a_scan_early(store: GraphStore, project: str) -> None:
    trace = haystack(project)
    await trace.write(store)
    for bounds in ({"max_bytes": 0}, {"seconds": 0.0}):
        result = await store.scan("needle", **bounds)
        assert (result.hits, result.truncated, result.scanned_bytes) == ([], True, 0)


async def test_a_bound_on_bytes_leaves_the_rest_unread(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    sizes = [len(trace.text(trace.variable(f"v{number}", f"needle {number} " * 600_000))) for number in range(4)]
    await trace.write(store)
    result = await store.scan("needle", max_bytes=sizes[0] + 1)
    assert result.truncated
    assert 1 <= len(result.hits) < len(sizes)
    assert sizes[0] < result.scanned_bytes < sum(sizes)


async def test_the_limit_takes_the_oldest(store: GraphStore, project: str) -> None:
    await haystack(project).write(store)
    for limit, expected in ((1, ["small"]), (3, ["small", "medium", "large"])):
        result = await store.scan("needle", limit=limit)
        assert [hit.variable.external_id for hit in result.hits] == expected
        assert result.truncated
    assert not (await store.scan("needle", limit=4)).truncated


async def test_nothing_to_scan(store: GraphStore, project: str) -> None:
    for bounds in ({}, {"max_bytes": 0}, {"seconds": 0.0}):
        result = await store.scan("needle", **bounds)
        assert (result.hits, result.truncated, result.scanned_bytes) == ([], False, 0)
