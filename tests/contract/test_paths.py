"""Paths between two variables, shortest first."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.errors import InputError, NotFoundError
from store.contract.answers import Path
from store.contract.protocol import GraphStore
from store.shared.paths import shortest_paths
from tests.contract.model import Model
from tests.contract.samples import assistant, random_trace
from tests.factory import TraceBuilder
from tests.test_closure_walk import Graph, graphs


def brute_force(graph: Graph, start: str, goal: str) -> list[list[str]]:
    """All paths, each edge between two nodes once, in the order that is promised."""
    found: list[list[str]] = []
    ways = [[start]]
    while ways:
        way = ways.pop()
        if way[-1] == goal:
            found.append(way)
        else:
            ways.extend([*way, target] for target in {to for one, to in graph.edges if one == way[-1]})
    return sorted(found, key=lambda way: (len(way), [graph.sequences[node] for node in way]))


@given(graphs(), st.integers(1, 100), st.data())
def test_paths_are_the_best_of_all_in_order(graph: Graph, limit: int, data: st.DataObject) -> None:
    start, goal = data.draw(st.tuples(*[st.sampled_from(sorted(graph.sequences))] * 2))
    expected = brute_force(graph, start, goal)
    assert shortest_paths(graph.edges, start, goal, graph.sequences, limit) == expected[:limit]
    assert shortest_paths(graph.edges, start, goal, graph.sequences) == expected[:1]


@given(st.integers(2, 9), st.integers(1, 60), st.randoms(use_true_random=False))
def test_paths_of_a_dense_graph(size: int, limit: int, random: object) -> None:
    """Each node derives from all before it: 2^(size - 2) paths of all lengths."""
    sequences = list(range(size))
    random.shuffle(sequences)  # type: ignore[attr-defined]
    graph = Graph(
        {f"n{number}": sequences[number] for number in range(size)},
        [(f"n{to}", f"n{of}") for to in range(size) for of in range(to)],
    )
    start, goal = f"n{size - 1}", "n0"
    assert shortest_paths(graph.edges, start, goal, graph.sequences, limit) == brute_force(graph, start, goal)[:limit]


def test_paths_of_a_long_chain() -> None:
    names = [f"n{number}" for number in range(50_000)]
    ranks = {name: number for number, name in enumerate(names)}
    assert shortest_paths(pairwise(names), names[0], names[-1], ranks, 10) == [names]


def test_no_path_and_the_path_to_itself() -> None:
    assert shortest_paths([("a", "b")], "b", "a", {"a": 0, "b": 1}, 10) == []
    assert shortest_paths([], "a", "b", {"a": 0, "b": 1}, 10) == []
    assert shortest_paths([], "a", "a", {"a": 0}, 10) == [["a"]]
    assert shortest_paths([("a", "b")], "a", "b", {"b": 1}, 10) == [["a", "b"]]


def test_a_ladder_that_has_dead_ends_is_walked_to_its_end() -> None:
    """Each rung has a side with a way of 40 rungs of its own, which leads nowhere."""
    edges = []
    for rung in range(300):
        edges += [(f"{rung}", f"{rung}{side}") for side in "ab"] + [(f"{rung}{side}", f"{rung + 1}") for side in "ab"]
        edges += [(f"{rung}a", f"{rung}x1a"), (f"{rung}a", f"{rung}x1b")] + [
            (f"{rung}x{step}{one}", f"{rung}x{step + 1}{other}")
            for step in range(1, 40)
            for one in "ab"
            for other in "ab"
        ]
    ranks = {node: number for number, node in enumerate(dict.fromkeys(node for edge in edges for node in edge))}
    chains = shortest_paths(edges, "0", "300", ranks, 100)
    assert len({tuple(chain) for chain in chains}) == 100
    assert {len(chain) for chain in chains} == {601}
    assert not any("x" in node for chain in chains for node in chain)


@pytest.mark.each_engine
async def test_all_paths_of_an_answer(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    model = Model(trace)
    for one in trace.variables:
        for other in trace.variables:
            assert await store.paths(one.id, other.id) == model.paths(one.id, other.id)
    answer, question = trace.variables[7], trace.variables[5]
    found = await store.paths(question.id, answer.id)
    assert [[one.external_id for one in path.variables] for path in found] == [
        ["answer", "question"],
        ["answer", "note-2", "question"],
    ]
    assert await store.paths(answer.id, answer.id) == [Path([answer], [])]
    assert await store.paths(answer.id, trace.variables[8].id) == []


async def test_paths_of_random_traces(store: GraphStore, project: str) -> None:
    trace = random_trace(project, seed=5, size=30)
    await trace.write(store)
    model = Model(trace)
    several = 0
    last = trace.variables[-1].id
    for number, one in enumerate(trace.variables):
        limit = 1 + number * 3
        found = await store.paths(one.id, last, limit)
        assert found == model.paths(one.id, last)[:limit]
        assert next(iter(found), Path([], [])) == await store.path(last, one.id)
        several += len(found) > 1
    assert several > 3


async def test_parallel_derivations_are_one_path(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    step = trace.operation("step")
    source, middle, target = (trace.variable(name) for name in ("source", "middle", "target"))
    trace.derive(target, middle, source, middle, source, by=step)
    trace.derive(middle, source, source, by=step)
    await trace.write(store)
    first = trace.derivations
    assert await store.paths(target.id, source.id) == [
        Path([target, source], [first[1]]),
        Path([target, middle, source], [first[0], first[4]]),
    ]


async def test_a_ladder_of_300_diamonds_gives_its_first_paths(store: GraphStore, project: str) -> None:
    """It has 2^300 paths, all as long."""
    trace = TraceBuilder(project)
    step = trace.operation("step")
    here = trace.variable("bottom")
    rungs = []
    for rung in range(300):
        left, right, top = (trace.variable(f"{side} {rung}") for side in ("left", "right", "top"))
        trace.derive(left, here, by=step)
        trace.derive(right, here, by=step)
        trace.derive(top, left, right, by=step)
        rungs.append((left, right, top))
        here = top
    await trace.write(store)
    found = await store.paths(here.id, trace.variables[0].id, 10)
    assert len(found) == 10
    for number, path in enumerate(found):
        # The rungs at the bottom differ first: the number in binary, read from the top.
        sides = [number >> rung & 1 for rung in range(300)]
        expected = [one for rung in range(299, -1, -1) for one in (rungs[rung][2], rungs[rung][sides[rung]])]
        assert path.variables == [*expected, trace.variables[0]]
        for derivation, (target, source) in zip(path.derivations, pairwise(path.variables), strict=True):
            assert (derivation.target, derivation.source) == (target.id, source.id)


async def test_bounds_and_ends_of_paths(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    one, other = trace.variables[7].id, trace.variables[0].id
    for limit in (0, -1, 101):
        with pytest.raises(InputError, match="limit"):
            await store.paths(one, other, limit)
    for ends in ((one, "x"), ("x", one), ("", ""), (one, trace.operations[0].id)):
        with pytest.raises(NotFoundError):
            await store.paths(*ends)
    assert await store.paths(one, other, 100) == Model(trace).paths(one, other)
