from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from store.contract.answers import NO_BUDGET, Budget, Direction
from store.shared.closure import Walk, bounded_walk

DIRECTIONS = st.sampled_from(Direction)
BUDGETS = st.builds(Budget, st.none() | st.integers(0, 5), st.none() | st.integers(0, 14))


@dataclass(frozen=True)
class Graph:
    """Nodes in the order of the trace, and edges from a dependent node to what it depends on."""

    sequences: dict[str, int]
    edges: list[tuple[str, str]]

    def neighbours(self, node: str, direction: Direction) -> list[str]:
        if direction is Direction.BACKWARD:
            return [source for target, source in self.edges if target == node]
        return [target for target, source in self.edges if source == node]

    async def walk(self, roots: Sequence[str], direction: Direction, budget: Budget) -> Walk:
        async def step(ids: Sequence[str]) -> list[tuple[str, str, int]]:
            assert len(set(ids)) == len(ids)
            return [
                (node, neighbour, self.sequences[neighbour])
                for node in ids
                for neighbour in self.neighbours(node, direction)
            ]

        return await bounded_walk(roots, direction, budget, step)

    def distances(self, roots: Sequence[str], direction: Direction) -> dict[str, int]:
        """Relaxed again and again until nothing changes: slow, and plainly right."""
        distances = dict.fromkeys(roots, 0)
        changed = True
        while changed:
            changed = False
            for node in list(distances):
                for neighbour in self.neighbours(node, direction):
                    if distances.get(neighbour, len(self.sequences)) > distances[node] + 1:
                        distances[neighbour] = distances[node] + 1
                        changed = True
        return distances


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Acyclic graphs whose edges need not run with the sequence, some edges being parallel."""
    size = draw(st.integers(1, 12))
    sequences = draw(st.permutations(range(size)))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda pair: pair[0] != pair[1])
    edges = draw(st.lists(pairs, max_size=30)) if size > 1 else []
    return Graph(
        {f"n{number}": sequences[number] for number in range(size)},
        [(f"n{max(pair)}", f"n{min(pair)}") for pair in edges],
    )


@given(graphs(), DIRECTIONS, BUDGETS, st.data())
async def test_a_bounded_walk_takes_the_nearest_first(
    graph: Graph, direction: Direction, budget: Budget, data: st.DataObject
) -> None:
    roots = data.draw(st.lists(st.sampled_from(sorted(graph.sequences)), min_size=1, max_size=3))
    walk = await graph.walk(roots, direction, budget)
    distances = graph.distances(roots, direction)
    newest_first = -1 if direction is Direction.BACKWARD else 1
    expected = sorted(distances, key=lambda node: (distances[node], newest_first * graph.sequences[node]))
    if budget.hops is not None:
        expected = [node for node in expected if distances[node] <= budget.hops]
    if budget.nodes is not None:
        expected = expected[: max(budget.nodes, len(set(roots)))]
    assert set(walk.visited) == set(expected)
    assert len(walk.visited) == len(expected)
    assert walk.visited[len(set(roots)) :] == expected[len(set(roots)) :]
    assert walk.frontier == sorted(
        node for node in expected if not set(graph.neighbours(node, direction)) <= set(expected)
    )


@given(graphs(), DIRECTIONS, BUDGETS)
async def test_the_walks_of_frontiers_complete_the_closure(graph: Graph, direction: Direction, budget: Budget) -> None:
    whole = set(graph.distances(["n0"], direction))
    walk = await graph.walk(["n0"], direction, budget)
    seen = set(walk.visited)
    further = await graph.walk(walk.frontier, direction, NO_BUDGET)
    assert further.frontier == []
    assert seen | set(further.visited) == whole


@given(graphs(), DIRECTIONS)
async def test_no_time_leaves_the_roots(graph: Graph, direction: Direction) -> None:
    walk = await graph.walk(["n0"], direction, Budget(seconds=0.0))
    assert walk.visited == ["n0"]
    assert walk.frontier == (["n0"] if graph.neighbours("n0", direction) else [])


async def test_a_long_chain_is_walked() -> None:
    names = [f"n{number}" for number in range(5000)]
    sequences = {name: number for number, name in enumerate(names)}

    async def step(ids: Sequence[str]) -> list[tuple[str, str, int]]:
        return [(node, f"n{sequences[node] - 1}", sequences[node] - 1) for node in ids if node != "n0"]

    walk = await bounded_walk(["n4999"], Direction.BACKWARD, NO_BUDGET, step)
    assert walk.visited == names[::-1]
    assert walk.frontier == []
