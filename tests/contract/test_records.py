"""Keys and the audit log."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from schema.control import ApiKey, AuditEntry, Job, JobState, Role
from schema.errors import ConflictError, InputError, NotFoundError
from schema.ids import make_id
from store.contract.answers import Page
from store.contract.protocol import Database
from store.contract.records import ProjectRecords
from tests.contract.test_jobs import job as queued_job
from tests.contract.test_pages import all_pages
from tests.factory import START, moment

BAD_CURSORS = ["", "x", ":", "1", "1:", ":1", "ünï:1", "\0", "1:ü", "9" * 40 + ":1", "9" * 18 + ":1", "0" * 100_000]


def key(project: str, number: int = 0, /, **more: object) -> ApiKey:
    """A key; the higher its number, the newer it is."""
    plain = ApiKey(
        id=make_id("key", project, str(number))[:16],
        project_id=project,
        name=f"key {number} ünï",
        role=Role.WRITER,
        secret_hash=make_id("secret", project, str(number)) * 2,
        created_at=moment(number),
        created_by="command line",
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def entry(project: str, number: int = 0, /, **more: object) -> AuditEntry:
    """An entry; the higher its number, the newer it is."""
    plain = AuditEntry(
        id=make_id("entry", project, str(number)),
        project_id=project,
        at=moment(number),
        actor=f"key:{number}",
        action="deleteTrace",
        target="a trace",
        outcome="ok",
        request_id=f"request {number}",
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def job(project: str, number: int = 0, /, **more: object) -> Job:
    """A job that no runner takes."""
    return queued_job(project, number, state=JobState.DONE, **more)


@pytest.fixture
def records(database: Database, project: str) -> ProjectRecords:
    """The project's keys, jobs and audit log."""
    return database.records(project)


@pytest.mark.each_engine
async def test_a_key_is_found_by_its_id(database: Database, records: ProjectRecords, project: str) -> None:
    assert records.project_id == project
    plain = key(project)
    full = key(
        project, 1, role=Role.ADMIN, expires_at=moment(50), revoked_at=moment(60), last_used_at=moment(70), person="Ada"
    )
    for one in (plain, full):
        await records.add_key(one)
        assert await database.registry().key(one.id) == one
    assert await records.keys() == Page([full, plain], None)
    for absent in ("", "x", "ünï", plain.id[:8], plain.secret_hash):
        assert await database.registry().key(absent) is None


async def test_a_key_that_is_added_again_stays_as_it_is(
    database: Database, records: ProjectRecords, project: str
) -> None:
    await records.add_key(key(project))
    revoked = await records.revoke_key(key(project).id, moment(9))
    await records.add_key(key(project))
    assert await database.registry().key(revoked.id) == revoked
    for changed in (key(project, secret_hash="0" * 64), key(project, role=Role.ADMIN)):
        with pytest.raises(ConflictError, match=revoked.id):
            await records.add_key(changed)
    assert await records.keys() == Page([revoked], None)


OUT_OF_RANGE = [
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=-14))),
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
    datetime(2026, 1, 1),
]


@pytest.mark.one_engine
@pytest.mark.parametrize("moment", OUT_OF_RANGE)
async def test_a_moment_that_is_none_in_utc_is_refused(records: ProjectRecords, project: str, moment: datetime) -> None:
    with pytest.raises(InputError) as caught:
        await records.add_key(key(project, expires_at=moment), entry(project))
    assert (caught.value.source, caught.value.place) == ("ApiKey", "expiresAt")
    assert (await records.keys()).items == []
    assert (await records.audit()).items == []


async def test_a_moment_of_any_zone_is_kept_in_utc(records: ProjectRecords, project: str) -> None:
    zoned = datetime(9999, 12, 31, 9, 59, 59, tzinfo=timezone(timedelta(hours=-14)))
    await records.add_key(key(project, expires_at=zoned))
    (kept,) = (await records.keys()).items
    assert kept.expires_at == zoned
    assert kept.expires_at.tzinfo is UTC


@pytest.mark.each_engine
async def test_a_key_is_revoked_once(database: Database, records: ProjectRecords, project: str) -> None:
    one, other = key(project), key(project, 1)
    await records.add_key(one)
    await records.add_key(other)
    revoked = replace(one, revoked_at=moment(7))
    assert await records.revoke_key(one.id, moment(7)) == revoked
    assert await records.revoke_key(one.id, moment(8)) == revoked
    assert await records.keys() == Page([other, revoked], None)
    for absent in ("", "x", one.id[:8]):
        with pytest.raises(NotFoundError):
            await records.revoke_key(absent, moment(9))


@pytest.mark.each_engine
async def test_a_key_keeps_when_it_was_last_used(database: Database, records: ProjectRecords, project: str) -> None:
    registry = database.registry()
    keys = [key(project, number) for number in range(3)]
    for one in keys:
        await records.add_key(one)
    await registry.touch_keys({keys[0].id: moment(20), keys[1].id: moment(21), "nobody": moment(22)})
    await registry.touch_keys({keys[0].id: moment(19), keys[1].id: moment(23)})
    await registry.touch_keys({})
    assert [one.last_used_at for one in (await records.keys()).items] == [None, moment(23), moment(20)]


