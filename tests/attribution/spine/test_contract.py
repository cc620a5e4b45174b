"""Merging, on graphs that chance makes: nothing is invented, nothing left out, no cycle, never too many boxes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.spine import contract as contracting
from attribution.spine.contract import Node, contract
from attribution.spine.layers import layers
from attribution.spine.model import Role, State
from attribution.spine.quotient import Quotient, bits, ordered


@dataclass(frozen=True)
class Graph:
    nodes: list[Node]
    successors: list[list[int]]
    paths: list[list[int]]
    most: int


_STATES = st.dictionaries(st.integers(0, 2), st.sampled_from(State), max_size=2).map(
    lambda one: tuple(sorted(one.items()))
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph whose edges lead to higher numbers, with ways along its edges."""
    count = draw(st.integers(1, 40))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] < pair[1])
    edges = draw(st.sets(pairs, max_size=3 * count)) if count > 1 else set()
    successors = [sorted(target for source, target in edges if source == node) for node in range(count)]
    paths = []
    for _ in range(draw(st.integers(0, 3))):
        path = [draw(st.integers(0, count - 1))]
        while successors[path[-1]]:
            path.append(draw(st.sampled_from(successors[path[-1]])))
        paths.append(path)
    on_path = {node for path in paths for node in path}
    nodes = []
    for node in range(count):
        roles = draw(st.frozensets(st.sampled_from(Role), max_size=2))
        if node in on_path:
            roles |= {Role.PATH}
        # What nothing was made of is on the spine: the past is that of the spine.
        roles = roles if successors[node] else roles | {Role.READ}
        kind = draw(st.sampled_from(["Message", "Buffer"]))
        nodes.append(Node(kind, roles, draw(_STATES) if roles else ()))
    return Graph(nodes, successors, paths, draw(st.integers(5, 30)))


def check_contraction(graph: Graph, boxes: list[list[int]]) -> None:
    """Check by looking at every node, edge and way."""
    assert sorted(node for box in boxes for node in box) == list(range(len(graph.nodes)))
    assert len(boxes) <= graph.most
    box_of = {node: number for number, box in enumerate(boxes) for node in box}
    edges = {(box_of[a], box_of[b]) for a, some in enumerate(graph.successors) for b in some} - {
        (number, number) for number in range(len(boxes))
    }
    ways = {(a, b) for a, b in edges}
    while True:
        longer = ways | {(a, d) for a, b in ways for c, d in edges if b == c}
        if longer == ways:
            break
        ways = longer
    assert not any(a == b for a, b in ways), "the boxes have a cycle"


@given(graphs())
def test_a_contraction_holds_for_any_graph(graph: Graph) -> None:
    check_contraction(graph, contract(graph.nodes, graph.successors, graph.paths, graph.most))


@pytest.mark.full
@given(graphs())
def test_large_graphs_take_another_way(graph: Graph) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contracting, "_EXACT", 3)
        patch.setattr(contracting, "_PAIRED", 6)
        check_contraction(graph, contract(graph.nodes, graph.successors, graph.paths, graph.most))


@given(graphs())
def test_edges_lead_to_higher_layers(graph: Graph) -> None:
    found = layers(graph.successors, [])
    for node, some in enumerate(graph.successors):
        assert all(found[node] < found[after] for after in some)
    assert min(found) == 0


@given(graphs(), st.data())
def test_reachability_stays_exact(graph: Graph, data: st.DataObject) -> None:
    quotient = Quotient(graph.successors)
    for _ in range(data.draw(st.integers(0, 6))):
        alive = list(bits(quotient.alive))
        quotient.merge(sum(1 << one for one in data.draw(st.sets(st.sampled_from(alive), min_size=1, max_size=3))))
    alive = list(bits(quotient.alive))
    for node in alive:
        reached, waiting = {node}, [node]
        while waiting:
            for after in bits(quotient.after(waiting.pop())):
                assert after != node, "a cycle"
                if after not in reached:
                    reached.add(after)
                    waiting.append(after)
        assert set(bits(quotient.down(node))) == reached
    for node in alive:
        assert set(bits(quotient.up(node))) == {one for one in alive if quotient.down(one) >> node & 1}
        assert set(bits(quotient.before(node))) == {one for one in alive if quotient.after(one) >> node & 1}


def test_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="cycle"):
        ordered([[1], [0]])


def run(length: int) -> Graph:
    """A message, a run of buffers, each with a message of its own, and the answer."""
    has = ((0, State.HAS),)
    nodes = [Node("Message", frozenset({Role.EVIDENCE}), has)]
    successors: list[list[int]] = [[1]]
    for number in range(length):
        nodes += [Node("Buffer", frozenset({Role.PATH}), has), Node("Message")]
        place = 1 + 2 * number
        successors += [[place + 2], [place + 2]]
    nodes.append(Node("Answer", frozenset({Role.ANSWER})))
    successors.append([])
    path = [0, *range(1, 2 * length, 2)]
    return Graph(nodes, successors, [path], 25)


def test_equal_steps_become_one_box() -> None:
    graph = run(50)
    boxes = contract(graph.nodes, graph.successors, graph.paths, graph.most)
    check_contraction(graph, boxes)
    # The messages between two buffers go with none of them: they only feed the run.
    assert sorted(len(box) for box in boxes) == [1, 1, 1, 49, 50]


def test_what_is_between_equal_steps_goes_with_them() -> None:
    buffer = Node("Buffer", frozenset({Role.PATH}), ((0, State.HAS),))
    nodes = [buffer, Node("Prompt"), buffer, Node("Answer", frozenset({Role.ANSWER}))]
    assert contract(nodes, [[1], [2], [3], []], [[0, 2]], 25) == [[0, 1, 2], [3]]


def test_steps_with_something_else_between_them_stay_apart() -> None:
    buffer = Node("Buffer", frozenset({Role.PATH}), ((0, State.HAS),))
    nodes = [buffer, Node("Message", frozenset({Role.EVIDENCE})), buffer]
    assert contract(nodes, [[1, 2], [2], []], [[0, 2]], 25) == [[0], [1], [2]]
