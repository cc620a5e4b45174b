"""Questions about many things at once: the answers equal single reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import VariableKind
from store.contract.answers import NO_BUDGET, Budget, Direction, Label, Page
from store.contract.protocol import GraphStore
from store.neo4j.store import Neo4jStore
from store.shared.references import elements_of
from tests.contract.model import Model
from tests.contract.samples import assistant, random_trace
from tests.factory import TraceBuilder

ABSENT = [make_id("nothing", "at all"), "", "x", "ünï"]
PAGED = [Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION, Label.FAILURE]


@pytest.mark.each_engine
async def test_pages_of_several_traces(store: GraphStore, project: str) -> None:
    traces = [assistant(project), random_trace(project, 7, size=20), TraceBuilder(project, "empty")]
    for trace in traces:
        await trace.write(store)
    ids = [trace.trace.id for trace in traces]
    for label in PAGED:
        for first in (1, 3, 1000):
            found = await store.pages(label, [ids[1], *ABSENT, ids[0], ids[2], ids[0]], first)
            assert set(found) == set(ids)
            for id_ in ids:
                single = store.failures(id_, first) if label is Label.FAILURE else store.page(label, id_, first)
                assert found[id_] == await single
        assert await store.pages(label, []) == {}
        assert await store.pages(label, ABSENT) == {}


@pytest.mark.parametrize("label", PAGED)
async def test_pages_go_on_after_a_cursor(store: GraphStore, project: str, label: Label) -> None:
    trace = random_trace(project, 8, size=12)
    trace.session("another")
    for variable in trace.variables[:5]:
        trace.failure(variable)
    await trace.write(store)
    await assistant(project).write(store)
    found, after, count = [], None, 0
    while after is not None or not count:
        page = (await store.pages(label, [trace.trace.id], 2, after))[trace.trace.id]
        found += page.items
        after, count = page.next, count + 1
    elements = elements_of(trace.batch())[label]
    assert found == sorted(elements, key=lambda one: one.id if label is Label.FAILURE else one.sequence)
    assert count > 1 or label is Label.SESSION
    for cursor in ("", "x", "1:", "0" * 100_000):
        with pytest.raises(InputError, match="cursor"):
            await store.pages(label, [trace.trace.id], 2, cursor)


async def test_pages_of_some_kinds(store: GraphStore, project: str) -> None:
    one, other = assistant(project), assistant(project, "other")
    other.variable("more", kind=VariableKind.MESSAGE)
    for trace in (one, other):
        await trace.write(store)
    found = await store.pages(Label.VARIABLE, [one.trace.id, other.trace.id], 100, None, {"Message"})
    for trace in (one, other):
        expected = [variable for variable in trace.variables if variable.kind is VariableKind.MESSAGE]
        assert found[trace.trace.id] == Page(expected, None)


@pytest.mark.each_engine
async def test_several_operations(store: GraphStore, project: str) -> None:
    traces = [assistant(project), random_trace(project, 9)]
    for trace in traces:
        for operation in trace.operations[::2]:
            trace.use(operation, *trace.variables[3:8:2], trace.variables[3])
            trace.invalidate(operation, *trace.variables[9:5:-1])
        await trace.write(store)
    wanted = [operation for trace in traces for operation in trace.operations]
    found = await store.operations([*(one.id for one in wanted), *ABSENT, wanted[0].id, traces[0].variables[0].id])
    assert set(found) == {one.id for one in wanted}
    for trace in traces:
        variables = {variable.id: variable for variable in trace.variables}
        for one in trace.operations:
            detail = found[one.id]
            assert detail == await store.operation(one.id)
            uses = sorted(
                (usage.position, variables[usage.variable_id].sequence, usage.variable_id)
                for usage in trace.usages
                if usage.operation_id == one.id
            )
            assert detail.operation == one
            assert [variable.id for variable in detail.used] == list(dict.fromkeys(id_ for _, _, id_ in uses))
            made = [variable for variable in trace.variables if variable.operation_id == one.id]
            assert detail.generated == sorted(made, key=lambda variable: variable.sequence)
            ended = {i.variable_id for i in trace.invalidations if i.operation_id == one.id}
            assert {variable.id for variable in detail.invalidated} == ended
    assert await store.operations([]) == {}


@pytest.mark.each_engine
async def test_derivations_of_several_variables(store: GraphStore, project: str) -> None:
    trace = random_trace(project, 10)
    await trace.write(store)
    await assistant(project).write(store)
    ids = [variable.id for variable in trace.variables]
    for first in (1, 2, 100):
        into = await store.derivations_of([*ids, *ABSENT, ids[0]], first=first)
        out_of = await store.derivations_of([*ids[::-1], trace.trace.id], Direction.FORWARD, first)
        assert set(into) == set(out_of) == set(ids)
        for id_ in ids:
            assert into[id_] == [one for one in trace.derivations if one.target == id_][:first]
            assert out_of[id_] == [one for one in trace.derivations if one.source == id_][:first]
    assert await store.derivations_of([]) == {}


@pytest.mark.each_engine
async def test_users_of_several_variables(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    ids = [variable.id for variable in trace.variables]
    sequences = {one.id: one for one in sorted(trace.operations, key=lambda one: (one.sequence, one.id))}
    for first in (1, 2, 100):
        found = await store.users_of([*ids, *ABSENT, ids[0]], first)
        assert set(found) == set(ids)
        for id_ in ids:
            using = {one.operation_id for one in trace.usages if one.variable_id == id_}
            assert found[id_] == [one for key, one in sequences.items() if key in using][:first]
    assert any(len(some) > 1 for some in found.values())
    assert await store.users_of([]) == {}


async def test_derivations_come_in_the_order_of_the_trace(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    step = trace.operation("step")
    source, target = trace.variable("source"), trace.variable("target")
    for place in (5, 1, 4, 2, 3):
        trace.derive(target, source, by=step, sequence=place)
    await trace.write(store)
    for id_, direction in ((target.id, Direction.BACKWARD), (source.id, Direction.FORWARD)):
        found = await store.derivations_of([id_], direction, 3)
        assert [one.sequence for one in found[id_]] == [1, 2, 3]


@pytest.mark.each_engine
async def test_versions_of_several_variables(store: GraphStore, project: str) -> None:
    traces = [assistant(project), random_trace(project, 11), assistant(project, "twin")]
    for trace in traces:
        await trace.write(store)
    ids = [variable.id for trace in traces for variable in trace.variables]
    expected = {variable.id: Model(trace).versions(variable.id) for trace in traces for variable in trace.variables}
    assert await store.versions_of([*ids, *ABSENT, ids[0], traces[0].operations[0].id]) == expected
    assert await store.versions_of([]) == {}


@pytest.mark.each_engine
async def test_counts_of_several_traces(store: GraphStore, project: str) -> None:
    traces = [assistant(project), random_trace(project, 12), TraceBuilder(project, "empty")]
    for trace in traces:
        await trace.write(store)
    ids = [trace.trace.id for trace in traces]
    found = await store.counts([*ids, *ABSENT, ids[0], traces[0].variables[0].id])
    assert found == {id_: (await store.stats(id_)).labels for id_ in ids}
    for trace in traces:
        assert found[trace.trace.id] == {
            label.value: len(elements) for label, elements in elements_of(trace.batch()).items()
        }
    assert await store.counts([]) == {}


@pytest.mark.each_engine
async def test_two_closures(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    roots = [[trace.variables[7].id], [trace.variables[0].id]]
    for direction in Direction:
        expected = [Model(trace).closure(ids, direction, NO_BUDGET) for ids in roots]
        assert await store.closures(roots, direction) == expected


async def test_several_closures(store: GraphStore, project: str) -> None:
    traces = [assistant(project), random_trace(project, 13)]
    for trace in traces:
        await trace.write(store)
    for direction in Direction:
        for budget in (NO_BUDGET, Budget(hops=2), Budget(until=5), Budget(nodes=20, until=9)):
            for trace in traces:
                model = Model(trace)
                # A walk of its own for each: where a server answers, every third variable.
                every = 3 if isinstance(store, Neo4jStore) else 1
                roots = [[one.id] for one in trace.variables[::every]]
                roots += [[], [one.id for one in trace.variables[:3]] * 2]
                expected = [model.closure(ids, direction, budget) for ids in roots]
                assert await store.closures(roots, direction, budget) == expected
    assert await store.closures([]) == []
    known = traces[0].variables[0].id
    for absent in ABSENT:
        with pytest.raises(NotFoundError) as caught:
            await store.closures([[known], [known, absent], ["another"]])
        assert caught.value.reference == absent


async def test_what_came_later_is_as_though_it_had_not_happened(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    told, question, read, answer = (trace.variables[place] for place in (0, 5, 6, 7))
    past = await store.closure([answer.id], budget=Budget(until=5))
    # The read came after the question, so that nothing before it is reached through it.
    assert past.variables == [question, answer]
    assert (past.truncated, past.frontier) == (False, [])
    future = await store.closure([told.id], Direction.FORWARD, Budget(until=read.sequence))
    assert [one.external_id for one in future.variables] == ["message-1", "note", "note-2", "note-2"]
    assert (future.truncated, future.frontier) == (False, [])
    for direction in Direction:
        alone = await store.closure([read.id], direction, Budget(until=-1))
        assert (alone.variables, alone.derivations, alone.truncated) == ([read], [], False)
    both = await store.closure([answer.id, read.id], budget=Budget(until=5))
    assert both == Model(trace).closure([answer.id, read.id], budget=Budget(until=5))
    assert len(both.variables) == 8


@pytest.mark.each_engine
async def test_verdicts_are_deleted(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    (failure,) = trace.failures
    for method in ("agent", "model", "human"):
        trace.attribution(failure, method, operation_id=trace.operations[0].id)
    await trace.write(store)
    kept, *gone = trace.attributions
    ids = [one.id for one in gone]
    assert await store.delete_attributions([*ids, *ABSENT, ids[0], failure.id]) == len(gone)
    assert await store.attributions([failure.id]) == [kept]
    assert await store.delete_attributions(ids) == 0
    assert await store.delete_attributions([]) == 0
    assert (await store.stats()).labels["Attribution"] == 1
    again = replace(gone[0], reason="after all")
    assert (await store.write(replace(trace.batch(), attributions=[again]))).created == {"Attribution": 1}
    assert await store.get(Label.ATTRIBUTION, ids) == [again]
