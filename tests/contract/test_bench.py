"""Who gets which case: reservations, room and refusals at their borders, without a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schema.annotation import AnnotationQueue, Assignment, CaseOrder, Progress
from schema.errors import InputError
from schema.people import MAX_NAME
from store.contract.assigning import Bench, Decide, finish, give_next, hold, last_act, order_of, take_back

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
LATER = NOW + timedelta(minutes=5)
QUEUE = AnnotationQueue(
    id="q",
    project_id="p",
    name="first",
    ordering=CaseOrder.RANDOM,
    seed="seed",
    annotators=2,
    people=(),
    reservation_seconds=600,
    failure_ids=("f1", "f2"),
    ranks=(0, 1),
    created_at=NOW,
    created_by="Ada",
)
CLOSED = replace(QUEUE, closed_at=NOW)


def case(person: str, progress: Progress = Progress.RESERVED, failure: str = "f1", **more: Any) -> Assignment:
    until = LATER if progress is Progress.RESERVED else None
    fields = {"reserved_until": until, "changed_at": NOW - timedelta(hours=1)} | more
    return Assignment(f"{person}-{failure}", "p", "q", failure, person, progress, **fields)


def bench(*assignments: Assignment, queue: AnnotationQueue = QUEUE) -> Bench:
    return Bench(queue, assignments, NOW)


def ended(person: str, failure: str = "f1") -> Assignment:
    return case(person, failure=failure, reserved_until=NOW)


def test_the_clock_of_a_queue_never_goes_back() -> None:
    assert Bench.at(QUEUE, [], NOW).now == NOW
    assert Bench.at(QUEUE, [case("Ada", changed_at=NOW - TICK)], NOW).now == NOW
    assert Bench.at(QUEUE, [case("Ada", changed_at=NOW)], NOW).now == NOW + TICK
    assert Bench.at(QUEUE, [case("Ada", changed_at=LATER), case("Ben")], NOW).now == LATER + TICK


@pytest.mark.parametrize(
    ("one", "live", "taken"),
    [
        (case("Ada"), True, True),
        (case("Ada", reserved_until=NOW + TICK), True, True),
        (case("Ada", reserved_until=NOW), False, False),
        (case("Ada", reserved_until=None), False, False),
        (case("Ada", Progress.DONE), False, True),
        (case("Ada", Progress.SKIPPED), False, False),
        (case("Ada", Progress.SKIPPED, reserved_until=LATER), False, False),
        (case("Ada", Progress.GONE), False, False),
    ],
)
def test_a_place_is_taken_by_verdicts_and_live_reservations(one: Assignment, live: bool, taken: bool) -> None:
    found = bench(one, case("Ben"))
    assert (found.is_live(one), found.is_taken(one)) == (live, taken)
    assert found.has_room("f1", "Cy") is not taken
    assert found.has_room("f1", "Ada")
    assert found.has_room("f2", "Cy")
    assert found.takes(one) is (one.progress is not Progress.GONE)


@pytest.mark.parametrize(
    ("own", "takes"),
    [
        (case("Ada"), True),
        (ended("Ada"), False),
        (case("Ada", Progress.DONE), True),
        (case("Ada", Progress.SKIPPED), False),
        (case("Ada", Progress.GONE), False),
    ],
)
def test_where_others_have_all_places_only_what_was_taken_is_accepted(own: Assignment, takes: bool) -> None:
    assert bench(case("Ben"), own, case("Cy", Progress.DONE)).takes(own) is takes


def test_a_new_reservation_keeps_a_verdict_and_a_draft() -> None:
    before = case("Ada", Progress.SKIPPED, attribution_id="a1", draft="old")
    found = bench(before).reserved("Ada", "f1")
    assert (found.progress, found.reserved_until) == (Progress.RESERVED, NOW + timedelta(seconds=600))
    assert (found.attribution_id, found.draft, found.changed_at) == ("a1", "old", NOW)
    assert (found.project_id, found.queue_id, found.failure_id, found.person) == ("p", "q", "f1", "Ada")
    assert bench(before).reserved("Ada", "f1", "new").draft == "new"
    fresh = bench(before).reserved("Ben", "f1")
    assert (fresh.attribution_id, fresh.draft) == (None, None)
    assert len({found.id, fresh.id, bench().reserved("Ada", "f2").id}) == 3


@pytest.mark.parametrize(
    ("assignments", "failure"),
    [
        ([], "f1"),
        ([case("Ada", failure="f2")], "f2"),
        ([ended("Ada", "f2")], "f1"),
        ([ended("Ada")], "f1"),
        ([case("Ada", Progress.DONE)], "f2"),
        ([case("Ada", Progress.SKIPPED)], "f2"),
        ([case("Ada", Progress.DONE), case("Ada", Progress.SKIPPED, "f2")], None),
        ([case("Ben")], "f1"),
        ([case("Ben"), case("Cy", Progress.DONE)], "f2"),
        ([case("Ben"), ended("Cy")], "f1"),
        ([case("Ben"), case("Cy"), ended("Ada")], "f2"),
        ([case("Ben", Progress.GONE)], "f2"),
        ([case("Ben", Progress.GONE), case("Cy", Progress.GONE, "f2")], None),
    ],
)
def test_the_next_case_is_the_first_with_room(assignments: list[Assignment], failure: str | None) -> None:
    found = give_next("Ada")(bench(*assignments))
    assert found.refusal is None
    assert (found.assignment.failure_id if found.assignment else None) == failure
    assert found.assignment is None or found.assignment.progress is Progress.RESERVED


@pytest.mark.parametrize(
    ("own", "others", "refusal"),
    [
        (case("Ada"), 2, None),
        (ended("Ada"), 1, None),
        (ended("Ada"), 2, "your reservation ended at 12:00:00 UTC, and 2 others have the case now"),
        (case("Ada", Progress.SKIPPED), 2, "your reservation ended, and 2 others have the case now"),
        (case("Ada", Progress.SKIPPED), 1, None),
        (case("Ada", Progress.DONE), 2, None),
        (case("Ada", Progress.GONE), 0, "the failure was deleted"),
    ],
)
def test_a_draft_is_kept_also_where_the_case_is_refused(own: Assignment, others: int, refusal: str | None) -> None:
    around = [case(name) for name in ("Ben", "Cy")[:others]]
    found = hold("Ada", "f1", "my draft")(bench(own, *around))
    assert found.refusal == refusal
    assert found.assignment is not None
    assert (found.assignment.draft, found.assignment.changed_at) == ("my draft", NOW)
    renewed = refusal is None and own.progress is not Progress.DONE
    assert found.assignment.progress is (Progress.RESERVED if renewed else own.progress)
    assert found.assignment.reserved_until == (NOW + timedelta(minutes=10) if renewed else own.reserved_until)
    closed = hold("Ada", "f1", "my draft")(bench(own, queue=CLOSED))
    assert closed.refusal == "the queue 'first' is closed"
    assert closed.assignment == replace(own, draft="my draft", changed_at=NOW)


@pytest.mark.parametrize("progress", [Progress.DONE, Progress.SKIPPED, Progress.GONE])
def test_the_end_of_a_case_is_noted(progress: Progress) -> None:
    own = case("Ada", draft="draft", attribution_id="a1")
    found = finish("Ada", "f1", progress)(bench(case("Ben"), own)).assignment
    kept = "draft" if progress is Progress.SKIPPED else None
    assert found == replace(own, progress=progress, reserved_until=None, changed_at=NOW, draft=kept)
    other = finish("Ada", "f1", progress, "a2")(bench(own)).assignment
    assert other is not None
    assert other.attribution_id == "a2"


@pytest.mark.parametrize(
    ("own", "others", "problem"),
    [
        (case("Ada", Progress.DONE), 2, None),
        (case("Ada", Progress.SKIPPED), 1, None),
        (case("Ada", Progress.SKIPPED), 2, "2 others have the case now"),
        (case("Ada"), 0, "is neither submitted nor skipped"),
        (case("Ada", Progress.GONE), 0, "is neither submitted nor skipped"),
        (case("Cy", Progress.DONE), 0, "is neither submitted nor skipped"),
    ],
)
def test_a_case_is_taken_back_where_there_is_room(own: Assignment, others: int, problem: str | None) -> None:
    found = bench(own, *(case(name) for name in ("Ben", "Cy")[:others]))
    if problem:
        with pytest.raises(InputError, match=problem):
            take_back("Ada", "f1")(found)
    else:
        assert take_back("Ada", "f1")(found).assignment == found.reserved("Ada", "f1")


@pytest.mark.parametrize(
    ("decide", "named", "queue", "problem"),
    [
        (give_next("Ada"), (), CLOSED, "closed"),
        (give_next("Ada"), (), replace(QUEUE, people=("Ben", "Cy")), "Ada"),
        (hold("Ada", "f1", "x"), (case("Ben"),), QUEUE, "was not given to you"),
        (hold("Ada", "f1", "x"), (case("Ada", failure="f2"),), QUEUE, "was not given to you"),
        (finish("Ada", "f1", Progress.DONE), (case("Ben"),), QUEUE, "was not given to you"),
        (finish("Ada", "f1", Progress.SKIPPED), (case("Ada"),), CLOSED, "closed"),
        (finish("Ada", "f1", Progress.SKIPPED), (case("Ada", Progress.DONE),), QUEUE, "is submitted: undo that first"),
        (take_back("Ada", "f1"), (case("Ada", Progress.DONE),), CLOSED, "closed"),
    ],
)
def test_what_is_not_theirs_is_refused(
    decide: Decide, named: tuple[Assignment, ...], queue: AnnotationQueue, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        decide(bench(*named, queue=queue))


def test_a_verdict_may_arrive_after_a_queue_was_closed() -> None:
    for progress in (Progress.DONE, Progress.GONE):
        found = finish("Ada", "f1", progress)(bench(case("Ada"), queue=CLOSED)).assignment
        assert found is not None
        assert found.progress is progress


def test_the_last_act_is_the_latest_that_was_submitted_or_skipped() -> None:
    def at(minute: int, progress: Progress, failure: str, person: str = "Ada") -> Assignment:
        return case(person, progress, failure, changed_at=NOW + timedelta(minutes=minute))

    acts = [
        at(3, Progress.SKIPPED, "f1"),
        at(2, Progress.DONE, "f2"),
        at(5, Progress.RESERVED, "f3"),
        at(6, Progress.GONE, "f4"),
        at(9, Progress.DONE, "f5", "Ben"),
    ]
    assert last_act(acts, "Ada") == acts[0]
    assert last_act(acts[1:], "Ada") == acts[1]
    assert last_act(acts[2:], "Ada") is None


def test_each_person_has_an_order_of_their_own_within_a_rank() -> None:
    ids = tuple(f"f{number}" for number in range(30))
    queue = replace(QUEUE, failure_ids=ids, ranks=tuple(number // 10 for number in range(30)))
    orders = {person: order_of(queue, person) for person in ("Ada", "Ben")}
    for order in orders.values():
        for rank in range(3):
            assert set(order[rank * 10 : rank * 10 + 10]) == set(ids[rank * 10 : rank * 10 + 10])
    others = [orders["Ben"], list(ids), order_of(replace(queue, seed="other"), "Ada")]
    assert orders["Ada"] not in others
    assert orders["Ada"] == order_of(queue, "Ada")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "n" * (MAX_NAME + 1)}, "name"),
        ({"name": ""}, "name"),
        ({"name": " first"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"annotators": 0}, "annotators: 0 is not from 1 to 20"),
        ({"annotators": 21}, "annotators: 21 is not from 1 to 20"),
        ({"reservation_seconds": 0}, "reservation: 0 is not from 1 to 604,800"),
        ({"reservation_seconds": 604_801}, "reservation: 604,801 is not from 1 to 604,800"),
        ({"failure_ids": (), "ranks": ()}, "cases: 0 failures are not from 1 to 2,000"),
        ({"failure_ids": ("f",) * 2_001}, "cases: 2,001 failures are not from 1 to 2,000"),
        ({"people": ("Ada",)}, "people: 1 people are too few for 2 a case"),
        ({"people": tuple(f"P{number}" for number in range(101))}, "people: more than 100"),
        ({"people": ("Ada", "")}, "people"),
    ],
)
def test_a_queue_beyond_a_bound_is_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        replace(QUEUE, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "n"},
        {"name": "n" * MAX_NAME},
        {"annotators": 1},
        {"annotators": 20},
        {"reservation_seconds": 1},
        {"reservation_seconds": 604_800},
        {"failure_ids": ("f",) * 2_000},
        {"people": ("Ada", "Ben")},
        {"people": tuple(f"P{number}" for number in range(100))},
    ],
)
def test_a_queue_at_a_bound_is_made(change: dict[str, Any]) -> None:
    assert replace(QUEUE, **change).id == "q"
