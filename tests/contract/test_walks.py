from __future__ import annotations

from collections.abc import Sequence

import pytest

from schema.errors import NotFoundError
from schema.ids import make_id
from schema.kinds import VariableKind
from schema.models import Operation, Usage, Variable
from store.contract.answers import Budget, Direction, Edge, Path
from store.contract.protocol import GraphStore
from tests.contract.model import Model
from tests.contract.samples import assistant
from tests.factory import TraceBuilder

ABSENT = make_id("nothing", "at all")


def names(elements: Sequence[Operation | Variable]) -> list[str]:
    return [element.external_id for element in elements]


@pytest.mark.each_engine
async def test_the_causal_past_of_an_answer(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    answer = trace.variables[7]
    closure = await store.closure([answer.id])
    assert closure == Model(trace).closure([answer.id])
    assert names(closure.variables) == [
        "message-1",
        "message-2",
        "prompt",
        "note",
        "note-2",
        "question",
        "note-2",
        "answer",
    ]
    assert names(closure.operations) == ["extract", "update", "retrieve", "answer"]
    assert closure.derivations == trace.derivations
    assert (closure.roots, closure.truncated, closure.frontier) == ([answer.id], False, [])


@pytest.mark.each_engine
async def test_what_depends_on_a_message(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    closure = await store.closure([trace.variables[1].id], Direction.FORWARD)
    assert names(closure.variables) == ["message-2", "note-2", "note-2", "answer"]
    assert names(closure.operations) == ["update", "retrieve", "answer"]
    assert all(derivation.source != trace.variables[3].id for derivation in closure.derivations)


async def test_a_variable_without_derivations(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    gold = trace.variables[-1]
    for direction in Direction:
        closure = await store.closure([gold.id], direction, Budget(0, 1, 0.0))
        assert (closure.variables, closure.derivations, closure.operations) == ([gold], [], [])
        assert (closure.truncated, closure.frontier) == (False, [])


async def test_no_root_and_roots_said_twice(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    empty = await store.closure([])
    assert (empty.roots, empty.variables, empty.derivations, empty.truncated) == ([], [], [], False)
    first, second = trace.variables[7].id, trace.variables[3].id
    model = Model(trace)
    assert await store.closure([first, second, first]) == model.closure([first, second])
    cut = Budget(nodes=1)
    assert await store.closure([second, second], budget=cut) == model.closure([second], budget=cut)


async def test_the_closure_of_what_does_not_exist(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    for absent in (ABSENT, "", "x", "ünï", trace.operations[0].id, trace.trace.id, trace.variables[0].id[:8]):
        for ids in ([absent], [trace.variables[0].id, absent]):
            with pytest.raises(NotFoundError) as caught:
                await store.closure(ids)
            assert caught.value.reference == absent
            with pytest.raises(NotFoundError):
                await store.closure(ids, Direction.FORWARD, Budget(hops=1))


@pytest.mark.each_engine
async def test_a_filter_of_kinds_walks_through_other_kinds(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    answer = trace.variables[7]
    closure = await store.closure([answer.id], kinds=[VariableKind.MESSAGE, VariableKind.QUERY])
    assert names(closure.variables) == ["message-1", "message-2", "question"]
    assert (closure.derivations, closure.operations, closure.truncated) == ([], [], False)
    closure = await store.closure([answer.id], kinds={"MemoryUnit", "nothing"})
    assert names(closure.variables) == ["note", "note-2", "note-2"]
    assert len(closure.derivations) == 2
    closure = await store.closure([answer.id], budget=Budget(hops=1), kinds=["Message"])
    assert (closure.variables, closure.truncated, closure.frontier) == ([], True, [trace.variables[6].id])


@pytest.mark.each_engine
async def test_a_budget_of_nodes_takes_the_newest_of_a_level(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    step = trace.operation("step")
    places = [5, 2, 8, 0, 6, 1, 7, 3]
    sources = [trace.variable(f"v{place}", sequence=place) for place in places]
    target = trace.variable("target", sequence=4)
    trace.derive(target, *sources, by=step)
    later = trace.variable("later", sequence=9)
    trace.derive(later, *sources, by=step)
    await trace.write(store)
    cut = await store.closure([target.id], budget=Budget(nodes=4))
    assert names(cut.variables) == ["target", "v6", "v7", "v8"]
    assert (cut.truncated, cut.frontier) == (True, [target.id])
    cut = await store.closure([sources[2].id], Direction.FORWARD, Budget(nodes=2))
    assert names(cut.variables) == ["target", "v8"]
    both = await store.closure([target.id, later.id], budget=Budget(nodes=0))
    assert names(both.variables) == ["target", "later"]
    assert both.frontier == sorted([target.id, later.id])


async def test_parallel_derivations_are_all_part_of_a_closure(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    first, second = trace.operation("first"), trace.operation("second")
    source, target = trace.variable("source"), trace.variable("target")
    trace.derive(target, source, by=second)
    trace.derive(target, source, source, by=first)
    await trace.write(store)
    closure = await store.closure([target.id])
    assert closure.derivations == trace.derivations
    assert closure.operations == [first, second]
    path = await store.path(target.id, source.id)
    assert path == Path([target, source], trace.derivations[:1])


@pytest.mark.each_engine
async def test_a_path_runs_from_what_depends_to_what_it_depends_on(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    answer, message = trace.variables[7], trace.variables[0]
    path = await store.path(answer.id, message.id)
    assert path == await store.path(message.id, answer.id) == Model(trace).path(answer.id, message.id)
    assert names(path.variables) == ["answer", "note-2", "note-2", "note", "message-1"]
    assert [derivation.target for derivation in path.derivations] == [one.id for one in path.variables[:-1]]
    assert [derivation.source for derivation in path.derivations] == [one.id for one in path.variables[1:]]


async def test_a_path_to_itself_and_no_path(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    answer, first, second, gold = (trace.variables[place] for place in (7, 0, 1, 8))
    assert await store.path(answer.id, answer.id) == Path([answer], [])
    assert await store.path(answer.id, gold.id) == Path([], [])
    assert await store.path(first.id, second.id) == Path([], [])
    for pair in ((answer.id, ABSENT), (ABSENT, answer.id), (ABSENT, ABSENT), ("x", ""), (answer.id, trace.trace.id)):
        with pytest.raises(NotFoundError):
            await store.path(*pair)


async def test_of_several_shortest_paths_the_oldest_is_taken(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    step = trace.operation("step")
    source = trace.variable("source", sequence=0)
    middle = {place: trace.variable(f"v{place}", sequence=place) for place in (6, 3, 5, 2, 4, 1)}
    target = trace.variable("target", sequence=9)
    for near, far in ((6, 1), (3, 5), (2, 4)):
        trace.derive(middle[far], source, by=step)
        trace.derive(middle[near], middle[far], by=step)
        trace.derive(target, middle[near], by=step)
    trace.derive(middle[2], middle[5], by=step)
    await trace.write(store)
    path = await store.path(source.id, target.id)
    assert names(path.variables) == ["target", "v2", "v4", "source"]


@pytest.mark.each_engine
async def test_the_versions_of_a_name(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    other = trace.variable("other note", name="note", class_name="Klass")
    oldest = trace.variable("note-0", name="note", version=0, sequence=50)
    await trace.write(store)
    first, second, read = (trace.variables[place] for place in (3, 4, 6))
    for variable in (first, second, read, oldest):
        assert await store.versions(variable.id) == [first, oldest, second]
    assert await store.versions(other.id) == [other]
    twin = assistant(project, "twin")
    await twin.write(store)
    assert await store.versions(first.id) == [first, oldest, second]
    for absent in (ABSENT, "", "x", trace.operations[0].id):
        with pytest.raises(NotFoundError):
            await store.versions(absent)


@pytest.mark.each_engine
async def test_all_edges_of_a_trace(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    twin = assistant(project, "twin")
    await twin.write(store)
    for one in (trace, twin):
        assert await store.edges(one.trace.id) == [
            Edge(d.source, d.target, d.operation_id, d.kind)
            for d in sorted(one.derivations, key=lambda d: (d.sequence, d.id))
        ]
    for absent in (ABSENT, "", "x", "ünï", trace.variables[0].id, trace.trace.id[:8]):
        assert await store.edges(absent) == []


@pytest.mark.each_engine
async def test_all_that_the_operations_of_a_trace_used_and_ended(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    late, early, idle = (trace.operation(name, sequence=place) for name, place in (("b", 7), ("a", 3), ("c", 5)))
    inputs = [trace.variable(f"in {number}", sequence=40 - number) for number in range(5)]
    trace.use(late, *(inputs[place] for place in (3, 1, 4, 1)), role="input")
    trace.usages.append(Usage(late.id, inputs[0].id, "considered", 4, 0.25))
    trace.use(early, inputs[2], inputs[0])
    trace.invalidate(late, inputs[4], inputs[2])
    trace.invalidate(early, inputs[2])
    await trace.write(store)
    twin = assistant(project, "twin")
    await twin.write(store)
    used, ended = trace.usages, trace.invalidations
    assert await store.usages(trace.trace.id) == [*used[5:], *used[:5]]
    assert await store.invalidations(trace.trace.id) == [ended[2], ended[0], ended[1]]
    assert await store.usages(twin.trace.id) == twin.usages
    assert {usage.operation_id for usage in used}.isdisjoint({idle.id})
    for absent in (ABSENT, "", "x", "ünï", late.id, trace.trace.id[:8]):
        assert await store.usages(absent) == []
        assert await store.invalidations(absent) == []


async def test_uses_at_one_place_come_by_the_sequence_of_what_is_used(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    step = trace.operation("step")
    inputs = [trace.variable(f"in {number}", sequence=number * 7 % 5) for number in range(5)]
    trace.usages.extend(Usage(step.id, one.id, None, place) for place in (1, 0) for one in inputs)
    await trace.write(store)
    by_sequence = [one.id for one in sorted(inputs, key=lambda one: one.sequence)]
    found = await store.usages(trace.trace.id)
    assert [(usage.position, usage.variable_id) for usage in found] == [
        (place, id_) for place in (0, 1) for id_ in by_sequence
    ]


@pytest.mark.each_engine
async def test_an_operation_with_what_it_used_and_made(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    step, other = trace.operation("step"), trace.operation("other")
    inputs = [trace.variable(f"in {number}") for number in range(5)]
    trace.use(step, *(inputs[place] for place in (3, 1, 4, 0, 1)), role="input")
    outputs = [trace.variable(f"out {number}", by=step, sequence=40 - number) for number in range(3)]
    trace.variable("not its own", by=other)
    trace.invalidate(step, inputs[4], inputs[2])
    trace.invalidate(other, inputs[2])
    await trace.write(store)
    detail = await store.operation(step.id)
    assert detail.operation == step
    assert detail.used == [inputs[place] for place in (3, 1, 4, 0)]
    assert detail.generated == outputs[::-1]
    assert detail.invalidated == [inputs[2], inputs[4]]
    detail = await store.operation(other.id)
    assert (detail.used, names(detail.generated), detail.invalidated) == ([], ["not its own"], [inputs[2]])
    for absent in (ABSENT, "", "x", "ünï", inputs[0].id, step.id[:8]):
        with pytest.raises(NotFoundError):
            await store.operation(absent)
