from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar
from uuid import uuid4

import pytest
import pytest_asyncio

from schema.errors import InputError
from schema.ids import make_id
from schema.kinds import OperationKind, Status, VariableKind
from schema.models import Variable
from store.contract.answers import ALWAYS, Label, Page, Span
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements, in_trace
from store.shared.references import elements_of
from tests.contract.samples import assistant, random_trace
from tests.factory import START, TraceBuilder
from tests.factory import moment as at

T = TypeVar("T")
ABSENT = make_id("nothing", "at all")
PAGED = (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION)


async def all_pages(read: Callable[[str | None], Awaitable[Page[T]]], first: int) -> list[T]:
    """The items of all pages; each but the last is full, and the last is not empty."""
    items: list[T] = []
    after: str | None = None
    while True:
        page = await read(after)
        items += page.items
        if page.next is None:
            assert len(page.items) <= first
            return items
        assert len(page.items) == first
        assert page.next != after
        after = page.next


@pytest.mark.each_engine
@pytest.mark.parametrize("first", [1, 3, 1000])
async def test_a_trace_is_paged_in_its_order(store: GraphStore, project: str, first: int) -> None:
    trace = random_trace(project, seed=1)
    trace.session("another")
    await trace.write(store)
    for label in PAGED:
        expected = sorted(elements_of(trace.batch())[label], key=lambda element: element.sequence)
        found = await all_pages(lambda after, of=label: store.page(of, trace.trace.id, first, after), first)  # type: ignore[misc]
        assert found == expected


