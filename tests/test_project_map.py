"""Projects spread over several databases: each in its own and only there, and records in the main one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from ingest.queue.admission import Sent, admit
from ingest.queue.journal.queue import open_journal
from ingest.queue.worker import EventWorker
from schema.control import BEGUN, AuditEntry
from schema.errors import InputError, NotFoundError, StoreError
from schema.ids import trace_id
from schema.models import Batch
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.open import Credentials, open_database
from store.project_map import SpreadDatabase
from store.retention import apply, policy
from store.sqlite.database import SqliteDatabase
from tests.contract.samples import assistant
from tests.contract.test_isolation import METHODS, PROBES
from tests.contract.test_records import entry, job, key
from tests.neo4j_server import Neo4jServer

EU = f"eu-{uuid4().hex}"
"""The mapped project; it may be in a Neo4j that stays."""
HOME = f"home-{uuid4().hex}"
PLACES = {EU: "eu"}


@pytest_asyncio.fixture(scope="module", params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
async def spread(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """A main SQLite file, and a store of each engine that holds one project."""
    folder = tmp_path_factory.mktemp("spread")
    main = await open_database(f"sqlite:///{folder / 'main.db'}", (folder / "values").as_uri())
    if request.param == "sqlite":
        eu = await open_database(f"sqlite:///{folder / 'eu.db'}", (folder / "values-eu").as_uri())
    else:
        server: Neo4jServer = request.getfixturevalue("neo4j_server")
        credentials = Credentials(server.user, server.password)
        eu = await open_database(server.uri, (folder / "values-eu").as_uri(), credentials, prepare=False)
    async with SpreadDatabase(main, {"eu": eu}, PLACES) as opened:
        await opened.migrate()
        yield opened


@pytest.mark.parametrize(("owner", "other"), [(EU, HOME), (HOME, EU)], ids=["mapped", "main"])
async def test_a_project_is_in_its_own_database_and_only_there(
    spread: SpreadDatabase, owner: str, other: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    trace = assistant(owner, "only-there")
    store = spread.project(owner)
    await trace.write(store)
    assert await store.get(Label.TRACE, [trace.trace.id]) == [trace.trace]
    assert await store.value(trace.variables[2]) == trace.text(trace.variables[2]).encode()
    eu, main = spread.mapped["eu"], spread.main
    own, foreign = (eu, main) if owner == EU else (main, eu)
    assert (await own.project(owner).traces()).items == [trace.trace]
    assert (await foreign.project(owner).traces()).items == []
    assert await spread.project(other).get(Label.TRACE, [trace.trace.id]) == []
    with pytest.raises(InputError, match="project"):
        await trace.write(spread.project(other))
    with pytest.raises(NotFoundError):
        await spread.project(other).delete_trace(trace.trace.id)
    await store.delete_trace(trace.trace.id)
    assert (await store.stats()).labels["Variable"] == 0


# Writing is probed above: that an id is taken in another database can't be seen, and does no harm.
@pytest.mark.parametrize("spread", ["sqlite"], indirect=True, scope="module")
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"write"}))
async def test_a_project_knows_nothing_of_another(spread: SpreadDatabase, method: str) -> None:
    for owner, other in ((EU, HOME), (HOME, EU)):
        owned, twin = assistant(owner), assistant(other)
        try:
            await owned.write(spread.project(owner))
            assert (await twin.write(spread.project(other))).existing == {}
            await PROBES[method](spread.project(other), owned)
            assert await spread.project(owner).get(Label.TRACE, [owned.trace.id]) == [owned.trace]
        finally:
            for whose in (owner, other):
                for found in (await spread.project(whose).traces()).items:
                    await spread.project(whose).delete_trace(found.id)


async def test_records_are_in_the_main_one(spread: SpreadDatabase) -> None:
    records, eu = spread.records(EU), spread.mapped["eu"]
    await records.add_key(key(EU))
    await records.add_job(job(EU))
    await records.log([entry(EU)])
    await records.set_retention(policy(EU, 30, None, "somebody"))
    assert await spread.registry().key(key(EU).id) == key(EU)
    assert (await spread.main.records(EU).keys()).items == [key(EU)]
    assert (await spread.main.records(EU).job_page()).items == [job(EU)]
    assert await eu.registry().key(key(EU).id) is None
    assert (await eu.records(EU).job_page()).items == []
    assert (await eu.records(EU).audit()).items == []
    assert await eu.records(EU).retention() is None


async def test_what_is_done_in_a_mapped_one_stands_in_the_log_of_the_main_one(spread: SpreadDatabase) -> None:
    """They are two databases: the entry is there before the act, and is told of how it ended."""
    trace = assistant(EU, "told-of")
    store, log = spread.project(EU), spread.main.records(EU)
    await trace.write(store)
    (verdict,) = trace.attributions
    acts: list[tuple[AuditEntry, Callable[[AuditEntry], Awaitable[object]]]] = [
        (entry(EU, 100), lambda told: store.write(Batch(trace.trace, attributions=[verdict]), entry=told)),
        (entry(EU, 101), lambda told: store.delete_attributions([verdict.id], told)),
        (entry(EU, 102), lambda told: store.delete_failure(verdict.failure_id, told)),
        (entry(EU, 103), lambda told: store.delete_trace(trace.trace.id, told)),
    ]
    for told, act in acts:
        await act(told)
        assert (await log.audit(1)).items == [told]
    with pytest.raises(NotFoundError):
        await store.delete_trace(trace.trace.id, entry(EU, 104))
    assert (await log.audit(1)).items == [entry(EU, 103)]
    assert (await spread.mapped["eu"].records(EU).audit()).items == []


async def test_what_a_mapped_one_could_not_do_is_told_of_too(
    spread: SpreadDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = assistant(EU, "not-done")
    store, log = spread.project(EU), spread.main.records(EU)
    await trace.write(store)
    values: Any = store._values  # type: ignore[attr-defined]

    async def away(project_id: str, trace_id: str) -> None:
        (begun,) = (await log.audit(1)).items
        assert begun == entry(EU, 110, outcome=BEGUN)
        raise StoreError("the bucket is away")

    with monkeypatch.context() as patch:
        patch.setattr(values, "delete", away)
        with pytest.raises(StoreError, match="bucket"):
            await store.delete_trace(trace.trace.id, entry(EU, 110))
    assert (await log.audit(1)).items == [entry(EU, 110, outcome="StoreError")]
    await store.delete_trace(trace.trace.id, entry(EU, 111))
    assert (await log.audit(1)).items == [entry(EU, 111)]


async def test_retention_deletes_where_the_traces_are(spread: SpreadDatabase) -> None:
    trace = assistant(EU, "old")
    await trace.write(spread.project(EU))
    await spread.records(EU).set_retention(policy(EU, 30, None, "somebody"))
    run = await apply(spread.project(EU), spread.records(EU), now=datetime.now(UTC) + timedelta(days=31))
    assert run.traces == 1
    assert await spread.mapped["eu"].project(EU).get(Label.TRACE, [trace.trace.id]) == []
    logged = (await spread.main.records(EU).audit()).items
    assert ("deleteTrace", trace.trace.id) in [(one.action, one.target) for one in logged]


async def test_health_covers_all(spread: SpreadDatabase) -> None:
    assert await spread.has_current_layout()
    found = await spread.health()
    assert (found.engine, found.problems) == ("sqlite", [])
    of_mapped = await spread.mapped["eu"].health()
    told = found.details["stores"]["eu"]
    assert (told["engine"], told["version"], told["projects"]) == (of_mapped.engine, of_mapped.version, [EU])


async def test_migrate_covers_all(tmp_path: Path) -> None:
    databases = [SqliteDatabase(tmp_path / name) for name in ("main.db", "eu.db", "us.db")]
    async with SpreadDatabase(databases[0], {"eu": databases[1], "us": databases[2]}, {}) as spread:
        await databases[0].migrate()
        with pytest.raises(StoreError, match=r"^store eu: .*; store us: "):
            await spread.has_current_layout()
        applied = await spread.migrate()
        assert await spread.has_current_layout()
        assert await spread.migrate() == []
    assert [name.partition(":")[0] for name in applied] == ["eu"] * (len(applied) // 2) + ["us"] * (len(applied) // 2)


async def test_errors_say_which_store(tmp_path: Path) -> None:
    """A store that can't be reached does not block the other stores."""
    main = SqliteDatabase(tmp_path / "main.db")
    away = await open_database("bolt://127.0.0.1:1", (tmp_path / "values").as_uri(), prepare=False)
    last = SqliteDatabase(tmp_path / "last.db")
    said = r"^store eu: bolt://127\.0\.0\.1:1: the server can't be reached"
    async with SpreadDatabase(main, {"eu": away, "last": last}, PLACES | {"far": "last"}) as spread:
        with pytest.raises(StoreError, match=said):
            await spread.migrate()
        assert await main.has_current_layout()
        assert await last.has_current_layout()
        with pytest.raises(StoreError, match=said):
            await spread.has_current_layout()
        found = await spread.health()
        assert [problem.partition(": the")[0] for problem in found.problems] == ["store eu: bolt://127.0.0.1:1"]
        assert found.details["stores"]["eu"] == {"projects": [EU]}
        told = found.details["stores"]["last"]
        assert (told["engine"], told["projects"]) == ("sqlite", ["far"])
        assert (await spread.project(HOME).traces()).items == []
        with pytest.raises(StoreError, match="can't be reached"):
            await spread.project(EU).traces()


