from __future__ import annotations

import pytest

from schema.errors import AmbiguousError, NotFoundError
from schema.ids import ID_LENGTH, make_id
from store.answers import Label
from store.protocol import GraphStore
from tests.contract.samples import assistant
from tests.data import FULL
from tests.factory import TraceBuilder, elements_of

ABSENT = make_id("nothing", "at all")


async def test_get_keeps_the_order_asked_for(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    wanted = [trace.variables[place] for place in (4, 0, 7, 2)]
    assert await store.get(Label.VARIABLE, [variable.id for variable in wanted]) == wanted


async def test_get_passes_over_what_does_not_exist(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    first, second = trace.operations[:2]
    strange = [ABSENT, "", "x", first.id[:8], first.id.upper(), first.id + "00", "ünï", "' OR 1=1 --"]
    assert await store.get(Label.OPERATION, [first.id, *strange, second.id]) == [first, second]
    assert await store.get(Label.OPERATION, []) == []
    assert await store.get(Label.VARIABLE, [first.id]) == []


async def test_get_of_very_many_ids(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    variables = [trace.variable(f"v{number}") for number in range(3000)]
    await trace.write(store)
    assert await store.get(Label.VARIABLE, [variable.id for variable in variables[::-1]]) == variables[::-1]


async def test_every_element_is_resolved_by_its_id_and_by_a_prefix(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    places = [(), (trace.trace.id,)]
    for label, elements in elements_of(trace.batch()).items():
        for number, element in enumerate(elements):
            # All lengths for two elements of each label, and two for each of the others unless all is done in full.
            for length in (8, 9, 20, ID_LENGTH) if FULL or number < 2 else (8, ID_LENGTH):
                assert await store.resolve(element.id[:length]) == element
                for place in places:
                    assert await store.resolve(element.id[:length], label, *place) == element


async def test_an_element_is_resolved_by_its_id_in_the_source(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    assert await store.resolve("assistant") == trace.trace
    assert await store.resolve("talk") == trace.sessions[0]
    assert await store.resolve("extract") == trace.operations[0]
    assert await store.resolve("edge-3") == trace.derivations[3]
    note = next(variable for variable in trace.variables if variable.external_id == "note-2")
    assert note.occurrence == 0
    assert await store.resolve("note-2") == note
    assert await store.resolve("note-2", Label.VARIABLE, trace.trace.id) == note


async def test_what_is_not_there_is_not_resolved(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    one = trace.operations[0]
    for reference in (ABSENT, ABSENT[:8], "", "%", "extrac", "EXTRACT", "note-%", one.id[:7], one.id + "0"):
        with pytest.raises(NotFoundError) as caught:
            await store.resolve(reference)
        assert caught.value.reference == reference
    with pytest.raises(NotFoundError):
        await store.resolve("extract", Label.VARIABLE)
    with pytest.raises(NotFoundError):
        await store.resolve(one.id, Label.VARIABLE)
    with pytest.raises(NotFoundError):
        await store.resolve("extract", trace_id=ABSENT)
    with pytest.raises(NotFoundError):
        await store.resolve(one.id, Label.OPERATION, ABSENT)


async def test_an_id_in_the_source_that_several_traces_have(store: GraphStore, project: str) -> None:
    first, second = assistant(project, "first"), assistant(project, "second")
    await first.write(store)
    await second.write(store)
    with pytest.raises(AmbiguousError) as caught:
        await store.resolve("extract")
    assert sorted(caught.value.candidates) == sorted([first.operations[0].id, second.operations[0].id])
    for trace in (first, second):
        assert await store.resolve("extract", trace_id=trace.trace.id) == trace.operations[0]
        assert await store.resolve("edge-0", Label.DERIVATION, trace.trace.id) == trace.derivations[0]
        assert await store.resolve(trace.trace.external_id) == trace.trace


async def test_an_id_in_the_source_that_several_labels_have(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    operation, variable = trace.operation("same"), trace.variable("same")
    await trace.write(store)
    with pytest.raises(AmbiguousError):
        await store.resolve("same")
    assert await store.resolve("same", Label.OPERATION) == operation
    assert await store.resolve("same", Label.VARIABLE) == variable


async def test_a_prefix_that_several_have(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    prefix = make_id("prefix", project)[:10]
    ids = [prefix + digit * 22 for digit in "abcdef01"]
    variables = [trace.variable(f"v{place}", id=id_) for place, id_ in enumerate(ids)]
    await trace.write(store)
    with pytest.raises(AmbiguousError) as caught:
        await store.resolve(prefix)
    assert 2 <= len(caught.value.candidates) <= len(ids)
    assert set(caught.value.candidates) <= set(ids)
    assert await store.resolve(prefix + "a") == variables[0]
    assert await store.resolve(ids[3]) == variables[3]


async def test_an_id_in_the_source_that_looks_like_a_prefix(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    variable = trace.variable("cafebabe")
    hexadecimal = trace.variable("0" * 32)
    await trace.write(store)
    assert await store.resolve("cafebabe") == variable
    assert await store.resolve("0" * 32) == hexadecimal
