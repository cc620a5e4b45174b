"""Hostile clients, all at the same time: run as a process of its own, until it is ended.

Reads where, with which keys, and whether with large answers, as JSON on standard input; prints a line when the stored
things that they need are there and the attacks begin, and at the end (SIGTERM) how often each was made, and what was
answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import signal
import socket
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx

from benchmarks import hostile_bodies as bodies
from schema.ids import make_id, trace_id

_ADDRESS, _ADDRESS_OF_SOCKETS = "127.0.0.2", "127.0.0.3"
"""Source addresses of the hostile clients; the whole network 127.0.0.0/8 is this machine."""

_HEAD_START_SECONDS = 5.0
"""Seconds that all others attack before the silent connections begin, which would keep the others out."""

_SILENT, _HALF_SENT, _SLOW_READERS = 1_000, 100, 20
_PAUSE_SECONDS = 0.05
_AGAIN_SECONDS = 5
"""About after which a connection that was closed is opened again."""
_HEADS = b"POST /v1/events HTTP/1.1\r\nHost: memtrace\r\nContent-Le"


class _Clients:
    def __init__(self, plan: dict[str, Any]) -> None:
        self.url: str = plan["url"]
        self.keys: dict[str, str] = plan["keys"]
        self.seen: dict[str, Counter[str]] = defaultdict(Counter)
        self.threshold = asyncio.Event()

    @contextlib.asynccontextmanager
    async def client(self, project: str) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.AsyncHTTPTransport(local_address=_ADDRESS, verify=False)
        headers = {"Authorization": f"Bearer {self.keys[project]}"}
        async with httpx.AsyncClient(base_url=self.url, headers=headers, transport=transport, timeout=120) as opened:
            yield opened

    async def post(
        self, client: httpx.AsyncClient, attack: str, path: str, body: bytes, kind: str, encoding: str = "identity"
    ) -> None:
        """Send one request, and wait as long as an answer says, at most a second: nobody hostile waits longer."""
        headers = {"Content-Type": kind, "Content-Encoding": encoding}
        try:
            response = await client.post(path, content=body, headers=headers)
        except httpx.HTTPError as error:
            self.seen[attack][type(error).__name__] += 1
            await asyncio.sleep(_PAUSE_SECONDS)
            return
        self.seen[attack][str(response.status_code)] += 1
        await asyncio.sleep(1 if response.status_code in {429, 503} else _PAUSE_SECONDS)

    async def events(self, attack: str, requests: Iterator[bytes], first: int = 0) -> None:
        """Send requests of events one after the other; the first ones before the attack begins."""
        async with self.client(attack) as client:
            for number, body in enumerate(requests):
                if number == first:
                    await self.threshold.wait()
                await self.post(client, attack, "/v1/events", body, "application/x-ndjson", "zstd")

    async def again(self, attack: str, path: str, body: bytes, kind: str) -> None:
        """Send the same request again and again."""
        await self.threshold.wait()
        async with self.client(attack) as client:
            while True:
                await self.post(client, attack, path, body, kind)

    async def sockets(self, attack: str, count: int, head: bytes) -> None:
        """Hold this many connections, each with the beginning of a request; reopen closed connections."""
        await self.threshold.wait()
        place = urlsplit(self.url)

        async def hold() -> None:
            while True:
                try:
                    reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(_ADDRESS, 0))
                except OSError as error:
                    self.seen[attack][type(error).__name__] += 1
                    await asyncio.sleep(1)
                    continue
                self.seen[attack]["opened"] += 1
                try:
                    writer.write(head)
                    await reader.read()
                except OSError:
                    pass
                finally:
                    writer.close()
                self.seen[attack]["closed by the server"] += 1
                await asyncio.sleep(random.uniform(0.5, 1.5) * _AGAIN_SECONDS)

        await asyncio.gather(*(hold() for _ in range(count)))

    async def slow_readers(self, attack: str, project: str, variable: str) -> None:
        """Ask for the largest value, and read nothing of it."""
        await self.threshold.wait()
        place = urlsplit(self.url)
        asked = (f"GET /v1/values/{variable} HTTP/1.1", "Host: memtrace", f"Authorization: Bearer {self.keys[project]}")
        head = "\r\n".join((*asked, "", "")).encode()

        async def hold() -> None:
            while True:
                try:
                    reader, writer = await asyncio.open_connection(sock=await _small_socket(place), limit=1024)
                    writer.write(head)
                    found = await reader.readuntil(b"\r\n")
                    self.seen[attack][found.split()[1].decode()] += 1
                    await writer.wait_closed()
                except (OSError, asyncio.IncompleteReadError, IndexError) as error:
                    self.seen[attack][type(error).__name__] += 1
                await asyncio.sleep(1)

        await asyncio.gather(*(hold() for _ in range(_SLOW_READERS)))


async def main() -> None:
    """Attack until told to stop."""
    os.nice(10)  # hostile clients would run on other machines, and take no processor time from what is measured
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    plan = json.loads(sys.stdin.readline())
    clients = _Clients(plan)
    largest = await _prepare(clients)
    one, other = (make_id("Variable", trace_id("diff", "texts"), name) for name in ("one", "other"))
    attacks = [
        clients.events("attributes", _for_ever([bodies.attribute_flood()])),
        clients.events("attributes-of-one", _for_ever(bodies.attribute_heap())),
        clients.events("base", bodies.amplified("base"), first=4),
        clients.again("introspection", "/graphql", bodies.introspection(), "application/json"),
        clients.again("diff", "/graphql", bodies.diffs("diff", one, other), "application/json"),
        clients.again("import", "/v1/import", bodies.bomb(), "application/zstd"),
        clients.sockets("silent connections", _SILENT, b""),
        clients.sockets("half a head", _HALF_SENT, _HEADS),
        clients.slow_readers("slow readers", "values", largest),
    ]
    if plan.get("answers"):
        attacks.append(clients.again("answers", "/graphql", bodies.large_answer(), "application/json"))
    running = [asyncio.create_task(attack) for attack in attacks]
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    clients.threshold.set()
    print("attacking", flush=True)
    await asyncio.wait({asyncio.create_task(stopped.wait()), *running}, return_when=asyncio.FIRST_COMPLETED)
    ended = [repr(task.exception()) for task in running if task.done()]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    print(json.dumps({"seen": {name: dict(found) for name, found in clients.seen.items()}, "ended": ended}))


async def _prepare(clients: _Clients) -> str:
    """Store what the attacks need; the id of the largest value."""
    one, other = bodies.crafted_texts()
    texts = bodies.lines([bodies.message("texts", "one", one), bodies.message("texts", "other", other)])
    largest = make_id("Variable", trace_id("values", "large"), bodies.LARGEST)
    pages = bodies.lines(bodies.pages(500))
    for project, body in (("diff", texts), ("answers", pages), *(("values", body) for body in bodies.largest("large"))):
        async with clients.client(project) as client:
            headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "zstd"}
            answer = await client.post("/v1/events", content=body, headers=headers)
            if answer.status_code != 200 or answer.json()["rejected"]:
                raise RuntimeError(f"what the attacks need is refused: {answer.text[:500]}")
    async with clients.client("values") as client:
        deadline = time.monotonic() + 60
        part = {"Range": "bytes=0-0"}
        while (await client.get(f"/v1/values/{largest}", headers=part)).status_code != 206:
            if time.monotonic() > deadline:
                raise RuntimeError("the largest value did not come into the graph")
            await asyncio.sleep(0.1)
    return largest


async def _small_socket(place: SplitResult) -> socket.socket:
    """A connection for which the kernel buffers little."""
    made = socket.socket()
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.bind((_ADDRESS, 0))
        await asyncio.get_running_loop().sock_connect(made, (place.hostname, place.port))
    except BaseException:
        made.close()
        raise
    return made


def _for_ever(found: list[bytes]) -> Iterator[bytes]:
    while True:
        yield from found


if __name__ == "__main__":
    asyncio.run(main())
