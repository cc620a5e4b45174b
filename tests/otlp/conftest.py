"""A queue with a worker and a store, to which tests send OTLP requests without HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest_asyncio

from ingest.otlp import admission
from ingest.otlp.media_types import PROTOBUF
from ingest.queue.admission import Sent, admit
from ingest.queue.journal.queue import open_journal
from ingest.queue.protocol import EventQueue
from ingest.queue.worker import EventWorker
from store.contract.protocol import Database, GraphStore
from store.open import open_database
from tests.queue.sets import graph_of

MOST = 10_000


class Takes:
    """Accepts requests as the server does."""

    def __init__(self, queue: EventQueue, database: Database) -> None:
        self._queue = queue
        self._database = database
        self.project = ""
        self.anew()

    def anew(self) -> None:
        """Go on in a new project."""
        self.project = f"test-{uuid4().hex}"

    @property
    def store(self) -> GraphStore:
        return self._database.project(self.project)

    async def take(self, body: bytes, kind: str = PROTOBUF) -> admission.Spans:
        """Take a request; all its spans must be good."""
        spans = admission.read(self.project, body, kind, MOST)
        assert spans.refused == []
        assert await admit(self._queue, self.project, Sent(spans.pieces)) == []
        return spans

    async def written(self) -> None:
        """Wait until all events are in the graph; none may be given up."""
        async with asyncio.timeout(60):
            while (await self._queue.state()).packets:
                await asyncio.sleep(0.005)
        assert [letter.reason for letter in await self._queue.letters(self.project).page()] == []

    async def graph(self, bodies: Iterable[tuple[bytes, str]], trace: str) -> dict[str, Any]:
        """The graph of a trace in a new project after these requests."""
        self.anew()
        for body, kind in bodies:
            await self.take(body, kind)
        await self.written()
        return without_project(await graph_of(self.store, trace))


@pytest_asyncio.fixture(scope="module")
async def takes(tmp_path_factory: Any) -> AsyncIterator[Takes]:
    folder: Path = tmp_path_factory.mktemp("otlp")
    async with (
        await open_database(f"sqlite:///{folder / 'store.db'}") as database,
        await open_journal(folder / "journal", 1 << 30) as queue,
    ):
        worker = EventWorker(queue, database, 3, concurrency=2)
        await worker.start()
        yield Takes(queue, database)
        await worker.stop(10)


def without_project(graph: dict[str, Any]) -> dict[str, Any]:
    """The graph with the source's names as ids, and without the creation times of sessions."""
    ids = {
        id_: f"{part}:{one['external_id']}#{one.get('occurrence', 0)}"
        for part in ("sessions", "operations", "variables", "derivations")
        for id_, one in graph[part].items()
    }
    dropped = {"id", "project_id", "trace_id"}
    found: dict[str, Any] = {"trace": graph["trace"], "values": graph["values"]}
    for part in ("sessions", "operations", "variables", "derivations"):
        gone = dropped | ({"created_at"} if part == "sessions" else set())
        found[part] = {
            ids[id_]: {
                name: ids.get(value, value) if isinstance(value, str) else value
                for name, value in one.items()
                if name not in gone
            }
            for id_, one in graph[part].items()
        }
        for one in found[part].values():
            attributes = json.loads(one["attributes"])
            if "parentId" in attributes:
                attributes["parentId"] = ids.get(attributes["parentId"], "nobody sent it")
            one["attributes"] = json.dumps(attributes)
    for part in ("usages", "invalidations"):
        found[part] = {tuple(ids.get(one, one) for one in row) for row in graph[part]}
    return found
