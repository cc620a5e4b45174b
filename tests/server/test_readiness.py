"""What readiness says of each part of a server, and which parts count."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.responses import Response

from api.http import health, stores
from api.http.health import Readiness, readyz
from schema.errors import DamagedError, DiskFullError, StoreError
from store.project_map import SpreadDatabase

WELL = {
    "status": "ready",
    "store": "ok",
    "migrations": "ok",
    "queue": "ok",
    "events": "ok",
    "stores": dict[str, str](),
}
AWAY = StoreError("the store is away")


class _Part:
    """A store and its registry, or a queue of events, with an answer to each question; errors are raised."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def registry(self) -> _Part:
        return self

    async def has_current_layout(self) -> Any:
        return await self._answer("layout", True)

    async def queue(self) -> Any:
        return await self._answer("queue", None)

    async def state(self) -> Any:
        return await self._answer("state", None)

    async def check(self) -> Any:
        return await self._answer("check", None)

    async def _answer(self, question: str, usual: Any) -> Any:
        found = self._answers.get(question, usual)
        if isinstance(found, BaseException):
            raise found
        if found == "never":
            await asyncio.Event().wait()
        return found


async def _looked(
    store: _Part | None = None, events: _Part | None = None, damage: str | None = None, **mapped: _Part
) -> tuple[dict[str, Any], int]:
    """The differences from a server that is well, and the status of the answer."""
    main: Any = store or _Part()
    database = SpreadDatabase(main, cast("Any", mapped), {}) if mapped else main
    writer = SimpleNamespace(damage=damage)
    platform = SimpleNamespace(database=database, events=events or _Part(), writer=writer)
    request = Request({"type": "http", "app": SimpleNamespace(state=SimpleNamespace(platform=platform))})
    response = Response()
    found: Readiness = await readyz(request, response)
    return {name: said for name, said in found.model_dump().items() if said != WELL[name]}, response.status_code


async def test_a_server_that_is_well_is_ready() -> None:
    assert await _looked() == ({}, 200)


@pytest.mark.parametrize(
    ("store", "damage", "parts"),
    [
        (_Part(layout=False), None, {"migrations": "outdated"}),
        (_Part(layout=AWAY), None, {"store": "unavailable", "migrations": "unavailable", "queue": "unavailable"}),
        (_Part(layout="never"), None, {"store": "unavailable", "migrations": "unavailable", "queue": "unavailable"}),
        (_Part(queue=AWAY), None, {"store": "unavailable", "queue": "unavailable"}),
        (_Part(check=AWAY), None, {"store": "unavailable"}),
        (_Part(check=DiskFullError("the disk is full")), None, {"store": "full"}),
        (_Part(check=DamagedError("a page is broken")), None, {"store": "damaged"}),
        (_Part(queue=DamagedError("a page is broken")), None, {"store": "damaged", "queue": "unavailable"}),
        (_Part(), "a page was broken when events were written", {"store": "damaged"}),
    ],
)
async def test_a_server_whose_store_can_not_be_used_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, store: _Part, damage: str | None, parts: dict[str, str]
) -> None:
    monkeypatch.setattr(health, "READY_SECONDS", 0.01)
    assert await _looked(store, damage=damage) == ({"status": "not ready", **parts}, 503)


@pytest.mark.parametrize("events", [_Part(state=AWAY), _Part(check=AWAY), _Part(check="never")])
async def test_without_its_queue_of_events_a_server_serves_all_else(
    monkeypatch: pytest.MonkeyPatch, events: _Part
) -> None:
    monkeypatch.setattr(health, "READY_SECONDS", 0.01)
    assert await _looked(events=events) == ({"events": "unavailable"}, 200)


async def test_further_stores_are_told_and_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "LOOK_SECONDS", 0.01)
    found = await _looked(one=_Part(), two=_Part(layout=False), three=_Part(layout=AWAY), four=_Part(layout="never"))
    states = {"one": "ok", "two": "outdated", "three": "unavailable", "four": "unavailable"}
    assert found == ({"stores": states}, 200)
