"""Files and servers that an older version made."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import apsw

from schema.texts import migrations, sql
from store.answers import Label
from store.open import open_database
from tests.contract.samples import assistant
from tests.contract.test_records import key
from tests.factory import START


async def test_a_file_of_the_first_layout_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first, *later = migrations("sqlite")
    connection = apsw.Connection(str(path))
    connection.execute(sql("create_migrations"))
    for statement in first.statements:
        connection.execute(statement)
    connection.execute(sql("insert_migration"), (first.number, first.name, "2026-01-01T00:00:00.000000Z"))
    connection.close()
    trace = assistant("old")
    async with await open_database(f"sqlite:///{path}") as database:
        assert await database.migrate() == []
        health = await database.health()
        assert health.details["migrations"] == [one.name for one in (first, *later)]
        assert health.problems == []
        await trace.write(database.project("old"))
        await database.records("old").add_key(key("old"))
    async with await open_database(f"sqlite:///{path}") as database:
        assert await database.project("old").get(Label.TRACE, [trace.trace.id]) == [trace.trace]
        assert await database.registry().key(key("old").id) == key("old")
        (period,) = await database.project("old").timeline(START, START + timedelta(days=1), 24 * 3600)
        assert (period.traces, period.failures) == (1, 1)
        assert await database.project("old").delete_trace(trace.trace.id)
        assert (await database.records("old").keys()).items == [key("old")]