async def test_a_page_that_is_just_full_is_the_last(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    count = len(trace.variables)
    assert (await store.page(Label.VARIABLE, trace.trace.id, count)).next is None
    assert (await store.page(Label.VARIABLE, trace.trace.id, count - 1)).next is not None
    assert (await store.traces(1)).next is None
    assert (await store.failures(first=1)).next is None


@pytest.mark.parametrize("first", [1, 1000])
async def test_all_pages_are_read(store: GraphStore, project: str, first: int) -> None:
    trace = assistant(project)
    await trace.write(store)
    for label in PAGED:
        expected = sorted(elements_of(trace.batch())[label], key=lambda element: element.sequence)
        assert [element async for element in in_trace(store, label, trace.trace.id, first=first)] == expected
        assert [element async for element in in_trace(store, label, ABSENT)] == []
    messages = [variable for variable in trace.variables if variable.kind is VariableKind.MESSAGE]
    assert await elements(store, Variable, trace.trace.id, ["Message"]) == messages


@pytest.mark.each_engine
async def test_only_some_kinds_are_paged(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    id_ = trace.trace.id
    wanted = {VariableKind.MESSAGE, VariableKind.ANSWER}
    expected = [variable for variable in trace.variables if variable.kind in wanted]
    for kinds in (wanted, ["Answer", "Message"], ("Message", "Answer", "Retrieval", "nothing", "")):
        found = await all_pages(lambda after, of=kinds: store.page(Label.VARIABLE, id_, 1, after, of), 1)  # type: ignore[misc]
        assert found == expected
    updates = await store.page(Label.OPERATION, id_, kinds=[OperationKind.UPDATE])
    assert [operation.kind for operation in updates.items] == [OperationKind.UPDATE]  # type: ignore[union-attr]
    failed = await store.page(Label.OPERATION, id_, statuses=["error"])
    assert [one.id for one in failed.items] == [one.id for one in trace.operations if one.status is Status.ERROR] != []
    assert await store.page(Label.OPERATION, id_, kinds=[OperationKind.RETRIEVAL], statuses=["error"]) == Page([], None)
    several = await store.pages(Label.OPERATION, [id_], statuses=["ok", "error", "nothing"])
    assert len(several[id_].items) == len(trace.operations)
    reads = await store.page(Label.DERIVATION, id_, kinds=["Read", "Revision"])
    assert reads.items == [d for d in trace.derivations if d.kind in {"Read", "Revision"}]
    assert await store.page(Label.VARIABLE, id_, kinds=["nothing"]) == Page([], None)


@pytest.mark.each_engine
async def test_only_what_is_of_a_time_is_paged(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for number in range(9):
        operation = trace.operation(f"o{number}", started_at=None if number == 4 else at(number))
        trace.variable(f"v{number}", by=operation, created_at=None if number == 4 else at(number))
    await trace.write(store)
    id_ = trace.trace.id
    for label, made in ((Label.VARIABLE, trace.variables), (Label.OPERATION, trace.operations)):
        for when, expected in (
            (Span(at(3), at(7)), (3, 5, 6)),
            (Span(since=at(6)), (6, 7, 8)),
            (Span(until=at(2)), (0, 1)),
            (Span(at(4), at(5)), ()),
            (ALWAYS, range(9)),
        ):
            read = partial(store.page, label, id_, 2, when=when)
            found = await all_pages(lambda after, read=read: read(after), 2)  # type: ignore[misc]
            assert found == [made[number] for number in expected]


async def test_a_trace_that_does_not_exist_has_no_pages(store: GraphStore, project: str) -> None:
    await assistant(project).write(store)
    for label in PAGED:
        for absent in (ABSENT, "", "x", "ünï"):
            assert await store.page(label, absent) == Page([], None)
    assert await store.failures(ABSENT) == Page([], None)


async def test_what_is_added_behind_comes_with_later_pages(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for number in range(7):
        trace.variable(f"v{number}")
    await trace.write(store)
    page = await store.page(Label.VARIABLE, trace.trace.id, 3)
    found = list(page.items)
    for number in range(7, 9):
        trace.variable(f"v{number}")
    await trace.write(store)
    while page.next:
        page = await store.page(Label.VARIABLE, trace.trace.id, 3, page.next)
        found += page.items
    assert found == trace.variables


@pytest.mark.each_engine
async def test_traces_come_by_time_and_id(store: GraphStore, project: str) -> None:
    moments = [
        START,
        START + timedelta(microseconds=1),
        START - timedelta(days=1),
        START,
        datetime(1969, 7, 20, 20, 17, 40, 5, UTC),
        None,
        None,
        START,
    ]
    traces = []
    for number, moment in enumerate(moments):
        trace = TraceBuilder(project, f"trace {number}")
        trace.trace = replace(trace.trace, created_at=moment)
        await trace.write(store)
        traces.append(trace.trace)
    unknown = datetime(1970, 1, 1, tzinfo=UTC)
    expected = sorted(traces, key=lambda trace: (trace.created_at or unknown, trace.id))
    for first in (1, 3, 100):
        assert await all_pages(lambda after, count=first: store.traces(count, after), first) == expected  # type: ignore[misc]


@pytest.mark.each_engine
async def test_failures_come_by_trace_and_id(store: GraphStore, project: str) -> None:
    traces = [TraceBuilder(project, name) for name in ("one", "two", "three")]
    for count, trace in enumerate(traces, 2):
        for number in range(count):
            trace.failure(trace.variable(f"question {number}"))
        await trace.write(store)
    failures = sorted((f for trace in traces for f in trace.failures), key=lambda f: (f.trace_id, f.id))
    for first in (1, 4, 100):
        assert await all_pages(lambda after, n=first: store.failures(None, n, after), first) == failures  # type: ignore[misc]
        for trace in traces:
            expected = [failure for failure in failures if failure.trace_id == trace.trace.id]
            id_ = trace.trace.id
            found = await all_pages(lambda after, n=first, of=id_: store.failures(of, n, after), first)  # type: ignore[misc]
            assert found == expected


@pytest.mark.each_engine
async def test_verdicts_come_oldest_first(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    failures = [trace.failure(trace.variable(f"question {number}")) for number in range(3)]
    for method in ("late", "early", "human", "unknown"):
        for failure in failures:
            trace.attribution(failure, method)
    changed = [
        replace(one, created_at=None if one.method == "unknown" else START - timedelta(seconds=place % 5))
        for place, one in enumerate(trace.attributions)
    ]
    trace.attributions = changed
    await trace.write(store)
    wanted = [failures[2].id, failures[0].id]
    found = await store.attributions([*wanted, ABSENT, "", "ünï"])
    assert {one.id for one in found} == {one.id for one in changed if one.failure_id in wanted}
    dated = [one for one in found if one.created_at]
    assert dated == sorted(dated, key=lambda one: (one.created_at, one.id))
    assert await store.attributions([]) == []


async def test_the_verdicts_on_thousands_of_failures(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for number in range(2_000):
        trace.attribution(trace.failure(trace.variable(f"question {number}")))
    await trace.write(store)
    ids = [failure.id for failure in trace.failures]
    assert await store.attributions(ids) == trace.attributions
    many = [*ids, *(make_id("nothing", str(number)) for number in range(20_000)), *ids]
    assert await store.attributions(many) == trace.attributions


BAD_CURSORS = [
    "",
    "x",
    ":",
    "1",
    "1:",
    ":1",
    "a:b",
    "-",
    "null",
    "ünï",
    "💥",
    "\0",
    "1:2:3",
    "9" * 40 + ":" + "9" * 40,
    "' OR 1=1 --",
    "AAAA",
    "eyJhIjoxfQ==",
    "[]",
    '{"a":1}',
    "0" * 100_000,
    f"{'9' * 40}:{'0' * 32}",
]


@pytest_asyncio.fixture(scope="module")
async def only_read(database: Database) -> tuple[GraphStore, TraceBuilder]:
    """A project with a trace, which tests only read."""
    trace = assistant(f"test-{uuid4().hex}")
    store = database.project(trace.project)
    await trace.write(store)
    return store, trace


@pytest.mark.once
@pytest.mark.parametrize("cursor", BAD_CURSORS, ids=range(len(BAD_CURSORS)))
async def test_what_is_no_cursor_is_refused(only_read: tuple[GraphStore, TraceBuilder], cursor: str) -> None:
    store, trace = only_read
    for label in PAGED:
        with pytest.raises(InputError, match="cursor") as caught:
            await store.page(label, trace.trace.id, 2, cursor)
        assert len(str(caught.value)) < 500
    with pytest.raises(InputError, match="cursor"):
        await store.traces(2, cursor)
    with pytest.raises(InputError, match="cursor"):
        await store.failures(None, 2, cursor)
