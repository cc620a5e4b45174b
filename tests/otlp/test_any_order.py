"""Spans come in any order, in any requests, as protobuf or JSON, and more than once: the graph is always the same."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from ingest.otlp.media_types import JSON, PROTOBUF
from tests.otlp.conftest import Takes
from tests.otlp.dialects import examples
from tests.otlp.spans import Sent, as_json, conversation, protobuf
from tests.queue.sets import cut

EXAMPLES = int(os.environ.get("MEMTRACE_ORDERS") or 6)

SPANS = [*conversation(), *(span for span, _ in examples("agent of Ada"))]


@pytest_asyncio.fixture(scope="module")
async def expected(takes: Takes) -> dict[str, Any]:
    return await takes.graph([(protobuf(SPANS), PROTOBUF)], "agent of Ada")


@pytest.mark.parametrize("seed", range(EXAMPLES))
async def test_one_and_the_same_graph(takes: Takes, expected: dict[str, Any], seed: int) -> None:
    random = Random(seed)
    spans = SPANS + random.sample(SPANS, random.randrange(len(SPANS)))
    random.shuffle(spans)
    at = random.sample(range(1, len(spans)), random.randrange(15))
    requests: list[list[Sent]] = cut(spans, at)  # type: ignore[arg-type, assignment]
    bodies = [(as_json(one), JSON) if random.random() < 0.3 else (protobuf(one), PROTOBUF) for one in requests]
    found = await takes.graph(bodies, "agent of Ada")
    for part, content in expected.items():
        assert found[part] == content, part
