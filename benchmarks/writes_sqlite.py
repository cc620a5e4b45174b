"""How fast SQLite is written through the store, beside ``executemany`` of the same statements with finished rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw

from benchmarks.context import Context, say
from benchmarks.generated import PROJECT
from benchmarks.generator import batch_of
from benchmarks.report import Section
from benchmarks.timing import timed
from benchmarks.writes import Peer, compare
from store.contract.protocol import GraphStore
from store.open import open_database
from store.sqlite.connections import Connections
from store.sqlite.migrate import migrate
from store.sqlite.write import write_batch

_WARM_UPS = 1
_PEER = Peer(
    "SQLite",
    "bare statements",
    0.7,
    None,
    "The bare statements are the store's own texts with finished rows, in transactions of the same size.",
)


async def run(context: Context) -> Section:
    """Write into two new files in turns."""
    section = Section("Writing to SQLite")
    say("writes to SQLite")
    with context.scratch() as folder:
        bare = Connections(folder / "bare.db")
        try:
            await bare.write(migrate)
            async with await open_database(f"sqlite:///{folder / 'store.db'}") as database:
                await _measure(context, database.project(PROJECT), bare, section)
        finally:
            await bare.close()
    return section


async def _measure(context: Context, store: GraphStore, bare: Connections, section: Section) -> None:
    recorder = _Recorder()

    async def ours(run: int) -> float:
        batch = batch_of(PROJECT, context.shape, run + _WARM_UPS)
        return (await timed(store.write(batch)))[0]

    async def theirs(run: int) -> float:
        statements = recorder.record(context, run + _WARM_UPS)

        def execute(connection: apsw.Connection) -> None:
            for text, rows in statements:
                connection.executemany(text, rows)

        return (await timed(bare.write(execute)))[0]

    await compare(context, ours, theirs, _PEER, section, _WARM_UPS)
    section.notes.append("Each trace is one transaction, committed to disk (write-ahead log, synchronous FULL).")


class _Recorder:
    """Makes finished rows: writes into a database in memory, and remembers what went there."""

    def __init__(self) -> None:
        self._connection = _RecordingConnection(":memory:")
        self._connection.execute("BEGIN")
        migrate(self._connection)
        self._connection.execute("COMMIT")

    def record(self, context: Context, number: int) -> list[tuple[str, list[Any]]]:
        """The statements and rows that write a made trace."""
        self._connection.recorded = []
        batch = batch_of(PROJECT, context.shape, number)
        with self._connection:
            write_batch(self._connection, PROJECT, batch, (), values_in_file=True)
        return self._connection.recorded


class _RecordingConnection(apsw.Connection):
    recorded: list[tuple[str, list[Any]]]

    def executemany(self, statements: str, sequenceofbindings: Iterable[Any], **options: Any) -> apsw.Cursor:
        rows = list(sequenceofbindings)
        if rows:
            self.recorded.append((statements, rows))
        return super().executemany(statements, rows, **options)
