"""Servers that are killed amid uploads and jobs: receipts hold, and no import is half done.

``MEMTRACE_TEST_KILLS`` says how often a server is killed on each engine; twice by default.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import uuid4

import httpx

from api.jobs.queue import JobQueue
from api.jobs.runner import JobRunner
from api.jobs.uploads import Uploads, uploads_uri
from api.settings import Settings
from api.settings.loading import open_store
from tests.graph_files import GraphFile
from tests.jobs.asking import JSON, Receipt, done, look, send, small
from tests.server.running import Place, RunningServer, running

KILLS = int(os.environ.get("MEMTRACE_TEST_KILLS") or 2)
_FILES = 4
"""Files that are sent between two kills, at least."""


@dataclass
class Sender:
    """Sends files until the server is gone, each under a key of its own; what was not acknowledged is sent again."""

    random: Random
    unsure: list[GraphFile] = field(default_factory=list)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    attributions: list[Receipt] = field(default_factory=list)
    acknowledged: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def send_all(self, server: RunningServer) -> None:
        with suppress(httpx.TransportError), server.client("writer") as client:
            while True:
                graph = self.unsure[-1] if self.unsure else small(f"graph-{uuid4().hex}")
                if not self.unsure:
                    self.unsure.append(graph)
                self.send(client, graph)
                self.unsure.pop()
                self.acknowledged.release()

    def send(self, client: httpx.Client, graph: GraphFile) -> None:
        key = {"Idempotency-Key": graph.graph_id}
        receipt = send(client, graph, headers=key)
        assert self.receipts.setdefault(graph.graph_id, receipt)["id"] == receipt["id"]
        if self.random.random() < 0.5:
            answer = client.post("/v1/attributions", json={}, headers=key)
            assert answer.status_code == 202, answer.text
            self.attributions.append(answer.json())


def test_receipts_stay_true(place: Place, tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    project = f"kills-{uuid4().hex}"
    settings = {"job_lease_seconds": 1, "job_projects": project, "uploads": uploads.as_uri()}
    random = Random(KILLS)
    sender = Sender(random)
    ends: Counter[str] = Counter()
    for _ in range(KILLS):
        with running(place, tmp_path, rate_limit="1000000/minute", **settings) as server:
            server.project = project
            check_wholeness(server, sender)
            thread = threading.Thread(target=sender.send_all, args=(server,))
            thread.start()
            for _ in range(_FILES):
                assert sender.acknowledged.acquire(timeout=300)
            # Anything may be under way after a while of any length: bodies, jobs, commits, receipts.
            threading.Event().wait(random.uniform(0, 2))
            server.kill()
            thread.join()
            ends.update(str(line["job"]) for line in whole_lines(server) if line.get("outcome") == "done")
    with running(place, tmp_path, rate_limit="1000000/minute", **settings) as server:
        server.project = project
        with server.client("writer") as client:
            for graph in sender.unsure:
                sender.send(client, graph)
            check_receipts(client, sender)
        assert server.stop() == 0
        ends.update(str(line["job"]) for line in whole_lines(server) if line.get("outcome") == "done")
    assert len(sender.receipts) >= KILLS * _FILES
    assert set(ends.values()) == {1}, "a job has ended twice"
    parts = [path.name for path in uploads.rglob("*") if path.is_file()]
    known = {receipt["id"] for receipt in sender.receipts.values()}
    # No half file. A kill may fall between a file and its job, and for another file between its job's end and its
    # deletion; a stop in order leaves none.
    assert [name for name in parts if name.endswith(".part")] == []
    assert len(parts) <= 2 * KILLS, parts
    assert all(name.partition("-")[0] in known for name in parts)
    asyncio.run(clean(place.settings(**settings)))
    assert [path for path in uploads.rglob("*") if path.is_file()] == []


async def clean(settings: Settings) -> None:
    """Delete what no job needs, as a runner does once it has been there for a while."""
    async with await open_store(settings) as database:
        uploads = Uploads(uploads_uri(settings))
        await uploads.clean(JobRunner(settings, database, uploads, JobQueue(database)).is_needed, grace_seconds=0)


def check_wholeness(server: RunningServer, sender: Sender) -> None:
    """The newest graphs are there as they were sent, or not at all, whatever was killed."""
    with server.client("writer") as client:
        for graph_id in [*list(sender.receipts)[-20:], *(graph.graph_id for graph in sender.unsure)]:
            answer = client.get(f"/v1/export/{graph_id}")
            assert answer.status_code == 404 or answer.content == small(graph_id).as_bytes()


def check_receipts(client: httpx.Client, sender: Sender) -> None:
    """All that was acknowledged is done, with the right counts, and all graphs are there as they were sent."""
    expected = small("expected")
    failures = 0
    for graph_id, receipt in sender.receipts.items():
        result = done(client, receipt)
        whole = small(graph_id)
        assert result["variables"] == len(expected.nodes)
        assert result["operations"] == len(expected.operations)
        assert result["derivations"] == len(expected.edges)
        stored = Counter(result["created"]) + Counter(result["existing"])
        assert stored["Variable"] == result["variables"] + result["occurrences"]
        assert stored["Derivation"] == result["derivations"] + result["reads"]
        failures += result["failures"]
        assert client.get(f"/v1/export/{graph_id}").content == whole.as_bytes()
        again = client.post("/v1/import", content=b"{}", headers=JSON | {"Idempotency-Key": graph_id}).json()
        assert (again["id"], again["state"], again["result"]) == (receipt["id"], "done", result)
    for receipt in sender.attributions:
        result = done(client, receipt)
        assert len(set(result["attributionIds"])) == result["failures"] <= failures
        assert look(client, receipt)["attempts"] >= 1


def whole_lines(server: RunningServer) -> list[dict[str, object]]:
    """The log of a server that may have been killed while it wrote a line."""
    lines = server.log_text.splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
