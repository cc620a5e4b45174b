"""Sends events over HTTP, and measures when the store has them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx
import msgspec
import zstandard

from benchmarks.serving import Serving
from ingest.queue.protocol import EventQueue
from schema.ids import make_id, trace_id
from store.contract.answers import Label
from store.contract.protocol import GraphStore

_LOOK_SECONDS = 0.005
_PATIENCE_SECONDS = 60.0
_LEVEL = 3
"""The recorder's."""


async def send_all(server: Serving, applications: Sequence[list[list[bytes]]], senders: int) -> float:
    """Send the requests of applications, so many at a time, each in its order; the seconds until all are taken."""
    waiting = iter([[_packed(lines) for lines in requests] for requests in applications])

    async def send(client: httpx.AsyncClient) -> None:
        for bodies in waiting:
            for body in bodies:
                await _send(client, body)

    async with _client(server) as client:
        began = time.perf_counter()
        await asyncio.gather(*(send(client) for _ in range(senders)))
        return time.perf_counter() - began


@dataclass(slots=True)
class Steady:
    """A steady load, and how long it took.

    Attributes:
        acknowledged: seconds from the sending of each request to its acknowledgement.
        visible: seconds from there until the store answers the last variable of it.
    """

    acknowledged: list[float] = field(default_factory=list)
    visible: list[float] = field(default_factory=list)
    _waiting: dict[str, float] = field(default_factory=dict)
    _all_sent: bool = False

    async def run(
        self, server: Serving, store: GraphStore, conversations: Sequence[list[list[bytes]]], interval: float
    ) -> None:
        """Send the requests of each conversation one after the other, each that many seconds after the last."""
        async with _client(server) as client, asyncio.TaskGroup() as group:
            looking = group.create_task(self._look(store))
            senders = [
                group.create_task(self._send(client, store, requests, interval, interval * place / len(conversations)))
                for place, requests in enumerate(conversations)
            ]
            await asyncio.gather(*senders)
            self._all_sent = True
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await looking

    async def _send(
        self,
        client: httpx.AsyncClient,
        store: GraphStore,
        requests: list[list[bytes]],
        interval: float,
        wait: float,
    ) -> None:
        due = time.perf_counter() + wait
        for lines in requests:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            last = _last_variable(store.project_id, lines)
            body = _packed(lines)
            began = time.perf_counter()
            await _send(client, body)
            self._waiting[last] = time.perf_counter()
            self.acknowledged.append(self._waiting[last] - began)
            due += interval

    async def _look(self, store: GraphStore) -> None:
        while self._waiting or not self._all_sent:
            for found in await store.get(Label.VARIABLE, list(self._waiting)):
                self.visible.append(time.perf_counter() - self._waiting.pop(found.id))
            await asyncio.sleep(_LOOK_SECONDS)


async def empty(server: Serving) -> None:
    """Wait until nothing is in the server's queue."""
    async with httpx.AsyncClient(timeout=_PATIENCE_SECONDS) as client:
        page = ""
        while "\nmemtrace_queue_packets 0.0\n" not in page:
            await asyncio.sleep(2 * _LOOK_SECONDS)
            page = (await client.get(f"{server.url}/metrics")).text


async def drained(queue: EventQueue) -> None:
    """Wait until nothing is in a queue."""
    waiting = True
    while waiting:
        await asyncio.sleep(2 * _LOOK_SECONDS)
        waiting = (await queue.state()).packets > 0


def _client(server: Serving) -> httpx.AsyncClient:
    headers = {
        "Authorization": f"Bearer {server.key}",
        "Content-Type": "application/x-ndjson",
        "Content-Encoding": "zstd",
    }
    return httpx.AsyncClient(base_url=server.url, headers=headers, timeout=_PATIENCE_SECONDS)


def _packed(lines: Sequence[bytes]) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL).compress(b"\n".join(lines))


async def _send(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post("/v1/events", content=body)
    answer.raise_for_status()
    rejected = answer.json()["rejected"]
    if rejected:
        raise RuntimeError(f"an event of the benchmark is refused: {rejected[0]}")


def _last_variable(project: str, lines: Sequence[bytes]) -> str:
    events = [msgspec.json.decode(line) for line in lines]
    last = [event for event in events if event["type"] == "variable"][-1]
    return make_id("Variable", trace_id(project, last["trace"]), last["variable"])
