"""Traces that something was written to long ago: the store takes the time of a write from the clock alone."""

from __future__ import annotations

from datetime import datetime

import apsw

from schema.times import to_microseconds
from store.contract.protocol import Database
from store.neo4j.database import Neo4jDatabase
from store.sqlite.database import SqliteDatabase


async def age(database: Database, trace_id: str, written_at: datetime) -> None:
    """Let a trace have been written to last at a moment."""
    if isinstance(database, Neo4jDatabase):
        text = "MATCH (t:Trace {id: $id}) SET t.writtenAt = $at"
        await database._connection.run_statement(text, id=trace_id, at=written_at)
        return
    assert isinstance(database, SqliteDatabase)

    def work(connection: apsw.Connection) -> None:
        bindings = (to_microseconds(written_at), bytes.fromhex(trace_id))
        connection.execute("UPDATE trace SET written_at = ? WHERE id = ?", bindings)

    await database._connections.write(work)
