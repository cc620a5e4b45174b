"""Taking files and events in: what is kept, what is thrown away again, and what costs the sender nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from api.errors import RateLimitedError
from api.http import imports
from api.http.allowance import RebuiltBytes
from api.http.bodies import Read
from api.http.events import encoding_of, keep, kind_of
from api.http.imports import import_file
from api.http.receipts import Receipt, job_id_of
from api.settings import Settings
from ingest.queue.protocol import Packet
from schema.control import Job, JobKind, JobState
from schema.errors import InputError, StoreError

GONE = {"type": "http.disconnect"}


class _Uploads:
    """Files in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    async def put(self, project: str, job: str, blocks: AsyncIterator[bytes], *_: Any) -> tuple[str, int]:
        name = f"{project}/{job}-{len(self.files)}"
        self.files[name] = b"".join([block async for block in blocks])
        return name, len(self.files[name])

    async def delete(self, name: str) -> None:
        del self.files[name]


class _Jobs:
    """A queue of jobs, which has one job for an id, and the records of a project."""

    def __init__(self) -> None:
        self.kept: dict[str, Job] = {}
        self.is_slow = False

    async def jobs(self, ids: Sequence[str]) -> list[Job]:
        return [] if self.is_slow else [self.kept[one] for one in ids if one in self.kept]

    async def submit(self, door: Any, kind: JobKind, arguments: Any, job_id: str) -> Job:
        made = Job(job_id, "shop", kind, JobState.QUEUED, arguments.model_dump_json(), datetime.now(UTC), "ada")
        return self.kept.setdefault(job_id, made)


class _Server:
    def __init__(self) -> None:
        self.uploads, self.jobs = _Uploads(), _Jobs()
        platform = SimpleNamespace(uploads=self.uploads, queue=self.jobs, settings=Settings())
        self._app = SimpleNamespace(state=SimpleNamespace(platform=platform))
        self._door = SimpleNamespace(project_id="shop", store=None, records=self.jobs)
        self.left = 0

    async def send(self, *messages: Any, key: str | None = None, headers: dict[str, str] | None = None) -> Receipt:
        """Import a body that comes in some ASGI messages; bytes are one block of the body."""
        said = [
            {"type": "http.request", "body": one, "more_body": True} if type(one) is bytes else one for one in messages
        ]
        said.append({"type": "http.request", "body": b"", "more_body": False})
        waiting = iter(said)

        async def receive() -> Any:
            message = next(waiting)
            if message == "silence":
                await asyncio.Event().wait()
            return message

        named = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        request = Request({"type": "http", "app": self._app, "headers": named}, receive)
        try:
            return await import_file(cast("Any", self._door), request, Response(), "a.json", "UTC", key)
        finally:
            self.left = len(list(waiting))


async def test_a_file_is_kept_for_its_job() -> None:
    server = _Server()
    receipt = await server.send(b"one ", b"two")
    assert list(server.uploads.files.values()) == [b"one two"]
    (job,) = server.jobs.kept.values()
    assert (receipt.id, next(iter(server.uploads.files))) == (
        job.id,
        job.arguments.split('"upload":"')[1].split('"')[0],
    )


async def test_nothing_is_kept_of_an_empty_body() -> None:
    server = _Server()
    with pytest.raises(InputError, match="is empty"):
        await server.send()
    assert (server.uploads.files, server.jobs.kept) == ({}, {})


async def test_a_known_key_gets_the_first_receipt_and_its_file_is_read_to_the_end() -> None:
    server = _Server()
    first = await server.send(b"one", key="k")
    again = await server.send(b"two", b"three", key="k")
    assert (again.id, server.left) == (first.id, 0) == (job_id_of("shop", JobKind.IMPORT, "k"), 0)
    assert list(server.uploads.files.values()) == [b"one"]
    assert (await server.send(b"four", key="other")).id != first.id


async def test_of_two_files_that_came_with_one_key_at_a_time_the_first_is_kept() -> None:
    server = _Server()
    server.jobs.is_slow = True  # neither sees the other's job before its file is there
    receipts = [await server.send(body, key="k") for body in (b"first", b"second")]
    assert receipts[0].id == receipts[1].id
    assert list(server.uploads.files.values()) == [b"first"]


