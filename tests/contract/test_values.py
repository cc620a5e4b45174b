from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from schema.errors import CorruptValueError
from schema.ids import hash_value
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.references import elements_of
from store.values.packs import PackWriter
from tests.contract.samples import assistant
from tests.factory import TraceBuilder

pytestmark = pytest.mark.values

TEXTS = [
    "",
    "x",
    "\0",
    "ünï 東京 🚀\r\n\t\x7f\u2028\ufeff",
    "x" * WHOLE_VALUE_BYTES,
    "x" * (WHOLE_VALUE_BYTES + 1),
    "é" * (WHOLE_VALUE_BYTES // 2),
    "é" * (WHOLE_VALUE_BYTES // 2) + "x",
    "x" * (PREVIEW_CHARACTERS - 1) + "🚀🚀" + "y" * WHOLE_VALUE_BYTES,
    "a\0b" * 1000,
    "🚀" * 300_000,
]


@pytest.mark.each_engine
async def test_values_come_back_whole(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for number, text in enumerate(TEXTS):
        trace.variable(f"v{number}", text)
    await trace.write(store)
    stored = await store.get(Label.VARIABLE, [variable.id for variable in trace.variables])
    assert stored == trace.variables
    for variable, text in zip(trace.variables, TEXTS, strict=True):
        assert await store.value(variable) == text.encode()
    assert [variable.value is None for variable in trace.variables] == [False] * 5 + [True, False] + [True] * 4


@pytest.mark.each_engine
async def test_many_values_at_once(store: GraphStore, project: str) -> None:
    random = Random(5)
    traces = [TraceBuilder(project, name) for name in ("one", "two")]
    for trace in traces:
        for number, text in enumerate([*TEXTS, *(random.randbytes(1_500_000).hex() for _ in range(6))]):
            trace.variable(f"v{number}", text)
            trace.variable(f"again {number}", text, media_type="text/markdown")
        await trace.write(store)
    variables = [variable for trace in traces for variable in trace.variables]
    expected = {variable.value_hash: trace.text(variable).encode() for trace in traces for variable in trace.variables}
    assert await store.values(variables) == expected
    some = random.sample(variables, 20)
    assert await store.values(some) == {variable.value_hash: expected[variable.value_hash] for variable in some}
    assert await store.values([]) == {}


async def test_many_values_of_which_one_is_gone(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for number in range(3):
        trace.variable(f"v{number}", f"large {number}" * 1000)
    await trace.write(store)
    first, second, third = trace.variables
    gone = hash_value(b"something else")
    for forged in (replace(second, value_hash=gone), replace(second, value="large", value_hash=gone)):
        with pytest.raises(CorruptValueError) as caught:
            await store.values([first, forged, third])
        assert caught.value.value_hash == gone
    with pytest.raises(CorruptValueError):
        await store.values([first, replace(second, trace_id="0" * 32)])


async def test_only_large_values_stand_beside_the_graph_and_once(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    large = "large " * 1000
    trace.variable("small", "small")
    first = trace.variable("first", large)
    trace.variable("second", large, media_type="text/markdown")
    trace.variable("first", large, occurrence=1)
    third = trace.variable("third", large + "end")
    await trace.write(store)
    assert await store.known_values(trace.trace.id) == {first.value_hash, third.value_hash}
    assert await store.get(Label.VARIABLE, [variable.id for variable in trace.variables]) == trace.variables
    for variable in trace.variables:
        assert await store.value(variable) == trace.text(variable).encode()


@pytest.mark.each_engine
async def test_values_that_are_known_need_not_come_again(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    trace.variable("first", "large " * 1000)
    await trace.write(store)
    trace.variable("again", "large " * 1000)
    new = trace.variable("new", "new " * 1000)
    known = await store.known_values(trace.trace.id)
    with PackWriter(known) as values:
        for variable in trace.variables:
            values.add(variable.value_hash, trace.text(variable).encode())
        await store.write(trace.batch(), values)
    assert await store.known_values(trace.trace.id) == known | {new.value_hash}
    for variable in trace.variables:
        assert await store.value(variable) == trace.text(variable).encode()


async def test_values_of_many_packs(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    random = Random(3)
    for number in range(12):
        trace.variable(f"v{number}", random.randbytes(1_500_000).hex())
    await trace.write(store)
    for variable in random.sample(trace.variables, len(trace.variables)):
        assert await store.value(variable) == trace.text(variable).encode()


async def test_a_value_is_checked_against_its_hash(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    small, large = trace.variable("small", "small"), trace.variable("large", "large " * 1000)
    await trace.write(store)
    other = hash_value(b"something else")
    for forged in (
        replace(large, value_hash=other),
        replace(large, trace_id="0" * 32),
        replace(small, value_hash=other),
        replace(small, value="smell"),
        replace(small, value=None, value_hash=other),
    ):
        with pytest.raises(CorruptValueError) as caught:
            await store.value(forged)
        assert caught.value.value_hash == forged.value_hash


async def test_versions_that_are_much_the_same_take_little_room(store: GraphStore, project: str) -> None:
    random = Random(4)
    buffer = random.randbytes(40_000).hex()
    before = (await store.stats()).value_bytes
    first = TraceBuilder(project, "first")
    first.variable("buffer", buffer)
    await first.write(store)
    one = (await store.stats()).value_bytes
    many = TraceBuilder(project, "many")
    for number in range(60):
        many.variable(f"buffer {number}", buffer + f"message {number}")
    await many.write(store)
    all_of_them = (await store.stats()).value_bytes
    assert before is not None
    assert one is not None
    assert all_of_them is not None
    assert all_of_them - one < 2 * (one - before)


async def test_a_deleted_trace_leaves_nothing(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    result = await trace.write(store)
    before = (await store.stats()).value_bytes
    assert await store.delete_trace(trace.trace.id) == result.created
    assert await store.known_values(trace.trace.id) == set()
    assert (await store.traces()).items == []
    assert (await store.failures()).items == []
    assert await store.attributions([failure.id for failure in trace.failures]) == []
    assert (await store.scan("Oslo")).hits == await store.search("Oslo") == []
    stats = await store.stats()
    assert (set(stats.labels.values()), stats.kinds) == ({0}, {})
    assert before is None or (stats.value_bytes or 0) < before
    for label, elements in elements_of(trace.batch()).items():
        assert await store.get(label, [element.id for element in elements]) == []
    for label in (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION):
        assert (await store.page(label, trace.trace.id)).items == []
    with pytest.raises(CorruptValueError):
        await store.value(next(variable for variable in trace.variables if variable.value is None))


async def test_a_deleted_trace_can_be_written_again(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    first = await trace.write(store)
    await store.delete_trace(trace.trace.id)
    again = await trace.write(store)
    assert again == first
    assert await store.get(Label.VARIABLE, [variable.id for variable in trace.variables]) == trace.variables
    for variable in trace.variables:
        assert await store.value(variable) == trace.text(variable).encode()
    assert len((await store.closure([trace.variables[7].id])).derivations) == len(trace.derivations)


async def test_deleting_one_of_two_equal_traces_leaves_the_other(store: GraphStore, project: str) -> None:
    first, second = assistant(project, "first"), assistant(project, "second")
    await first.write(store)
    await second.write(store)
    await store.delete_trace(first.trace.id)
    assert await store.known_values(second.trace.id) != set()
    assert await store.get(Label.VARIABLE, [variable.id for variable in second.variables]) == second.variables
    assert (await store.operation(second.operations[0].id)).used == [second.variables[2], second.variables[0]]
    for variable in second.variables:
        assert await store.value(variable) == second.text(variable).encode()
    for text in ("Oslo", "Bergen message"):
        assert {hit.variable.trace_id for hit in await store.search(text)} == {second.trace.id}
    assert (await store.failures()).items == second.failures


async def test_a_large_trace_is_deleted_whole(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    step = trace.operation("step")
    for number in range(12_000):
        variable = trace.variable(f"v{number}", by=step)
        trace.derive(variable, *trace.variables[-3:-1], by=step)
    result = await trace.write(store)
    assert await store.delete_trace(trace.trace.id) == result.created
    assert set((await store.stats()).labels.values()) == {0}
    assert await store.get(Label.VARIABLE, [variable.id for variable in trace.variables]) == []
