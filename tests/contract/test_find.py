from __future__ import annotations

from dataclasses import replace

import pytest

from schema.errors import AmbiguousError, NotFoundError
from schema.ids import ID_LENGTH, make_id
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.references import elements_of
from store.shared.resolving import by_name, trace_by_name
from tests.contract.samples import assistant
from tests.factory import TraceBuilder

ABSENT = make_id("nothing", "at all")


@pytest.mark.each_engine
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
            # All lengths for two elements of each label, and two for each of the others.
            for length in (8, 9, 20, ID_LENGTH) if number < 2 else (8, ID_LENGTH):
                assert await store.resolve(element.id[:length]) == element
                for place in places:
                    assert await store.resolve(element.id[:length], label, *place) == element


@pytest.mark.each_engine
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


@pytest.mark.each_engine
async def test_a_variable_is_found_by_its_name(store: GraphStore, project: str) -> None:
    first, second = TraceBuilder(project, "first"), TraceBuilder(project, "second")
    step = first.operation("step")
    fact = first.variable("x1", "Bo is a dog", name="Bo's fact", version=1, class_name="Fact", by=step)
    newer = first.variable("x2", "Bo is a poodle", name="Bo's fact", version=2, class_name="Fact", by=step)
    odd = first.variable("x3", "mail", name="ada@7", by=step)
    first.variable("x4", "mail of ada, version seven", name="ada", version=7, by=step)
    second.variable("x1", "about Bo's fact", name="about Bo's fact")
    again = second.variable("x5", "Bo", name="Bo's fact", version=1)
    await first.write(store)
    await second.write(store)
    both = sorted([fact, newer, again], key=lambda one: (one.trace_id, one.sequence))
    assert await store.named("Bo's fact", None, None, 5) == both
    assert await store.named("Bo's fact", None, None, 1) == both[:1]
    assert await store.named("bo's fact", None, None, 5) == []
    assert await by_name(store, "Bo's fact@2") == newer
    assert await by_name(store, "Bo's fact@1", first.trace.id) == fact
    assert await by_name(store, "ada@7") == odd
    with pytest.raises(AmbiguousError, match="Bo's fact@2") as caught:
        await by_name(store, "Bo's fact", first.trace.id)
    assert caught.value.candidates == [fact.id, newer.id]
    for reference in ("Bo's fact@3", "Bo's", "-", "@1", "\ud800", "Bo's fact@" + "9" * 30, ""):
        with pytest.raises(NotFoundError):
            await by_name(store, reference)


async def test_a_trace_is_found_by_its_name(store: GraphStore, project: str) -> None:
    first, second = TraceBuilder(project, "first"), TraceBuilder(project, "second")
    await first.write(store)
    await second.write(store)
    assert await trace_by_name(store, "the first") == first.trace
    for reference in ("the fi", "first", "", "\ud800"):
        with pytest.raises(NotFoundError):
            await trace_by_name(store, reference)
    third = TraceBuilder(project, "third")
    await store.write(replace(third.batch(), trace=replace(third.trace, name="the first")))
    with pytest.raises(AmbiguousError, match="the first"):
        await trace_by_name(store, "the first")


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


async def test_a_whole_id_means_what_has_it_and_nothing_that_is_called_so(store: GraphStore, project: str) -> None:
    named = assistant(project)
    await named.write(store)
    every = [element for elements in elements_of(named.batch()).values() for element in elements[:1]]
    for number, victim in enumerate(every):
        # A trace, a session, an operation, a variable and a derivation, each called as the id of another thing.
        impostor = TraceBuilder(project, victim.id)
        impostor.session(victim.id)
        operation = impostor.operation(victim.id)
        source, target = impostor.variable(f"source {number}"), impostor.variable(victim.id, by=operation)
        impostor.derive(target, source, by=operation, external_id=victim.id)
        await impostor.write(store)
        own = next(label for label, elements in elements_of(named.batch()).items() if victim in elements)
        assert await store.resolve(victim.id) == victim
        for place in (None, named.trace.id):
            assert await store.resolve(victim.id, own, place) == victim
        for label in Label:
            for place in (None, impostor.trace.id, named.trace.id):
                if (label, place) not in {(own, None), (own, named.trace.id)}:
                    with pytest.raises(NotFoundError):
                        await store.resolve(victim.id, label, place)


async def test_what_is_called_as_the_id_of_another_begins_is_ambiguous(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    victim = trace.operations[0]
    prefix = victim.id[:12]
    impostor = TraceBuilder(project, "impostor")
    operation = impostor.operation(prefix, name="another\x1b[2J one")
    variable = impostor.variable(prefix)
    await trace.write(store)
    await impostor.write(store)
    with pytest.raises(AmbiguousError) as caught:
        await store.resolve(prefix, Label.OPERATION)
    assert sorted(caught.value.candidates) == sorted([victim.id, operation.id])
    described = {one.id: (one.label, one.name, one.trace_id) for one in caught.value.described}
    assert described == {
        victim.id: ("Operation", victim.name, trace.trace.id),
        operation.id: ("Operation", operation.name, impostor.trace.id),
    }
    for text in (victim.id, operation.id, str(victim.name), trace.trace.id, impostor.trace.id):
        assert text in str(caught.value)
    assert "\x1b" not in str(caught.value)
    with pytest.raises(AmbiguousError) as caught:
        await store.resolve(prefix)
    assert set(caught.value.candidates) == {victim.id, operation.id, variable.id}
    assert await store.resolve(prefix, Label.VARIABLE) == variable
    assert await store.resolve(prefix, Label.OPERATION, trace.trace.id) == victim
    assert await store.resolve(prefix, Label.OPERATION, impostor.trace.id) == operation
    assert await store.resolve(victim.id[:20]) == victim


async def test_what_is_called_as_its_own_id_begins_is_one_thing(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    variable = trace.variable("facade00", id="facade00" + make_id("own", project)[8:])
    await trace.write(store)
    assert await store.resolve("facade00") == variable


async def test_a_reference_that_is_no_text_means_nothing(store: GraphStore) -> None:
    for label in (None, *Label):
        with pytest.raises(NotFoundError):
            await store.resolve("\ud800", label)
