"""One SQLite file: checks of the disk, errors in plain words, room given back, and queries that people write."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
import pytest_asyncio

from schema.errors import DamagedError, DiskFullError, InputError, StoreError
from store import open as opening
from store.contract.asked import QueryResult, QueryTimeoutError, TooMuchError
from store.open import default_values, engine_of, open_database
from store.runtime import private_files
from store.sqlite import connections as module
from store.sqlite import query as asked
from store.sqlite.connections import Connections, _Patience, add_functions, files_of
from store.sqlite.migrate import applied_migrations, is_current, migrate
from store.sqlite.query import run_query
from tests.factory import TraceBuilder


@pytest_asyncio.fixture
async def file(tmp_path: Path) -> AsyncIterator[Connections]:
    """A file with one table."""
    opened = Connections(tmp_path / "file.db", shrinks=True)
    await opened.write(lambda connection: connection.execute("CREATE TABLE t (a)"))
    yield opened
    await opened.close()


def _raises(error: Exception) -> Any:
    def work(*_: Any) -> Any:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (apsw.NotADBError("x"), DamagedError, "the file is not a SQLite database"),
        (apsw.CorruptError("x"), DamagedError, "the file is damaged"),
        (apsw.FullError("x"), DiskFullError, "the disk is full"),
        (apsw.BusyError("x"), StoreError, "another process has been writing for more than 120 seconds"),
        (apsw.LockedError("x"), StoreError, "another process has been writing for more than 120 seconds"),
        (
            apsw.CantOpenError("x"),
            StoreError,
            "the file can't be opened: check that its folder exists and may be written",
        ),
        (apsw.IOError("broken"), StoreError, "IOError: broken"),
    ],
)
@pytest.mark.parametrize("method", ["read", "write", "inspect"])
async def test_an_error_is_told_in_plain_words(
    file: Connections, method: str, error: apsw.Error, kind: type[StoreError], said: str
) -> None:
    with pytest.raises(StoreError) as caught:
        await getattr(file, method)(_raises(error))
    assert (type(caught.value), str(caught.value)) == (kind, f"{file.path}: {said}")
    # Damage stays; a full or broken disk counts if it refused a write.
    is_kept = kind is DamagedError or (method == "write" and isinstance(error, apsw.FullError | apsw.IOError))
    if is_kept:
        with pytest.raises(kind) as again:
            await file.check()
        assert str(again.value) == str(caught.value)
    else:
        await file.check()


async def test_a_lack_of_memory_is_no_error_of_the_file(file: Connections) -> None:
    with pytest.raises(MemoryError):
        await file.read(_raises(apsw.NoMemError("x")))
    await file.check()


async def test_a_refused_write_counts_for_half_a_minute(file: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("store.sqlite.connections.time.monotonic", lambda: now)
    with pytest.raises(DiskFullError):
        await file.write(_raises(apsw.FullError("x")))
    now += 29.9
    with pytest.raises(DiskFullError):
        await file.check()
    now += 0.2
    await file.check()


async def test_a_failed_write_changes_nothing(file: Connections) -> None:
    def work(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await file.write(work)
    assert await file.read(lambda connection: connection.execute("SELECT count(*) FROM t").get) == 0
    await file.write(lambda connection: connection.execute("INSERT INTO t VALUES (1)"))
    assert await file.read(lambda connection: connection.execute("SELECT a FROM t").get) == 1


async def test_the_disk_is_looked_at_every_five_seconds(file: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    now, has_room, looks = 1_000.0, True, 0

    def room(folder: Path) -> bool:
        nonlocal looks
        looks += 1
        assert folder == file.path.parent
        return has_room

    monkeypatch.setattr("store.sqlite.connections.time.monotonic", lambda: now)
    monkeypatch.setattr(module, "has_room", room)
    await file.check()
    has_room = False
    now += 4.9
    await file.check()
    assert looks == 1
    now += 0.1
    for _ in range(2):
        with pytest.raises(DiskFullError) as caught:
            await file.check()
        assert str(caught.value) == f"{file.path}: the disk is full"
    assert looks == 2
    has_room = True
    now += 5.0
    await file.check()


@pytest.mark.parametrize(
    ("error", "said"),
    [(OSError(5, "I/O error"), "I/O error"), (apsw.ReadOnlyError("locked"), "ReadOnlyError: locked")],
)
async def test_a_file_that_cannot_be_written_is_told(
    file: Connections, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    monkeypatch.setattr(module, "has_room", _raises(error))
    with pytest.raises(StoreError, match=f"^{file.path}: {said}$"):
        await file.check()


async def test_a_busy_file_says_nothing(file: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = [apsw.BusyError("x"), OSError(5, "gone")]
    monkeypatch.setattr(module, "has_room", lambda _: _raises(busy.pop(0))())
    await file.check()
    with pytest.raises(StoreError, match="gone"):  # it is tried again at once
        await file.check()


def test_a_lock_is_waited_for_two_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    now, slept = 0.0, 0.0

    def sleep(seconds: float) -> None:
        nonlocal now, slept
        now += 60.0
        slept += seconds

    monkeypatch.setattr("store.sqlite.connections.time.monotonic", lambda: now)
    monkeypatch.setattr("store.sqlite.connections.time.sleep", sleep)
    patience = _Patience()
    assert [patience.wait(tries) for tries in range(3)] == [True, False, False]
    assert patience.wait(0)  # another lock
    assert slept == pytest.approx(4 * 0.002)


@pytest.mark.parametrize(("kept", "is_rewritten"), [(10, True), (1_000, False)])
async def test_unused_room_goes_back_to_the_disk(file: Connections, kept: int, is_rewritten: bool) -> None:
    def fill(connection: apsw.Connection) -> None:
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 1_000,)] * 1_500)

    await file.write(fill)
    await file.shrink()
    full = file.path.stat().st_size
    await file.write(lambda connection: connection.execute("DELETE FROM t WHERE rowid > ?", (kept,)))
    assert file.path.stat().st_size == full
    statements: list[str] = []

    def trace(cursor: Any, statement: str, bindings: Any) -> bool:
        statements.append(statement)
        return True

    await file.write(lambda connection: setattr(connection, "exec_trace", trace))
    await file.shrink()
    assert any("VACUUM" in one for one in statements) is is_rewritten
    assert any("incremental_vacuum" in one for one in statements) is not is_rewritten
    assert file.path.stat().st_size < full * (kept + 200) / 1_500
    assert file.path.with_name("file.db-wal").stat().st_size == 0


async def test_a_file_made_without_that_is_rewritten_at_most(tmp_path: Path) -> None:
    opened = Connections(tmp_path / "old.db")
    await opened.write(lambda connection: connection.execute("CREATE TABLE t (a)"))
    await opened.write(lambda connection: connection.executemany("INSERT INTO t VALUES (?)", [("x" * 1_000,)] * 500))
    await opened.shrink()
    full = opened.path.stat().st_size
    await opened.write(lambda connection: connection.execute("DELETE FROM t WHERE rowid > 400"))
    await opened.shrink()
    assert opened.path.stat().st_size == full
    await opened.write(lambda connection: connection.execute("DELETE FROM t WHERE rowid > 100"))
    await opened.shrink()
    assert opened.path.stat().st_size < full / 2
    await opened.close()


def test_the_files_of_a_store() -> None:
    assert files_of(Path("/a/b.db")) == [Path("/a/b.db"), Path("/a/b.db-wal"), Path("/a/b.db-shm")]


async def test_a_new_file_is_private(file: Connections) -> None:
    assert [one.stat().st_mode & 0o777 for one in files_of(file.path)] == [0o600] * 3


def test_private_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    root.mkdir(0o755)
    private_files.make_folders(root / "a" / "b", root)
    assert [one.stat().st_mode & 0o777 for one in (root, root / "a", root / "a" / "b")] == [0o755, 0o700, 0o700]
    outside = tmp_path / "none" / "c"
    with pytest.raises(FileNotFoundError):
        private_files.make_folders(outside, outside)
    private_files.make_folders(outside)
    assert outside.is_dir()
    path = root / "file"
    private_files.make_private(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"kept")
    private_files.make_private(path)
    assert path.read_bytes() == b"kept"
    private_files.make_private(tmp_path / "nowhere" / "file")  # opening it gives a better message
    path.chmod(0o640)
    (root / "sub").mkdir(0o750)
    (root / "a" / "hidden").touch(0o644)
    assert private_files.opened_to_others([path, root / "sub", root / "none", root / "a" / "hidden"]) == [
        f"{path} can be read by others of this machine (mode 640): chmod 600",
        f"{root / 'sub'} can be read by others of this machine (mode 750): chmod 700",
    ]
    path.chmod(0o604)
    assert len(private_files.opened_to_others([path])) == 1
    monkeypatch.setattr("store.runtime.private_files._LEAST_FREE_BYTES", 1)
    assert private_files.has_room(root)
    monkeypatch.setattr("store.runtime.private_files._LEAST_FREE_BYTES", 1 << 70)
    assert not private_files.has_room(root)


@pytest.mark.parametrize(
    ("uri", "engine"),
    [
        ("sqlite:///a.db", "sqlite"),
        ("sqlite:////a/b.db", "sqlite"),
        *(
            (f"{scheme}://h:7687", "neo4j")
            for scheme in ("neo4j", "bolt", "neo4j+s", "bolt+s", "neo4j+ssc", "bolt+ssc")
        ),
    ],
)
def test_a_uri_names_an_engine(uri: str, engine: str) -> None:
    assert engine_of(uri) == engine


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("a.db", "'a.db' is neither sqlite:///path nor neo4j://host:port nor bolt://host:port"),
        ("http://h", "'http://h' is neither sqlite:///path nor neo4j://host:port nor bolt://host:port"),
        ("sqlite://a.db", "'sqlite://a.db' names no file: write sqlite:///path, with four slashes if absolute"),
        ("sqlite:///", "'sqlite:///' names no file: write sqlite:///path, with four slashes if absolute"),
    ],
)
def test_another_uri_is_refused(uri: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        engine_of(uri)
    assert str(caught.value) == f"store: {problem}"


async def test_a_missing_file_or_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with pytest.raises(StoreError) as caught:
        await open_database(f"sqlite:///{path}", create=False)
    assert str(caught.value) == f"there is no store {path}: import a file first, or name another with --store"
    assert not path.exists()
    with pytest.raises(StoreError) as caught:
        await open_database(f"sqlite:///{tmp_path}/none/a.db")
    assert str(caught.value) == f"the folder of {tmp_path}/none/a.db does not exist"
    async with await open_database(f"sqlite:///{path}"):
        pass
    async with await open_database(f"sqlite:///{path}", create=False):
        pass


async def test_a_server_is_opened_with_all_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[Any] = []

    class _Database:
        def __init__(self, uri: str, user: str, password: str, values: Any, name: str | None) -> None:
            self.said = (uri, user, password, values.uri if hasattr(values, "uri") else values, name)
            self.done: list[str] = []
            made.append(self)

        async def prepare(self) -> None:
            self.done.append("prepare")
            if self.said[1] == "bad":
                raise StoreError("no")

        async def close(self) -> None:
            self.done.append("close")

    monkeypatch.setattr("store.neo4j.database.Neo4jDatabase", _Database)
    monkeypatch.setattr(opening, "ObjectValues", lambda uri: uri)
    values = tmp_path.as_uri()
    person = opening.Credentials("ada", "secret")
    assert "secret" not in repr(person)
    await open_database("neo4j://h", values, person, database="memory")
    await open_database("bolt://h", prepare=False)
    with pytest.raises(StoreError):
        await open_database("bolt://h", values, opening.Credentials("bad"))
    assert [(one.said, one.done) for one in made] == [
        (("neo4j://h", "ada", "secret", values, "memory"), ["prepare"]),
        (("bolt://h", "neo4j", "", default_values(), None), []),
        (("bolt://h", "bad", "", values, None), ["prepare", "close"]),
    ]
    assert default_values().startswith("file:///")
    assert default_values().endswith("/memtrace/values")


@pytest.mark.parametrize(
    ("text", "lowered"),
    [("ABC", "abc"), ("Straße", "straße"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("İ", "i\u0307"), ("ŽLUŤ", "žluť"), ("7", "7")],
)
def test_letters_are_lowered_as_neo4j_lowers_them(opened: apsw.Connection, text: str, lowered: str) -> None:
    add_functions(opened)
    assert opened.execute("SELECT lowered(?)", (text,)).get == lowered


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[apsw.Connection]:
    """An empty file."""
    with contextlib.closing(apsw.Connection(str(tmp_path / "own.db"))) as connection:
        yield connection


def test_another_program_s_file_stays_as_it_is(opened: apsw.Connection) -> None:
    opened.execute("CREATE TABLE theirs (a)")
    with pytest.raises(StoreError) as caught:
        migrate(opened)
    said = "this SQLite file belongs to another program: it has tables, but no table of migrations"
    assert str(caught.value) == said
    assert [name for (name,) in opened.execute("SELECT name FROM sqlite_schema")] == ["theirs"]


def test_migrations_are_applied_once_and_newer_ones_are_refused(opened: apsw.Connection) -> None:
    add_functions(opened)
    names = migrate(opened)
    assert names == sorted(names)
    assert migrate(opened) == []
    assert is_current(opened)
    applied = applied_migrations(opened)
    newest = max(applied)
    assert f"{newest:04d}_{applied[newest]}" == names[-1]
    opened.execute("DELETE FROM migration WHERE number = ?", (newest,))
    assert not is_current(opened)
    opened.execute("INSERT INTO migration VALUES (?, 'later', '2026-01-01T00:00:00Z')", (newest + 1,))
    with pytest.raises(StoreError) as caught:
        applied_migrations(opened)
    assert str(caught.value) == (
        f"this SQLite file was written by a newer version (layout {newest + 1}, known is {newest})"
    )


@pytest_asyncio.fixture
async def written(tmp_path: Path) -> Path:
    """A store with two projects."""
    async with await open_database(f"sqlite:///{tmp_path / 'two.db'}") as database:
        for project, names in (("p", ("a", "b", "c")), ("q", ("z",))):
            trace = TraceBuilder(project)
            for name in names:
                trace.variable(name)
            await trace.write(database.project(project))
    return tmp_path / "two.db"


def _ask(path: Path, text: str, seconds: float = 60, limit: int = 10, **named: Any) -> QueryResult:
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        try:
            return run_query(connection, "p", text, named, seconds, limit)
        finally:
            assert connection.authorizer is None


async def test_a_query_reads_the_rows_of_its_project(written: Path) -> None:
    text = "SELECT sequence FROM variable ORDER BY sequence"
    assert _ask(written, text) == QueryResult(["sequence"], [[0], [1], [2]], False)
    assert _ask(written, text, limit=3).truncated is False
    assert _ask(written, text, limit=2) == QueryResult(["sequence"], [[0], [1]], True)
    assert _ask(written, "SELECT :project AS p, $x AS x -- a comment", x=2) == QueryResult(
        ["p", "x"], [["p", 2]], False
    )
    assert _ask(written, "SELECT x'00ff' AS h") == QueryResult(["h"], [["00ff"]], False)
    assert _ask(written, "SELECT value FROM json_each('[1]')").rows == [[1]]
    assert _ask(written, "SELECT count(*) FROM variable").rows == [[3]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT 1; SELECT 2", "write one statement"),
        ("DELETE FROM variable", "cannot modify variable because it is a view"),
        ("SELECT * FROM main.variable", "refused: it does more than read the tables of the project"),
        ("PRAGMA user_version", "refused: it does more than read the tables of the project"),
        ("ATTACH 'x' AS y", "refused: it does more than read the tables of the project"),
        ("SELECT :a", "the parameter a has no value: -p a=VALUE"),
        ("SELECT :b", "a parameter is a list or an object: SQL takes numbers and texts"),
    ],
)
async def test_another_query_is_refused(written: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        _ask(written, text, b=[1])
    assert str(caught.value) == f"query: {problem}"


async def test_a_wrong_name_is_told_with_those_there_are(written: Path) -> None:
    with pytest.raises(InputError) as caught:
        _ask(written, "SELECT * FROM variables")
    said = str(caught.value)
    assert said.startswith("query: no such table: variables; did you mean variable? The tables are ")
    with pytest.raises(InputError) as caught:
        _ask(written, "SELECT * FROM xyzzy")
    assert str(caught.value).startswith("query: no such table: xyzzy. The tables are ")
    kinds = {
        "answers": ("variable", "Answer"),
        "memory_units": ("variable", "MemoryUnit"),
        "Retrieval": ("operation", "Retrieval"),
    }
    for named, (table, kind) in kinds.items():
        with pytest.raises(InputError) as caught:
            _ask(written, f"SELECT count(*) FROM {named}")
        said = f"query: no such table: {named}; did you mean the rows of {table} where kind = '{kind}'? "
        assert str(caught.value).startswith(f"{said}The tables are ")
    with pytest.raises(InputError) as caught:
        _ask(written, "SELECT nome FROM Variable, trace")
    said = str(caught.value)
    assert said.startswith("query: no such column: nome; ")
    assert said.count(" has ") == 2
    assert "; variable has " in said
    with pytest.raises(InputError) as caught:
        _ask(written, "SELEKT 1")
    assert str(caught.value) == 'query: near "SELEKT": syntax error'


async def test_a_query_has_bounds(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(QueryTimeoutError) as late:
        _ask(written, endless, seconds=0.01)
    assert str(late.value) == "the query took longer than 0.01 seconds"
    row = len('["xxxxx"]')
    monkeypatch.setattr(asked, "MOST_BYTES", 3 * row)
    assert len(_ask(written, "SELECT 'xxxxx' FROM variable").rows) == 3
    monkeypatch.setattr(asked, "MOST_BYTES", 3 * row - 1)
    with pytest.raises(TooMuchError) as large:
        _ask(written, "SELECT 'xxxxx' FROM variable")
    said = f"the answer has more than {3 * row - 1} bytes after 2 rows: return less of each row, or fewer rows"
    assert str(large.value) == said