async def test_times_come_back_in_utc(database: Database, records: ProjectRecords, project: str) -> None:
    here = timezone(timedelta(hours=5, minutes=30))
    early = datetime(1969, 7, 20, 20, 17, 40, 5, UTC)
    await records.add_key(key(project, created_at=early.astimezone(here), expires_at=START.astimezone(here)))
    stored = await database.registry().key(key(project).id)
    assert stored == key(project, created_at=early, expires_at=START)
    assert stored.created_at.tzinfo is UTC
    revoked = await records.revoke_key(stored.id, moment(3).astimezone(here))
    assert (revoked.revoked_at, revoked.revoked_at and revoked.revoked_at.tzinfo) == (moment(3), UTC)


@pytest.mark.each_engine
@pytest.mark.parametrize("first", [1, 2, 100])
async def test_pages_come_newest_first_and_then_by_id(records: ProjectRecords, project: str, first: int) -> None:
    times = [0, 3, 1, 1, 1, -5, 2]
    keys = [key(project, place, created_at=START + timedelta(microseconds=time)) for place, time in enumerate(times)]
    entries = [entry(project, place, at=START + timedelta(microseconds=time)) for place, time in enumerate(times)]
    jobs = [job(project, place, created_at=START + timedelta(microseconds=time)) for place, time in enumerate(times)]
    for one in keys:
        await records.add_key(one)
    for work in jobs:
        await records.add_job(work)
    await records.log(entries)
    assert await all_pages(lambda after: records.keys(first, after), first) == sorted(
        keys, key=lambda one: (one.created_at, one.id), reverse=True
    )
    assert await all_pages(lambda after: records.job_page(first, after), first) == sorted(
        jobs, key=lambda one: (one.created_at, one.id), reverse=True
    )
    assert await all_pages(lambda after: records.audit(first, after), first) == sorted(
        entries, key=lambda one: (one.at, one.id), reverse=True
    )


async def test_what_is_added_in_front_moves_no_page(records: ProjectRecords, project: str) -> None:
    entries = [entry(project, number) for number in range(6)]
    await records.log(entries)
    page = await records.audit(2)
    found = list(page.items)
    for number in range(6, 12):
        await records.log([entry(project, number)])
        if page.next:
            page = await records.audit(2, page.next)
            found += page.items
    assert found == entries[::-1]
    assert len((await records.audit()).items) == 12


@pytest.mark.one_engine
@pytest.mark.parametrize("cursor", BAD_CURSORS, ids=range(len(BAD_CURSORS)))
async def test_what_is_no_cursor_is_refused(records: ProjectRecords, cursor: str) -> None:
    for page in (records.keys, records.job_page, records.audit):
        with pytest.raises(InputError, match="cursor") as caught:
            await page(2, cursor)
        assert len(str(caught.value)) < 500


@pytest.mark.each_engine
async def test_an_entry_is_logged_once(records: ProjectRecords, project: str) -> None:
    sparse = entry(project, 1, target=None, request_id=None)
    await records.log([entry(project), sparse])
    await records.log([entry(project, outcome="NotFoundError"), entry(project, 2)])
    await records.log([])
    assert await records.audit() == Page([entry(project, 2), sparse, entry(project)], None)


async def test_a_project_knows_nothing_of_the_records_of_another(
    database: Database, records: ProjectRecords, project: str
) -> None:
    await records.add_key(key(project))
    await records.add_job(job(project))
    await records.log([entry(project)])
    stranger = database.records(f"{project}-stranger")
    for add in (stranger.add_key(key(project, 5)), stranger.add_job(job(project, 5))):
        with pytest.raises(InputError, match="project"):
            await add
    with pytest.raises(InputError, match="project"):
        await stranger.log([entry(stranger.project_id), entry(project, 5)])
    for page in (stranger.keys, stranger.job_page, stranger.audit):
        assert await page() == Page([], None)
    assert await stranger.jobs([job(project).id]) == []
    with pytest.raises(NotFoundError):
        await stranger.revoke_key(key(project).id, moment(1))
    with pytest.raises(NotFoundError):
        await stranger.cancel_job(job(project).id, moment(1))
    taken = {"id": key(project).id}
    with pytest.raises(ConflictError, match="projectId"):
        await stranger.add_key(key(stranger.project_id, **taken))
    with pytest.raises(ConflictError, match="projectId"):
        await stranger.add_job(job(stranger.project_id, id=job(project).id))
    await stranger.log([entry(stranger.project_id, id=entry(project).id)])
    assert await records.keys() == Page([key(project)], None)
    assert await records.job_page() == Page([job(project)], None)
    assert await records.audit() == Page([entry(project)], None)
    for page in (stranger.keys, stranger.job_page, stranger.audit):
        assert await page() == Page([], None)


async def test_records_are_no_part_of_the_traces(database: Database, records: ProjectRecords, project: str) -> None:
    await records.add_key(key(project))
    await records.add_job(job(project))
    await records.log([entry(project)])
    assert set((await database.project(project).stats()).labels.values()) == {0}
