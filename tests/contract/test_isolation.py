"""No method of the store tells one project anything of another, nor changes anything there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from schema.errors import CorruptValueError, InputError, MemTraceError, NotFoundError
from schema.kinds import Status
from schema.models import Batch, Ending, Placing
from store.contract.answers import ALL_FAILURES, Budget, Direction, FailureFilter, Label
from store.contract.protocol import Database, GraphStore
from store.shared.references import elements_of
from tests.contract.samples import assistant
from tests.factory import START, TraceBuilder


async def project_id(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert stranger.project_id != owned.project


async def write(stranger: GraphStore, owned: TraceBuilder) -> None:
    with owned.values() as values, pytest.raises(InputError, match="project"):
        await stranger.write(owned.batch(), values)
    trace = TraceBuilder(stranger.project_id, "intruder")
    step = trace.operation("step")
    own, theirs = trace.variable("own"), owned.variables[0]
    trace.derive(own, theirs, by=step)
    with pytest.raises(InputError, match=theirs.id):
        await stranger.write(trace.batch())
    trace.derivations.clear()
    trace.use(step, theirs)
    with pytest.raises(InputError, match=theirs.id):
        await stranger.write(trace.batch())
    trace.usages.clear()
    for stolen in (replace(own, id=theirs.id), replace(own, value_hash="b2:" + "0" * 32, value=None, size=5000)):
        with pytest.raises(MemTraceError):
            await stranger.write(Batch(trace.trace, variables=[stolen]))
    with pytest.raises(MemTraceError):
        await stranger.write(Batch(replace(trace.trace, id=owned.trace.id)))
    ending = Ending(owned.operations[0].id, Status.OK, None)
    with pytest.raises(InputError, match=ending.operation_id):
        await stranger.write(Batch(trace.trace, endings=[ending]))
    placing = Placing(owned.variables[0].id, 77)
    with pytest.raises(InputError, match=placing.variable_id):
        await stranger.write(Batch(trace.trace, placings=[placing]))
    with pytest.raises(InputError, match=owned.variables[0].id):
        await stranger.write(Batch(trace.trace, right_answers=[owned.variables[0].id]))
    large = next(variable for variable in owned.variables if variable.value is None)
    known = trace.variable("known elsewhere", owned.text(large))
    with pytest.raises(InputError, match=known.value_hash):
        await stranger.write(Batch(trace.trace, variables=[known]))
    assert await stranger.get(Label.TRACE, [trace.trace.id, owned.trace.id]) == []


async def get(stranger: GraphStore, owned: TraceBuilder) -> None:
    for label, known in elements_of(owned.batch()).items():
        assert await stranger.get(label, [element.id for element in known]) == []


async def resolve(stranger: GraphStore, owned: TraceBuilder) -> None:
    for label, known in elements_of(owned.batch()).items():
        for element in known:
            for reference in (element.id, element.id[:10]):
                with pytest.raises(NotFoundError):
                    await stranger.resolve(reference)
            external_id = getattr(element, "external_id", None) or element.id
            with pytest.raises(NotFoundError):
                await stranger.resolve(external_id, label, owned.trace.id)
            try:
                assert (await stranger.resolve(external_id, label)).project_id == stranger.project_id
            except NotFoundError as error:
                assert error.reference == external_id  # noqa: PT017  (a project that has equal content finds its own)


async def traces(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert all(trace.project_id == stranger.project_id for trace in (await stranger.traces()).items)


async def page(stranger: GraphStore, owned: TraceBuilder) -> None:
    for label in (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION):
        assert (await stranger.page(label, owned.trace.id)).items == []


async def activity(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.activity(owned.trace.id, 10) == []


async def pages(stranger: GraphStore, owned: TraceBuilder) -> None:
    for label in (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION, Label.FAILURE):
        assert await stranger.pages(label, [owned.trace.id]) == {}


async def failures(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert all(failure.project_id == stranger.project_id for failure in (await stranger.failures()).items)
    assert (await stranger.failures(owned.trace.id)).items == []


async def attributions(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.attributions([failure.id for failure in owned.failures]) == []


async def edges(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.edges(owned.trace.id) == []


async def usages(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.usages(owned.trace.id) == []


async def invalidations(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.invalidations(owned.trace.id) == []


async def stored(stranger: GraphStore, owned: TraceBuilder) -> None:
    ids = {Label.OPERATION: [one.id for one in owned.operations], Label.VARIABLE: [one.id for one in owned.variables]}
    found = await stranger.stored(owned.trace.id, ids)
    assert found.trace is None
    assert set(found.next.values()) == {0}
    assert not any(found.elements.values())


async def operation(stranger: GraphStore, owned: TraceBuilder) -> None:
    for known in owned.operations:
        with pytest.raises(NotFoundError):
            await stranger.operation(known.id)


async def operations(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.operations([known.id for known in owned.operations]) == {}


async def derivations_of(stranger: GraphStore, owned: TraceBuilder) -> None:
    for direction in Direction:
        assert await stranger.derivations_of([known.id for known in owned.variables], direction) == {}


async def withheld_by(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert not any((await stranger.withheld_by([known.id for known in owned.failures])).values())


async def users_of(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.users_of([known.id for known in owned.variables]) == {}


async def named(stranger: GraphStore, owned: TraceBuilder) -> None:
    for variable in owned.variables:
        theirs = await stranger.named(variable.name, None, None, 1000)
        assert {one.project_id for one in theirs} <= {stranger.project_id}
        assert await stranger.named(variable.name, None, owned.trace.id, 1000) == []


async def search(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert all(hit.variable.project_id == stranger.project_id for hit in await stranger.search("Oslo"))
    assert await stranger.search("Oslo", owned.trace.id) == []


async def scan(stranger: GraphStore, owned: TraceBuilder) -> None:
    for text in ("Oslo", "what matters"):
        assert all(hit.variable.project_id == stranger.project_id for hit in (await stranger.scan(text)).hits)
        result = await stranger.scan(text, owned.trace.id)
        assert (result.hits, result.truncated, result.scanned_bytes) == ([], False, 0)


async def closure(stranger: GraphStore, owned: TraceBuilder) -> None:
    for known in owned.variables:
        for direction in Direction:
            with pytest.raises(NotFoundError):
                await stranger.closure([known.id], direction)
            with pytest.raises(NotFoundError):
                await stranger.closure([known.id], direction, Budget(hops=1))


async def closures(stranger: GraphStore, owned: TraceBuilder) -> None:
    with pytest.raises(NotFoundError):
        await stranger.closures([[], [owned.variables[0].id]])


async def paths(stranger: GraphStore, owned: TraceBuilder) -> None:
    await _no_way(stranger, owned, stranger.paths)


async def path(stranger: GraphStore, owned: TraceBuilder) -> None:
    await _no_way(stranger, owned, stranger.path)


async def _no_way(stranger: GraphStore, owned: TraceBuilder, between: Callable[[str, str], Awaitable[object]]) -> None:
    own = TraceBuilder(stranger.project_id, "own").variable("own")
    for one, other in ((owned.variables[7], owned.variables[0]), (owned.variables[0],) * 2, (own, owned.variables[0])):
        for ends in ((one, other), (other, one)):
            with pytest.raises(NotFoundError):
                await between(ends[0].id, ends[1].id)


async def versions(stranger: GraphStore, owned: TraceBuilder) -> None:
    for known in owned.variables:
        with pytest.raises(NotFoundError):
            await stranger.versions(known.id)


async def versions_of(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.versions_of([known.id for known in owned.variables]) == {}


async def value(stranger: GraphStore, owned: TraceBuilder) -> None:
    large = next(variable for variable in owned.variables if variable.value is None)
    for variable in (large, replace(large, project_id=stranger.project_id)):
        with pytest.raises(CorruptValueError):
            await stranger.value(variable)


async def values(stranger: GraphStore, owned: TraceBuilder) -> None:
    with pytest.raises(CorruptValueError):
        await stranger.values(owned.variables)
    small = [variable for variable in owned.variables if variable.value is not None]
    assert set(await stranger.values(small)) == {variable.value_hash for variable in small}


async def known_values(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.known_values(owned.trace.id) == set()


async def idle_traces(stranger: GraphStore, owned: TraceBuilder) -> None:
    later = datetime.now(UTC) + timedelta(days=1)
    for before, keep in ((later, None), (None, 1), (later, 1)):
        found = (await stranger.idle_traces(later, before, keep)).items
        assert all(idle.trace.project_id == stranger.project_id for idle in found)


async def delete_attributions(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.delete_attributions([known.id for known in owned.attributions]) == 0


async def delete_failure(stranger: GraphStore, owned: TraceBuilder) -> None:
    for known in owned.failures:
        with pytest.raises(NotFoundError):
            await stranger.delete_failure(known.id)


async def delete_trace(stranger: GraphStore, owned: TraceBuilder) -> None:
    with pytest.raises(NotFoundError):
        await stranger.delete_trace(owned.trace.id)


async def stats(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert (await stranger.stats()).labels["Trace"] == len((await stranger.traces()).items)
    found = await stranger.stats(owned.trace.id)
    assert (set(found.labels.values()), found.kinds) == ({0}, {})


async def counts(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.counts([owned.trace.id]) == {}


async def count_failures(stranger: GraphStore, owned: TraceBuilder) -> None:
    for wanted in (ALL_FAILURES, FailureFilter(labelled=True), FailureFilter(method="words")):
        own = (await stranger.failures(wanted=wanted)).items
        assert await stranger.count_failures(wanted=wanted) == len(own)
        assert await stranger.count_failures(owned.trace.id, wanted) == 0


async def verdict_groups(stranger: GraphStore, owned: TraceBuilder) -> None:
    own = [failure.id for failure in (await stranger.failures()).items]
    found = await stranger.verdict_groups()
    assert sum(group.failures for group in found) == len(await stranger.attributions(own))
    assert await stranger.verdict_groups(owned.trace.id) == []


async def verdict_changes(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.verdict_changes([failure.id for failure in owned.failures]) == []


async def undo_verdict(stranger: GraphStore, owned: TraceBuilder) -> None:
    for verdict in owned.attributions:
        with pytest.raises(NotFoundError):
            await stranger.undo_verdict(verdict.id, "Ada")


async def withheld(stranger: GraphStore, owned: TraceBuilder) -> None:
    assert await stranger.withheld([failure.id for failure in owned.failures]) == frozenset()


async def timeline(stranger: GraphStore, owned: TraceBuilder) -> None:
    (found,) = await stranger.timeline(START - timedelta(days=1), START + timedelta(days=1), 2 * 24 * 3600)
    own = (await stranger.stats()).labels
    assert (found.traces, found.failures) == (own["Trace"], own["Failure"])
    assert sum(found.verdicts.values()) == own["Attribution"]


Probe = Callable[[GraphStore, TraceBuilder], Awaitable[None]]
PROBES: dict[str, Probe] = {
    probe.__name__: probe
    for probe in (
        project_id,
        write,
        get,
        resolve,
        traces,
        page,
        pages,
        failures,
        count_failures,
        verdict_groups,
        attributions,
        activity,
        edges,
        usages,
        invalidations,
        stored,
        operation,
        operations,
        derivations_of,
        users_of,
        withheld_by,
        named,
        search,
        scan,
        closure,
        closures,
        path,
        paths,
        versions,
        versions_of,
        value,
        values,
        known_values,
        idle_traces,
        delete_attributions,
        delete_failure,
        delete_trace,
        stats,
        counts,
        verdict_changes,
        undo_verdict,
        withheld,
        timeline,
    )
}
METHODS = sorted(
    name
    for part in GraphStore.__mro__
    if part.__module__.startswith("store.")
    for name in vars(part)
    if not name.startswith("_")
)


def test_every_method_is_probed() -> None:
    assert sorted(PROBES) == METHODS


@pytest.mark.each_engine
async def test_a_project_knows_nothing_of_another(store: GraphStore, database: Database, project: str) -> None:
    """The other has equal content: what is found must be its own."""
    owned, twin = assistant(project), assistant(f"{project}-stranger")
    await owned.write(store)
    stranger = database.project(twin.project)
    assert (await twin.write(stranger)).existing == {}
    for method in METHODS:
        await PROBES[method](stranger, owned)
    for whose, trace in ((store, owned), (stranger, twin)):
        for label, expected in elements_of(trace.batch()).items():
            assert await whose.get(label, [element.id for element in expected]) == expected
    assert await store.value(owned.variables[2]) == owned.text(owned.variables[2]).encode()
    assert (await store.closure([owned.variables[7].id])).derivations == owned.derivations
    await stranger.delete_trace(twin.trace.id)
    assert await store.value(owned.variables[2]) == owned.text(owned.variables[2]).encode()
    assert await store.get(Label.TRACE, [owned.trace.id]) == [owned.trace]


@pytest.mark.values
async def test_an_empty_project_knows_nothing_of_another(store: GraphStore, database: Database, project: str) -> None:
    owned = assistant(project)
    await owned.write(store)
    stranger = database.project(f"{project}-stranger")
    for method in METHODS:
        await PROBES[method](stranger, owned)
    for label, expected in elements_of(owned.batch()).items():
        assert await store.get(label, [element.id for element in expected]) == expected
        assert await stranger.get(label, [element.id for element in expected]) == []
    assert await store.value(owned.variables[2]) == owned.text(owned.variables[2]).encode()


async def test_a_project_may_have_any_name(database: Database, project: str) -> None:
    ends = ["", " ", "/..", "/../x", "\\", "%2e", "*", "'", '"', "`", "\n", "ünï 💥", "\0", "A", "a", "x" * 300]
    traces = [assistant(project + end) for end in ends]
    stores = [database.project(trace.project) for trace in traces]
    for store, trace in zip(stores, traces, strict=True):
        assert store.project_id == trace.project
        assert (await trace.write(store)).existing == {}
    # Each in its turn is whole still, whatever the deletions before it had to do with.
    for store, trace in zip(stores, traces, strict=True):
        assert (await store.traces()).items == [trace.trace]
        assert (await store.stats()).labels["Trace"] == 1
        assert await store.value(trace.variables[2]) == trace.text(trace.variables[2]).encode()
        assert {hit.variable.id for hit in await store.search("Oslo")} <= {one.id for one in trace.variables}
        await store.delete_trace(trace.trace.id)