@pytest.mark.parametrize(
    ("end", "told"), [(GONE, "the connection ended before the body did"), ("silence", "nothing came for 0 seconds")]
)
async def test_a_body_that_ends_too_early_is_no_job(monkeypatch: pytest.MonkeyPatch, end: Any, told: str) -> None:
    monkeypatch.setattr(imports, "_SILENCE_SECONDS", 0.01)
    server = _Server()
    with pytest.raises(InputError, match=told):
        await server.send(b"one", end)
    assert server.jobs.kept == {}


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"content-type": "Application/JSON; charset=utf-8"}, ""),
        ({"content-encoding": " ZSTD"}, ""),
        ({"content-type": "text/html"}, "a body of type 'text/html' is not taken"),
        ({"content-encoding": "br"}, "the encoding 'br' is not taken"),
    ],
)
async def test_a_type_that_is_not_taken_is_refused_with_those_that_are(headers: dict[str, str], told: str) -> None:
    server = _Server()
    if not told:
        await server.send(b"one", headers=headers)
        return
    with pytest.raises(HTTPException) as caught:
        await server.send(b"one", headers=headers)
    assert caught.value.status_code == 415
    assert caught.value.detail.startswith(told)
    assert server.uploads.files == {}


@pytest.mark.parametrize(("look", "said"), [(kind_of, "content-type"), (encoding_of, "content-encoding")])
def test_events_of_a_type_that_is_not_taken_are_refused_with_those_that_are(
    look: Callable[..., str], said: str
) -> None:
    kinds = [{"application/json"}] if look is kind_of else []
    taken = {kind_of: b" Application/JSON; charset=utf-8", encoding_of: b" Identity"}[look]
    request = Request({"type": "http", "headers": [(said.encode(), taken)]})
    assert look(request, *kinds) in {"application/json", "identity"}
    with pytest.raises(HTTPException) as caught:
        look(Request({"type": "http", "headers": [(said.encode(), b"x-own")]}), *kinds)
    assert caught.value.status_code == 415
    assert "'x-own'" in caught.value.detail


READ = Read([Packet("shop", "t", b"x", 2, rebuilt=100)], 2, 1, 100, b"{}")


class _Events:
    def __init__(self, *answers: Exception | None) -> None:
        self._answers = list(answers)
        self.taken: list[Packet] = []

    async def put(self, packets: Sequence[Packet]) -> None:
        answer = self._answers.pop(0) if self._answers else None
        if answer is not None:
            raise answer
        self.taken += packets


class _Counter:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def labels(self, name: str) -> SimpleNamespace:
        def inc(number: int) -> None:
            self.counts[name] = self.counts.get(name, 0) + number

        return SimpleNamespace(inc=inc)


def platform(events: _Events, most: int = 100) -> Any:
    metrics = SimpleNamespace(received=_Counter())
    return SimpleNamespace(events=events, metrics=metrics, rebuilt=RebuiltBytes(most, 1, lambda: 0.0))


async def test_events_that_could_not_be_kept_cost_nothing_and_are_not_counted() -> None:
    away = platform(_Events(StoreError("away"), StoreError("away")))
    for _ in range(2):
        with pytest.raises(StoreError):
            await keep(away, "shop", READ)
    assert away.metrics.received.counts == {}
    await keep(away, "shop", READ)
    assert away.metrics.received.counts == {"accepted": 2, "rejected": 1}
    with pytest.raises(RateLimitedError):
        await keep(away, "shop", READ)
    await keep(away, "another", READ)
    assert len(away.events.taken) == 2


async def test_a_request_without_a_good_event_goes_into_no_queue() -> None:
    closed = platform(_Events(StoreError("away")))
    await keep(closed, "shop", replace(READ, packets=[], accepted=0, rebuilt=0, rejected=3))
    assert closed.metrics.received.counts == {"accepted": 0, "rejected": 3}