class _Closing(SqliteDatabase):
    """Says whether it was closed, and may fail over it."""

    def __init__(self, path: Path, fails: bool) -> None:
        super().__init__(path)
        self.is_closed = False
        self._fails = fails

    async def close(self) -> None:
        await super().close()
        self.is_closed = True
        if self._fails:
            raise StoreError("it can't be closed")


@pytest.mark.parametrize("bad", [0, 1, 2])
async def test_all_are_closed(tmp_path: Path, bad: int) -> None:
    databases = [_Closing(tmp_path / f"{number}.db", number == bad) for number in range(3)]
    spread = SpreadDatabase(databases[0], {"eu": databases[1], "us": databases[2]}, {})
    with pytest.raises(StoreError, match="it can't be closed"):
        await spread.close()
    assert all(database.is_closed for database in databases)


@pytest.mark.neo4j
@pytest.mark.parametrize("scheme", ["neo4j", "bolt"])
async def test_a_database_by_its_name(neo4j_server: Neo4jServer, tmp_path: Path, scheme: str) -> None:
    uri = f"{scheme}://{neo4j_server.uri.partition('://')[2]}"
    credentials = Credentials(neo4j_server.user, neo4j_server.password)
    values = (tmp_path / "values").as_uri()
    async with await open_database(uri, values, credentials, database="neo4j") as opened:
        await opened.migrate()
        assert await opened.has_current_layout()
    with pytest.raises(StoreError, match=r"DatabaseNotFound.*nowhere"):
        await open_database(uri, values, credentials, database="nowhere")
    async with await open_database(uri, values, credentials, database="nowhere", prepare=False) as opened:
        with pytest.raises(StoreError, match=r"DatabaseNotFound.*nowhere"):
            await opened.project(EU).traces()


