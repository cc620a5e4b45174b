from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from schema.errors import ConflictError, InputError
from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, Status, VariableKind
from schema.models import Batch, Placing, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared import paging
from store.shared.references import elements_of
from tests.contract.samples import assistant
from tests.factory import START, TraceBuilder

pytestmark = pytest.mark.values

LISTS = {
    Label.SESSION: "sessions",
    Label.OPERATION: "operations",
    Label.VARIABLE: "variables",
    Label.DERIVATION: "derivations",
    Label.FAILURE: "failures",
    Label.ATTRIBUTION: "attributions",
}
LATER = START + timedelta(days=1)


def with_change(batch: Batch, label: Label, place: int, **changes: Any) -> Batch:
    changed = list(elements_of(batch)[label])
    changed[place] = replace(changed[place], **changes)
    lists: dict[str, Any] = {"trace": changed[0]} if label is Label.TRACE else {LISTS[label]: changed}
    return replace(batch, **lists)


def counts(batch: Batch) -> dict[str, int]:
    return {label.value: len(elements) for label, elements in elements_of(batch).items()}


async def assert_stored(store: GraphStore, batch: Batch) -> None:
    for label, expected in elements_of(batch).items():
        assert await store.get(label, [element.id for element in expected]) == expected


@pytest.mark.each_engine
async def test_what_is_written_is_read_again(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    await assert_stored(store, trace.batch())


async def test_kinds_and_times_are_what_they_were(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    for label, elements in elements_of(trace.batch()).items():
        for written in elements:
            (read,) = await store.get(label, [written.id])
            for name in type(written).__dataclass_fields__:
                expected, found = getattr(written, name), getattr(read, name)
                assert type(found) is type(expected)
                if name.endswith("_at") and found is not None:
                    assert found.utcoffset() == timedelta(0)


@pytest.mark.each_engine
async def test_a_write_counts_what_it_added(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    result = await trace.write(store)
    assert result.created == counts(trace.batch())
    assert result.existing == {}


@pytest.mark.each_engine
async def test_the_same_batch_again_changes_nothing(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    first = await trace.write(store)
    before = await store.stats()
    again = await trace.write(store)
    assert (again.created, again.existing) == ({}, first.created)
    await assert_stored(store, trace.batch())
    after = await store.stats()
    assert (after.labels, after.kinds) == (before.labels, before.kinds)
    assert after.value_bytes == before.value_bytes
    detail = await store.operation(trace.operations[0].id)
    assert len(detail.used) == 2


@pytest.mark.each_engine
async def test_a_longer_batch_adds_only_what_is_new(store: GraphStore, project: str) -> None:
    short, whole = assistant(project).batch(), assistant(project)
    short = replace(
        short,
        sessions=short.sessions[:1],
        operations=short.operations[:2],
        variables=short.variables[:5],
        derivations=short.derivations[:3],
        usages=[usage for usage in short.usages if usage.operation_id == short.operations[0].id],
        invalidations=[],
        failures=[],
        attributions=[],
    )
    with whole.values() as values:
        first = await store.write(short, values)
    second = await whole.write(store)
    total = counts(whole.batch())
    assert second.existing == first.created
    assert {label: first.created.get(label, 0) + second.created.get(label, 0) for label in total} == total
    await assert_stored(store, whole.batch())
    assert len((await store.operation(whole.operations[1].id)).used) == 2


async def test_a_batch_may_refer_to_what_is_stored(store: GraphStore, project: str) -> None:
    whole = assistant(project)
    batch = whole.batch()
    empty = Batch(batch.trace)
    with whole.values() as values:
        await store.write(replace(empty, sessions=batch.sessions), values)
        await store.write(replace(empty, operations=batch.operations), values)
        await store.write(replace(empty, variables=batch.variables), values)
    await store.write(replace(empty, derivations=batch.derivations))
    await store.write(replace(empty, usages=batch.usages, invalidations=batch.invalidations))
    await store.write(replace(empty, failures=batch.failures))
    await store.write(replace(empty, attributions=batch.attributions))
    await assert_stored(store, batch)
    assert (await whole.write(store)).created == {}


async def test_an_element_that_stands_twice_in_a_batch_is_one(store: GraphStore, project: str) -> None:
    batch = assistant(project).batch()
    with assistant(project).values() as values:
        doubled: dict[str, Any] = {
            name: getattr(batch, name) * 2 for name in (*LISTS.values(), "usages", "invalidations")
        }
        result = await store.write(replace(batch, **doubled), values)
    assert result.created == counts(batch)
    await assert_stored(store, batch)


CONFLICTS: list[tuple[Label, int, str, Any]] = [
    (Label.TRACE, 0, "name", "another"),
    (Label.TRACE, 0, "source", "another"),
    (Label.TRACE, 0, "created_at", None),
    (Label.SESSION, 1, "name", None),
    (Label.SESSION, 1, "comment", "another"),
    (Label.SESSION, 0, "created_at", LATER),
    (Label.OPERATION, 0, "session_id", None),
    (Label.OPERATION, 0, "kind", OperationKind.OTHER),
    (Label.OPERATION, 1, "status", Status.OK),
    (Label.OPERATION, 0, "ended_at", LATER),
    (Label.OPERATION, 1, "location", "memory.py:18"),
    (Label.OPERATION, 2, "attributes", '{"model":"m"}'),
    (Label.VARIABLE, 0, "kind", VariableKind.OTHER),
    (Label.VARIABLE, 0, "class_name", None),
    (Label.VARIABLE, 0, "version", 7),
    (Label.VARIABLE, 3, "comment", ""),
    (Label.VARIABLE, 0, "media_type", "text/html"),
    (Label.VARIABLE, 3, "operation_id", None),
    (Label.VARIABLE, 4, "revision_of", None),
    (Label.DERIVATION, 0, "kind", DerivationKind.REVISION),
    (Label.DERIVATION, 7, "comment", None),
    (Label.DERIVATION, 0, "category", "another"),
    (Label.FAILURE, 0, "question", "another?"),
    (Label.FAILURE, 0, "expected_id", None),
    (Label.FAILURE, 0, "prediction", None),
    (Label.FAILURE, 0, "answer_id", None),
]


@pytest.mark.once
@pytest.mark.parametrize(("label", "place", "field", "value"), CONFLICTS, ids=[f"{c[0]}-{c[2]}" for c in CONFLICTS])
async def test_other_content_under_a_stored_id_is_refused_whole(
    store: GraphStore, project: str, label: Label, place: int, field: str, value: Any
) -> None:
    trace = assistant(project)
    await trace.write(store)
    written, before = trace.batch(), await store.stats()
    large = trace.variable("new", "new " * 1000)
    with trace.values() as values, pytest.raises(ConflictError) as caught:
        await store.write(with_change(trace.batch(), label, place, **{field: value}), values)
    head, *tail = field.split("_")
    assert (caught.value.label, caught.value.field) == (label.value, head + "".join(map(str.title, tail)))
    element = elements_of(written)[label][place]
    assert caught.value.external_id == getattr(element, "external_id", element.id)
    await assert_stored(store, written)
    assert await store.get(Label.VARIABLE, [large.id]) == []
    assert large.value_hash not in await store.known_values(trace.trace.id)
    assert (await store.stats()).labels == before.labels


async def test_another_value_under_a_stored_id_is_refused(store: GraphStore, project: str) -> None:
    first, other = TraceBuilder(project), TraceBuilder(project)
    for trace, end in ((first, "one"), (other, "two")):
        trace.variable("small", end)
        trace.variable("large", "same beginning " * 500 + end)
    await first.write(store)
    for place, field in ((0, "preview"), (1, "valueHash")):
        batch = replace(first.batch(), variables=[other.variables[place]])
        with other.values() as values, pytest.raises(ConflictError) as caught:
            await store.write(batch, values)
        assert (caught.value.external_id, caught.value.field) == (first.variables[place].external_id, field)
    await assert_stored(store, first.batch())


async def test_two_contents_under_one_id_in_a_batch_are_refused(store: GraphStore, project: str) -> None:
    batch = assistant(project).batch()
    changed = replace(batch.operations[0], comment="another")
    with assistant(project).values() as values, pytest.raises(ConflictError):
        await store.write(replace(batch, operations=[*batch.operations, changed]), values)
    assert (await store.stats()).labels == dict.fromkeys((label.value for label in Label), 0)


async def test_another_place_in_the_trace_is_no_conflict(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    batch = trace.batch()
    for label in (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION):
        batch = with_change(batch, label, 0, sequence=99)
    await store.write(batch)
    await assert_stored(store, trace.batch())


@pytest.mark.each_engine
async def test_the_attributes_of_a_trace_are_brought_up_to_date(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    await store.write(Batch(replace(trace.trace, attributes='{"seed":8}')))
    assert [found.attributes for found in (await store.traces()).items] == ['{"seed":8}']


async def test_a_trace_without_a_name_gets_the_first_one(store: GraphStore, project: str) -> None:
    trace = assistant(project).trace
    for name, kept in ((None, None), ("first", "first"), ("first", "first")):
        await store.write(Batch(replace(trace, name=name)))
        assert [found.name for found in (await store.traces()).items] == [kept]
    for name in ("second", None):
        with pytest.raises(ConflictError, match="name"):
            await store.write(Batch(replace(trace, name=name)))
    assert [found.name for found in (await store.traces()).items] == ["first"]


@pytest.mark.each_engine
async def test_variables_change_places(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    first, *others, last = sorted(trace.batch().variables, key=lambda variable: variable.sequence)
    placings = [Placing(first.id, last.sequence), Placing(last.id, first.sequence)]
    for _ in range(2):
        await store.write(Batch(trace.trace, placings=placings))
        found = await paging.elements(store, Variable, trace.trace.id)
        assert [one.id for one in found] == [one.id for one in (last, *others, first)]
        assert [one.sequence for one in found] == [one.sequence for one in (first, *others, last)]


@pytest.mark.each_engine
async def test_an_answer_is_judged_right_later_than_it_is_written(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project, "judged")
    question = trace.variable("question", kind=VariableKind.QUERY)
    answer = trace.variable("answer", kind=VariableKind.ANSWER)
    other = trace.variable("other answer", kind=VariableKind.ANSWER)
    written = trace.batch()
    for judged in ([], [answer.id], []):
        await store.write(replace(written, right_answers=judged))  # nothing that is written again takes it back
    assert await store.get(Label.VARIABLE, [answer.id, other.id]) == [replace(answer, right=True), other]
    failure = trace.failure(question, answer)
    await store.write(Batch(trace.trace, failures=[failure]))
    for judged in ([], [answer.id, other.id]):
        await store.write(replace(written, right_answers=judged))
        (wrong,) = await store.get(Label.VARIABLE, [answer.id])
        assert wrong == replace(answer, right=False)
    assert await store.get(Label.VARIABLE, [other.id]) == [replace(other, right=True)]


async def test_an_answer_may_be_judged_as_it_is_written(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project, "judged at once")
    right = trace.variable("right", kind=VariableKind.ANSWER)
    said = replace(trace.variable("said", kind=VariableKind.ANSWER), right=True)
    await store.write(replace(trace.batch(), variables=[right, said], right_answers=[right.id]))
    assert await store.get(Label.VARIABLE, [right.id, said.id]) == [replace(right, right=True), said]


async def test_only_what_is_stored_can_be_judged(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    unknown = "0" * 32
    with pytest.raises(InputError, match=unknown):
        await store.write(Batch(trace.trace, right_answers=[unknown]))


@pytest.mark.each_engine
async def test_what_is_known_of_a_failure_is_brought_up_to_date(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    new = replace(
        trace.failures[0],
        attributes='{"level":3}',
        origin=Origin.ANNOTATION,
        evidence_ids=(trace.variables[0].id,),
        gold_answers=("Bergen", "in Bergen", "卑尔根"),
    )
    result = await store.write(Batch(trace.trace, failures=[new]))
    assert (result.created, result.existing) == ({}, {"Trace": 1, "Failure": 1})
    assert (await store.failures()).items == [new]
    assert await store.attributions([new.id]) == trace.attributions


@pytest.mark.each_engine
async def test_a_verdict_is_replaced(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    old = trace.attributions[0]
    new = replace(
        old,
        error_type=None,
        operation_id=None,
        confidence=None,
        reason=None,
        evidence='[["a", "b"]]',
        candidates='["c"]',
        tokens=12,
        cost=0.1,
        seconds=None,
        created_at=LATER,
        author="ünï",
        model="m",
        attributes='{"inputs": "b2:00"}',
    )
    result = await store.write(Batch(trace.trace, attributions=[new]))
    assert (result.created, result.existing) == ({}, {"Trace": 1, "Attribution": 1})
    assert await store.attributions([old.failure_id]) == [new]
    assert (await store.stats()).labels["Attribution"] == 1
    back = replace(new, error_type=ErrorType.JUDGE, operation_id=trace.operations[0].id)
    await store.write(Batch(trace.trace, attributions=[back]))
    assert await store.attributions([old.failure_id]) == [back]
