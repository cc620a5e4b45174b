"""Queues of failures that people judge: who gets which case, on both engines."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from attribution.review.annotation.queues import find_queue, progress_of
from attribution.review.annotation.work import AssignedFailure, RefusedError
from schema.annotation import MAX_CASES, AnnotationQueue, Progress
from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.kinds import ErrorType
from store.blind import blind_store
from store.contract.assigning import order_of
from store.contract.protocol import Database, GraphStore
from tests.contract.annotating import bench, failing, let_pass, queue_of, reserved_until, says
from tests.contract.test_pages import all_pages
from tests.contract.test_records import entry
from tests.factory import TraceBuilder

PEOPLE = ["Ada", "Ben", "Cleo", "Dan"]


@pytest.fixture
async def trace(store: GraphStore, project: str) -> TraceBuilder:
    """A trace with twelve failures."""
    found = failing(project, 12)
    await found.write(store)
    return found


async def given(database: Database, queue: AnnotationQueue, person: str) -> str | None:
    """The id of the case that a person gets."""
    case = await bench(database, queue, person).next()
    return case.failure.id if case else None


async def done(database: Database, queue: AnnotationQueue, person: str, reason: str = "so") -> str:
    """A case that a person gets, and submits."""
    id_ = await given(database, queue, person)
    assert id_ is not None
    await bench(database, queue, person).submit(says(id_, reason))
    return id_


@pytest.mark.each_engine
async def test_a_queue_is_kept_as_it_was_made(database: Database, trace: TraceBuilder, project: str) -> None:
    records = database.records(project)
    queue = await queue_of(database, project, people=("Ada", "Ben"), count=5, reservation_minutes=7)
    assert queue == await records.annotation_queue(queue.id)
    assert queue == await find_queue(records, project, "queue") == await find_queue(records, project, queue.id)
    assert len(set(queue.failure_ids)) == 5
    assert set(queue.failure_ids) <= {one.id for one in trace.failures}
    again = await queue_of(database, project, name="again", count=5)
    assert again.failure_ids == queue.failure_ids
    assert (await queue_of(database, project, name="other", count=5, seed="x")).failure_ids != queue.failure_ids
    with pytest.raises(InputError, match="there is a queue 'queue' already"):
        await queue_of(database, project)
    assert [one.name for one in await all_pages(lambda after: records.queue_page(2, after), 2)] == [
        "other",
        "again",
        "queue",
    ]
    closed = await records.close_queue(queue.id, "boss", entry(project))
    assert (closed.closed_by, closed == await records.close_queue(queue.id, "another")) == ("boss", True)
    with pytest.raises(InputError, match="is closed"):
        await given(database, queue, "Ada")
    assert await records.delete_queue(queue.id) == closed
    for gone in (records.annotation_queue(queue.id), records.delete_queue(queue.id)):
        with pytest.raises(NotFoundError):
            await gone
    with pytest.raises(NotFoundError):
        await given(database, queue, "Ada")


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"name": ""}, "name"),
        ({"name": " x"}, "name"),
        ({"annotators": 0}, "annotators"),
        ({"annotators": 21}, "annotators"),
        ({"count": 0}, "count"),
        ({"count": MAX_CASES + 1}, "count"),
        ({"people": ("Ada",)}, "too few"),
        ({"people": ("flow", "Ada")}, "is a method"),
        ({"people": tuple(map(str, range(101)))}, "more than 100"),
        ({"reservation_minutes": 0}, "reservation"),
        ({"trace_ids": ("0" * 32,)}, "no answer was judged wrong"),
    ],
)
async def test_a_bad_queue_is_refused(
    database: Database, trace: TraceBuilder, project: str, wish: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        await queue_of(database, project, **wish)
    assert (await database.records(project).queue_page()).items == []


async def test_each_case_goes_to_as_many_people_as_are_wanted(
    database: Database, trace: TraceBuilder, project: str
) -> None:
    queue = await queue_of(database, project)
    had: dict[str, list[str]] = {person: [] for person in PEOPLE}
    while any([await _one_more(database, queue, person, had) for person in PEOPLE]):
        pass
    assert Counter(Counter(id_ for ids in had.values() for id_ in ids).values()) == {2: 12}
    for ids in had.values():
        assert len(ids) == len(set(ids))
    records = database.records(project)
    progress = await progress_of(records, queue)
    assert (progress.cases, progress.done, progress.in_progress, progress.verdicts) == (12, 12, 0, 24)
    assert {one.person: one.done for one in progress.people} == {name: len(ids) for name, ids in had.items()}


async def _one_more(database: Database, queue: AnnotationQueue, person: str, had: dict[str, list[str]]) -> bool:
    id_ = await given(database, queue, person)
    if id_ is not None:
        await bench(database, queue, person).submit(says(id_))
        had[person].append(id_)
    return id_ is not None


async def test_everybody_has_an_order_of_their_own(database: Database, trace: TraceBuilder, project: str) -> None:
    queue = await queue_of(database, project)
    orders = [order_of(queue, person) for person in PEOPLE]
    assert all(set(one) == set(queue.failure_ids) for one in orders)
    assert len({tuple(one) for one in orders}) == len(PEOPLE)
    assert orders == [order_of(queue, person) for person in PEOPLE]
    assert await given(database, queue, "Ada") == orders[0][0]


async def test_who_asks_again_gets_the_same_case(database: Database, trace: TraceBuilder, project: str) -> None:
    queue = await queue_of(database, project)
    first = await given(database, queue, "Ada")
    until = await reserved_until(database, queue, "Ada")
    assert await given(database, queue, "Ada") == first
    assert await reserved_until(database, queue, "Ada") > until


@pytest.mark.parametrize("annotators", [1, 2, 3])
async def test_nobody_gets_the_same_last_place(
    database: Database, trace: TraceBuilder, project: str, annotators: int
) -> None:
    """Many people ask at the same moment: a case never has more annotators than places."""
    queue = await queue_of(database, project, annotators=annotators, count=6)
    people = [f"person {number}" for number in range(20)]
    for _ in range(3):
        await asyncio.gather(*(given(database, queue, person) for person in people))
        assignments = await database.records(project).assignments(queue.id)
        places = Counter(one.failure_id for one in assignments)
        assert list(places.values()) == [annotators] * 6
        assert len({one.person for one in assignments}) == len(assignments)


async def test_only_those_who_are_named_get_cases(database: Database, trace: TraceBuilder, project: str) -> None:
    queue = await queue_of(database, project, people=("Ada", "Ben"))
    with pytest.raises(InputError, match="'Cleo' is not among its annotators"):
        await given(database, queue, "Cleo")
    assert await given(database, queue, "Ben") is not None


async def test_a_reservation_that_ends_goes_to_the_next(database: Database, project: str, store: GraphStore) -> None:
    await failing(project, 1).write(store)
    queue = await queue_of(database, project, annotators=1)
    case = await given(database, queue, "Ada")
    assert case is not None
    assert await given(database, queue, "Ben") is None
    await let_pass(database, queue, "Ada")
    assert await given(database, queue, "Ben") == case
    with pytest.raises(RefusedError, match="1 others have the case now; what you said is kept") as refused:
        await bench(database, queue, "Ada").submit(says(case, "my long text"))
    assert "my long text" in (refused.value.assignment.draft or "")
    (kept,) = [one for one in await database.records(project).assignments(queue.id) if one.person == "Ada"]
    assert kept == refused.value.assignment
    assert {one.author for one in await store.attributions([case])} == {None}
    await let_pass(database, queue, "Ben")
    submitted = await bench(database, queue, "Ada").submit(says(case, "my long text"))
    assert (submitted.assignment.progress, submitted.assignment.draft) == (Progress.DONE, None)
    assert submitted.verdict in await store.attributions([case])
    with pytest.raises(RefusedError):
        await bench(database, queue, "Ben").submit(says(case))


async def test_a_late_verdict_is_taken_while_there_is_room(
    database: Database, trace: TraceBuilder, project: str
) -> None:
    queue = await queue_of(database, project)
    case = await given(database, queue, "Ada")
    assert case is not None
    await let_pass(database, queue, "Ada")
    submitted = await bench(database, queue, "Ada").submit(says(case))
    assert submitted.assignment.progress is Progress.DONE


async def test_what_is_skipped_is_for_others(database: Database, project: str, store: GraphStore) -> None:
    await failing(project, 2).write(store)
    queue = await queue_of(database, project, annotators=1)
    first = await given(database, queue, "Ada")
    assert first is not None
    await bench(database, queue, "Ada").skip(first)
    second = await given(database, queue, "Ada")
    assert second not in {first, None}
    assert await given(database, queue, "Ben") == first
    with pytest.raises(InputError, match="1 others have the case now"):
        await bench(database, queue, "Ada").undo()
    await let_pass(database, queue, "Ben")
    back = await bench(database, queue, "Ada").undo()
    assert (back.failure.id, back.assignment.progress) == (first, Progress.RESERVED)


@pytest.mark.each_engine
async def test_undo_takes_back_the_last_act(database: Database, trace: TraceBuilder, project: str) -> None:
    queue, store = await queue_of(database, project), database.project(project)
    ada = bench(database, queue, "Ada")
    with pytest.raises(InputError, match="nothing to undo"):
        await ada.undo()
    first = await done(database, queue, "Ada", "one")
    second = await given(database, queue, "Ada")
    assert second is not None
    await ada.skip(second)
    assert (await ada.undo()).failure.id == second
    undone = await ada.undo()
    assert (undone.failure.id, undone.assignment.progress) == (first, Progress.RESERVED)
    assert {one.author for one in await store.attributions([first])} == {None}
    await ada.submit(says(first, "one"))
    await ada.submit(says(first, "two"))
    assert (await ada.undo()).assignment.progress is Progress.DONE
    assert [one.reason for one in await store.attributions([first]) if one.author] == ["one"]
    assert (await ada.undo()).assignment.progress is Progress.RESERVED


async def test_undo_of_a_case_that_is_named(database: Database, trace: TraceBuilder, project: str) -> None:
    queue, store = await queue_of(database, project), database.project(project)
    ada = bench(database, queue, "Ada")
    first = await done(database, queue, "Ada", "one")
    skipped = await given(database, queue, "Ada")
    assert skipped is not None
    await ada.skip(skipped)
    last = await done(database, queue, "Ada", "last")
    with pytest.raises(InputError, match="nothing to undo on the case"):
        await ada.undo(order_of(queue, "Ada")[-1])
    for case in (skipped, first):
        back = await ada.undo(case)
        assert (back.failure.id, back.assignment.progress) == (case, Progress.RESERVED)
    said = await store.attributions([first, last])
    assert [one.failure_id for one in said if one.author] == [last]
    with pytest.raises(InputError, match="nothing to undo on the case"):
        await ada.undo(first)


async def test_cases_that_too_many_have_skipped_are_told(database: Database, trace: TraceBuilder, project: str) -> None:
    named = await queue_of(database, project, people=("Ada", "Ben", "Cleo"), count=1)
    anybody = await queue_of(database, project, name="anybody", count=1)
    records = database.records(project)
    for queue, people, short in (
        (anybody, ("Ada", "Ben"), 0),
        (named, ("Ada",), 0),
        (named, ("Ben",), 1),
    ):
        for person in people:
            case = await given(database, queue, person)
            assert case is not None
            await bench(database, queue, person).skip(case)
        progress = await progress_of(records, queue)
        assert (progress.short, progress.done) == (short, 0)
    assert await given(database, named, "Ben") is None
    await bench(database, named, "Ben").undo(named.failure_ids[0])
    assert (await progress_of(records, named)).short == 0


async def test_what_is_not_given_is_not_taken(database: Database, trace: TraceBuilder, project: str) -> None:
    queue = await queue_of(database, project)
    case = order_of(queue, "Ada")[0]
    for act in (bench(database, queue, "Ada").submit(says(case)), bench(database, queue, "Ada").skip(case)):
        with pytest.raises(InputError, match="was not given to you"):
            await act
    await done(database, queue, "Ada")
    with pytest.raises(InputError, match="undo that first"):
        await bench(database, queue, "Ada").skip(case)
    wrong = says(case, error_type=ErrorType.UPDATE)
    with pytest.raises(InputError, match="needs the operation at fault"):
        await bench(database, queue, "Ada").submit(wrong)


@pytest.mark.each_engine
async def test_a_closed_queue_takes_nothing_and_loses_nothing(
    database: Database, trace: TraceBuilder, project: str
) -> None:
    queue = await queue_of(database, project)
    case = await given(database, queue, "Ada")
    assert case is not None
    closed = await database.records(project).close_queue(queue.id, "boss")
    with pytest.raises(RefusedError, match="is closed; what you said is kept as a draft"):
        await bench(database, queue, "Ada").submit(says(case, "my long text"))
    for act in (bench(database, queue, "Ada").skip(case), bench(database, closed, "Ada").undo()):
        with pytest.raises(InputError, match="is closed"):
            await act


@pytest.mark.each_engine
async def test_cases_that_are_deleted_are_passed_over(database: Database, trace: TraceBuilder, project: str) -> None:
    queue, store = await queue_of(database, project), database.project(project)
    first, second, third = order_of(queue, "Ada")[:3]
    for gone in (first, second):
        await store.delete_failure(gone)
    assert await given(database, queue, "Ada") == third
    assert await given(database, queue, "Ben") not in {first, second}
    progress = await progress_of(database.records(project), queue)
    assert (progress.cases, progress.in_progress) == (10, len({third, await given(database, queue, "Ben")}))


@pytest.mark.each_engine
async def test_assignments_are_of_their_project(database: Database, trace: TraceBuilder, project: str) -> None:
    queue = await queue_of(database, project, people=("Ada", "Ben"))
    await given(database, queue, "Ada")
    other = database.records(f"{project}-other")
    assert await other.assignments(queue.id) == []
    assert await other.withheld("Ada") == frozenset()
    assert (await other.queue_page()).items == []
    for act in (
        other.annotation_queue(queue.id),
        other.close_queue(queue.id, "x"),
        other.delete_queue(queue.id),
        other.assign(queue.id, lambda _: pytest.fail("it was asked")),
    ):
        with pytest.raises(NotFoundError):
            await act
    with pytest.raises(InputError):
        await other.add_queue(queue)
    assert len(await database.records(project).assignments(queue.id)) == 1


async def test_acts_stand_in_the_audit_log(database: Database, trace: TraceBuilder, project: str) -> None:
    queue, records = await queue_of(database, project), database.records(project)
    numbers = iter(range(100))

    def told(action: str, target: str | None) -> AuditEntry:
        return entry(project, next(numbers), action=action, target=target)

    ada = bench(database, queue, "Ada")
    ada._entry = told
    case = await ada.next()
    assert isinstance(case, AssignedFailure)
    await ada.submit(says(case.failure.id))
    await ada.undo()
    await ada.skip(case.failure.id)
    actions = [one.action for one in reversed((await records.audit()).items)]
    assert actions == ["reserveCase", "submitCase", "undoVerdict", "undoCase", "skipCase"]


@pytest.mark.each_engine
async def test_what_is_withheld(database: Database, trace: TraceBuilder, project: str) -> None:
    """All cases of a queue, from its annotators, each until they have submitted it."""
    records = database.records(project)
    named = await queue_of(database, project, people=("Ada", "Ben"), count=3)
    open_ = await queue_of(database, project, name="open", count=4, seed="x")
    assert await records.withheld("Ada") == set(named.failure_ids)
    assert await records.withheld("Cleo") == frozenset()
    ada = blind_store(database.project(project), records, "Ada")
    (hers, not_hers) = (named.failure_ids[0], next(one.id for one in trace.failures if one.id not in named.failure_ids))
    assert await ada.withheld_by([hers, not_hers]) == {hers: [named], not_hers: []}
    (waiting,) = await records.to_judge("Ada")
    assert (waiting.queue, waiting.failure_ids) == (named, frozenset(named.failure_ids))
    case = await done(database, named, "Ada")
    assert await records.withheld("Ada") == set(named.failure_ids) - {case}
    await given(database, open_, "Cleo")
    assert await records.withheld("Cleo") == set(open_.failure_ids)
    await bench(database, named, "Ada").undo()
    assert await records.withheld("Ada") == set(named.failure_ids)
    await records.close_queue(named.id, "boss")
    assert await records.withheld("Ada") == frozenset()


@pytest.mark.each_engine
async def test_progress_goes_by_the_clock_of_the_store(database: Database, trace: TraceBuilder, project: str) -> None:
    queue, records = await queue_of(database, project), database.records(project)
    before = await records.clock()
    assert await given(database, queue, "Ada") is not None
    after = await records.clock()
    assert (await progress_of(records, queue)).people[0].reserved == 1
    reserved = await reserved_until(database, queue, "Ada") - timedelta(minutes=30)
    assert before <= reserved <= after
    await let_pass(database, queue, "Ada")
    progress = await progress_of(records, queue)
    assert (progress.in_progress, progress.people[0].reserved) == (0, 0)