class _Away:
    """A database, or a project's part of one, that can't be reached until it is back."""

    def __init__(self, of: Any, back: asyncio.Event) -> None:
        self._of = of
        self._back = back

    def project(self, project_id: str, log: Any = None) -> Any:
        return _Away(self._of.project(project_id, log), self._back)

    def __getattr__(self, name: str) -> Any:
        if not self._back.is_set() and name not in {"close", "project_id"}:
            raise StoreError("away")
        return getattr(self._of, name)


async def test_events_of_a_store_that_is_away_are_not_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That all other stores are well does not make it the events' fault."""
    monkeypatch.setattr("ingest.queue.worker.wait_seconds", lambda tries: 0.01)
    main = await open_database(f"sqlite:///{tmp_path / 'main.db'}")
    back = asyncio.Event()
    away: Any = _Away(await open_database(f"sqlite:///{tmp_path / 'eu.db'}"), back)
    head = {"v": 1, "type": "variable", "trace": "t", "time": "2026-01-01T00:00:00.000000Z"}
    rest = {"kind": "Message", "version": 0, "value": "hello", "mediaType": "text/plain"}
    events = [json.dumps(head | rest | {"variable": name, "name": name}).encode() for name in ("a", "b")]
    async with (
        SpreadDatabase(main, {"eu": away}, PLACES) as spread,
        await open_journal(tmp_path / "journal", 1 << 20) as queue,
    ):
        worker = EventWorker(queue, spread, tries=3, concurrency=2)
        await worker.start()
        try:
            for project_id in (HOME, EU):
                assert await admit(queue, project_id, Sent(events)) == []
            async with asyncio.timeout(300):
                while worker.tally.store_failures < 20:
                    await asyncio.sleep(0.01)
                assert (await queue.letters(EU).count(), worker.tally.dead) == (0, 0)
                back.set()
                while (await queue.state()).packets:
                    await asyncio.sleep(0.01)
        finally:
            await worker.stop(10)
        assert worker.tally.dead == 0
        for project_id in (HOME, EU):
            assert len(await _variables(spread.project(project_id))) == 2
        assert (await main.project(EU).traces()).items == []


async def _variables(store: GraphStore) -> list[str]:
    page = await store.page(Label.VARIABLE, trace_id(store.project_id, "t"))
    return [one.id for one in page.items]
