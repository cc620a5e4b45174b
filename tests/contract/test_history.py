"""What people said of failures is kept when they change it, and comes back when they undo it; on both engines."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from attribution.review.history import history, undo_verdict
from attribution.review.people import Judgement, record_verdict, withdraw_verdict
from schema.annotation import MAX_CHANGES
from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.kinds import ErrorType
from schema.models import Attribution, Batch
from store.contract.protocol import Database, GraphStore
from store.contract.verdict_changes import read_said
from tests.contract.samples import assistant
from tests.contract.test_records import entry
from tests.factory import TraceBuilder


async def written(store: GraphStore) -> tuple[TraceBuilder, str]:
    """A trace with a failure, and the failure's id."""
    trace = assistant(store.project_id)
    await trace.write(store)
    return trace, trace.failures[0].id


async def say(store: GraphStore, failure: str, reason: str, author: str = "Ada") -> Attribution:
    """A verdict of a person."""
    also = ((ErrorType.JUDGE, None),)
    return await record_verdict(store, Judgement(failure, ErrorType.ANNOTATION, None, reason, 0.5, also), author)


async def told(store: GraphStore, failure: str) -> list[tuple[int, str, str | None, bool]]:
    """For each change: number, author, reason, and whether the change still counts."""
    return [
        (one.number, one.changed_by, read_said(one.said).reason if one.said else None, one.undone_at is None)
        for one in (await history(store, [failure]))[failure]
    ]


async def people(store: GraphStore, failure: str) -> list[str | None]:
    """What people say now."""
    return [one.reason for one in await store.attributions([failure]) if one.method == "human"]


@pytest.mark.each_engine
async def test_each_change_is_kept_and_undo_brings_back_the_one_before(store: GraphStore) -> None:
    _, failure = await written(store)
    assert await told(store, failure) == []
    first = await say(store, failure, "one")
    assert await store.verdict_changes([failure]) == []
    assert await told(store, failure) == [(1, "Ada", "one", True)]
    second = await say(store, failure, "two")
    assert second.id == first.id
    await say(store, failure, "two")
    assert await told(store, failure) == [(1, "Ada", "one", True), (2, "Ada", "two", True)]
    undone = await undo_verdict(store, failure, "Ada")
    assert (undone.attribution_id, undone.verdict) == (first.id, first)
    assert [one for one in await store.attributions([failure]) if one.method == "human"] == [first]
    await say(store, failure, "three")
    assert (await undo_verdict(store, failure, "Ada")).verdict == first
    assert (await undo_verdict(store, failure, "Ada")).verdict is None
    assert await people(store, failure) == []
    assert await told(store, failure) == [
        (1, "Ada", "one", False),
        (2, "Ada", "two", False),
        (3, "Ada", "three", False),
    ]
    with pytest.raises(InputError, match="nothing of 'Ada' to undo"):
        await undo_verdict(store, failure, "Ada")
    await say(store, failure, "four")
    assert (await told(store, failure))[-1] == (4, "Ada", "four", True)
    assert await people(store, failure) == ["four"]


async def test_the_first_verdict_is_withdrawn_by_undo(store: GraphStore) -> None:
    _, failure = await written(store)
    await say(store, failure, "one")
    assert (await undo_verdict(store, failure, "Ada")).verdict is None
    assert await people(store, failure) == []
    assert await told(store, failure) == [(1, "Ada", "one", False)]


async def test_what_was_withdrawn_comes_back(store: GraphStore) -> None:
    _, failure = await written(store)
    verdict = await say(store, failure, "one")
    await withdraw_verdict(store, verdict.id, None, by="an admin")
    assert await told(store, failure) == [(1, "Ada", "one", True), (2, "an admin", None, True)]
    assert (await undo_verdict(store, failure, "Ada")).verdict == verdict
    assert await people(store, failure) == ["one"]


async def test_people_undo_only_their_own(store: GraphStore) -> None:
    _, failure = await written(store)
    await say(store, failure, "one")
    await say(store, failure, "other", "Ben")
    with pytest.raises(InputError):
        await undo_verdict(store, failure, "Eve")
    await undo_verdict(store, failure, "Ada")
    assert await people(store, failure) == ["other"]


async def test_methods_have_no_history(store: GraphStore) -> None:
    trace, failure = await written(store)
    (verdict,) = trace.attributions
    await store.write(Batch(trace.trace, attributions=[replace(verdict, reason="another")]))
    assert await store.verdict_changes([failure]) == []
    with pytest.raises(NotFoundError):
        await store.undo_verdict(verdict.id, "Ada")
    assert len(await store.attributions([failure])) == 1


async def test_an_undo_stands_in_the_audit_log(database: Database, store: GraphStore, project: str) -> None:
    _, failure = await written(store)
    verdict = await say(store, failure, "one")

    def entry_of(target: str) -> AuditEntry:
        return entry(project, action="undoVerdict", target=target)

    await undo_verdict(store, failure, "Ada", entry_of)
    (logged,) = (await database.records(project).audit()).items
    assert (logged.action, logged.target) == ("undoVerdict", verdict.id)


@pytest.mark.parametrize("whole", [True, False])
async def test_the_history_goes_with_the_failure_and_with_the_trace(store: GraphStore, whole: bool) -> None:
    trace, failure = await written(store)
    for reason in ("one", "two"):
        await say(store, failure, reason)
    assert len(await store.verdict_changes([failure])) == 2
    if whole:
        await store.delete_trace(trace.trace.id)
    else:
        await store.delete_failure(failure)
    assert await store.verdict_changes([failure]) == []
    await trace.write(store)
    assert await told(store, failure) == []


async def test_the_history_is_of_its_project(database: Database, store: GraphStore, project: str) -> None:
    _, failure = await written(store)
    for reason in ("one", "two"):
        verdict = await say(store, failure, reason)
    other = database.project(f"{project}-other")
    assert await other.verdict_changes([failure]) == []
    with pytest.raises(NotFoundError):
        await other.undo_verdict(verdict.id, "Ada")
    assert await people(store, failure) == ["two"]


async def test_nothing_is_lost_when_a_person_speaks_many_times_at_once(store: GraphStore) -> None:
    """As from two windows: each text stands in the history, numbered without a gap, and the last is what is said."""
    _, failure = await written(store)
    reasons = [f"reason {number}" for number in range(12)]
    await asyncio.gather(*(say(store, failure, reason) for reason in reasons))
    changes = await told(store, failure)
    assert sorted(what or "" for _, _, what, _ in changes) == sorted(reasons)
    assert sorted(number for number, *_ in changes) == list(range(1, 13))
    (now,) = await people(store, failure)
    assert now == next(what for number, _, what, _ in changes if number == 12)


async def test_undos_at_once_take_back_one_change_each(store: GraphStore) -> None:
    _, failure = await written(store)
    for number in range(6):
        await say(store, failure, f"reason {number}")
    await asyncio.gather(*(undo_verdict(store, failure, "Ada") for _ in range(4)))
    assert await people(store, failure) == ["reason 1"]
    assert [stands for *_, stands in await told(store, failure)] == [True, True, False, False, False, False]


async def test_a_verdict_is_changed_so_often_and_no_more(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.contract.verdict_changes.MAX_CHANGES", 3)
    assert MAX_CHANGES == 1000
    _, failure = await written(store)
    for reason in ("one", "two", "three"):
        await say(store, failure, reason)
    with pytest.raises(InputError, match="changed 3 times"):
        await say(store, failure, "four")
    assert await people(store, failure) == ["three"]
