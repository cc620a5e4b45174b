"""Edges between very many spans: the work is bounded, and depends on the new spans, not on all pairs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ingest.otlp.rules import MOST_EDGES, MOST_PAIRS, Node, Value, deletions, edges

_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def _span(number: int, text: str, deletes: tuple[str, str | None] | None = None) -> Node:
    name, at = f"s{number}", _BEGAN + timedelta(seconds=number)
    node = Node(name, "one", None, frozenset(), deletes, at)
    node.values.append(Value(f"{name}/input/0", "input", at, text, text, None, False, 0, None))
    node.values.append(Value(f"{name}/output/0", "output", at, text, text, ("m", text), True, 0, None))
    return node


def test_a_new_span_is_looked_at_beside_the_others_and_not_they_beside_each_other() -> None:
    """20,000 spans of one trace have 800 million pairs, and one new span has 100,000."""
    nodes = {node.name: node for node in (_span(number, f"text {number}") for number in range(20_000))}
    late = _span(20_000, "text 7")
    nodes[late.name] = late
    found, is_whole = edges(nodes, {late.name}, most=200_000)
    assert is_whole
    assert {(edge.source.name, edge.target.name) for edge in found} == {
        ("s7/output/0", "s20000/input/0"),
        ("s7/output/0", "s20000/output/0"),
    }


def test_edges_end_at_the_bound() -> None:
    nodes = {node.name: node for node in (_span(number, "the same text") for number in range(3_000))}
    found, is_whole = edges(nodes, nodes.keys(), most=10_000)
    assert not is_whole
    assert 0 < len(found) <= 10_000
    all_the_same, is_whole = edges(nodes, nodes.keys())
    assert (len(all_the_same), is_whole) == (MOST_EDGES, False)
    long = {node.name: node for node in (_span(number, "x" * 400_000) for number in range(20))}
    assert not edges(long, long.keys(), most=10_000)[1]
    assert edges(long, long.keys(), most=MOST_PAIRS)[1]


def test_deletions_end_at_the_bound() -> None:
    nodes = {node.name: node for node in (_span(number, "unit", ("m", None)) for number in range(200))}
    found, is_whole = deletions(nodes, nodes.keys())
    assert is_whole
    assert len(found) == 200 * 199 // 2
    assert not deletions(nodes, nodes.keys(), most=10_000)[1]
    late, is_whole = deletions(nodes, {"s199"}, most=1_000)
    assert is_whole
    assert len(late) == 199
