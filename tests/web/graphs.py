"""Generated graphs for tests and benchmarks of the graph page; equal seeds give equal graphs."""

from __future__ import annotations

from random import Random
from typing import Any

KINDS = (
    "Message",
    "Query",
    "Prompt",
    "Response",
    "MemoryUnit",
    "Buffer",
    "Context",
    "RetrievalResult",
    "Answer",
    "Other",
)


def graph(nodes: int, edges: int, layers: int = 40, seed: int = 1) -> dict[str, Any]:
    """An acyclic graph as the page's data.

    Args:
        nodes: number of nodes.
        edges: number of edges, each from a node to a later one.
        layers: approximate number of steps from the first node to the last.
        seed: the seed of the random numbers.
    """
    chance = Random(seed)
    width = max(1, nodes // layers)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < edges:
        source = chance.randrange(nodes - 1)
        target = min(nodes - 1, source + chance.randrange(width // 2 + 1, 2 * width + 2))
        pairs.add((source, target))
    return {
        "start": f"n{nodes // 2}",
        "truncated": False,
        "nodes": [
            {
                "id": f"n{i}",
                "label": f"box number {i}",
                "kind": KINDS[i % len(KINDS)],
                "sequence": i,
                "note": f"note {i}",
            }
            for i in range(nodes)
        ],
        "edges": [{"source": f"n{a}", "target": f"n{b}", "kind": "Derivation"} for a, b in sorted(pairs)],
    }
