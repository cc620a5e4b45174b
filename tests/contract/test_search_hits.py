"""How many hits of Neo4j's index a search reads: without a bound, one reader's search could read a whole project."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from store.contract.answers import ALWAYS, Span
from store.neo4j.find import search
from store.neo4j.read import Reader

_WHEN = Span(datetime(2026, 3, 1, tzinfo=UTC), None)


class _Index:
    """Notes with which parameters the index is asked, and has no hit."""

    project_id = "p"

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    async def rows(self, name: str, **parameters: Any) -> list[Any]:
        assert name == "search"
        self.asked.append(parameters)
        return []

    async def get(self, *_: Any) -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("text", "kinds", "when", "hits", "count"),
    [
        ("pottery", (), ALWAYS, 20, 20),
        ("pottery", ("MemoryUnit",), ALWAYS, 50_000, 20),
        ("pottery", (), _WHEN, 50_000, 20),
        (" ".join(f"w{number}" for number in range(501)), (), ALWAYS, 10_000, 10_000),
        (" ".join(f"w{number}" for number in range(501)), ("Answer",), ALWAYS, 50_000, 10_000),
    ],
    ids=["as wanted", "of a kind", "of a time", "a long text", "a long text of a kind"],
)
async def test_hits_are_bounded(text: str, kinds: tuple[str, ...], when: Span, hits: int, count: int) -> None:
    index = _Index()
    assert await search(cast(Reader, index), text, None, 20, kinds, when) == []
    (asked,) = index.asked
    assert (asked["hits"], asked["count"]) == (hits, count)
    assert asked["kinds"] == (list(kinds) or None)
    assert (asked["begin"], asked["end"]) == (when.since, when.until)
