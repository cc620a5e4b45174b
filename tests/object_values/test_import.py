from __future__ import annotations

from pathlib import Path

import obstore
import pytest
from obstore.store import ObjectStore

from ingest.files.registry import import_path
from schema.errors import MemTraceError
from schema.models import Variable
from store.open import open_database
from store.shared.paging import elements
from tests.data import SAMPLE
from tests.graph_files import conversation
from tests.object_store import Keys, ObjectServer
from tests.object_values.holding import PROJECT, by_hash, names, use


async def test_an_import_with_its_values_outside(place: str, objects: ObjectStore, tmp_path: Path) -> None:
    recorded = conversation(messages=60, questions=6)
    contents = by_hash(node["value"].encode() for node in recorded.nodes.values())
    file = recorded.write(tmp_path / "graph.json")
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}", place) as database:
        store = database.project(PROJECT)
        sample = await import_path(store, SAMPLE)
        report = await import_path(store, file)
        large = {value_hash for value_hash, content in contents.items() if len(content) > 2048}
        assert len(large) > 50
        assert await store.known_values(report.trace_id) == large
        for variable in await elements(store, Variable, report.trace_id):
            assert await store.value(variable) == contents[variable.value_hash]
        assert len((await store.scan("message 17:", report.trace_id)).hits) == 1
        buffers = (await store.scan("\n17: ", report.trace_id, limit=100)).hits
        assert {hit.variable.version for hit in buffers} >= set(range(18, 40))
        stats = await store.stats()
        assert stats.value_bytes == sum(obstore.head(objects, name)["size"] for name in names(objects)) > 0
        health = await database.health()
        assert health.problems == []
        await store.delete_trace(report.trace_id)
        assert names(objects) == []
        await store.delete_trace(sample.trace_id)
        assert (await store.stats()).value_bytes == 0


async def test_a_database_whose_values_are_out_of_reach(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, closed_port: int
) -> None:
    keys = Keys()
    use(monkeypatch, ObjectServer(f"http://127.0.0.1:{closed_port}", keys, keys).settings(keys))
    file = conversation(messages=20, questions=1).write(tmp_path / "graph.json")
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}", "s3://nobody/there") as database:
        store = database.project(PROJECT)
        with pytest.raises(MemTraceError, match="can't be reached"):
            await import_path(store, file)
        assert (await store.traces()).items == []
        (problem,) = (await database.health()).problems
        assert problem == "values at s3://nobody/there: the storage can't be reached (Connect)"
