"""How long an answer about a key is used, and when last uses are stored."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from api.auth import known
from api.auth.keys import make_key
from api.auth.known import KnownKeys, LastUses
from schema.control import ApiKey, Role
from schema.errors import StoreError
from store.contract.records import Registry


class Asked:
    """A registry that can be away."""

    def __init__(self, *keys: ApiKey) -> None:
        self.keys = {key.id: key for key in keys}
        self.asked: list[str] = []
        self.stored: list[dict[str, datetime]] = []
        self.is_away = False
        self.while_storing: Any = None

    async def key(self, key_id: str) -> ApiKey | None:
        self.asked.append(key_id)
        if self.is_away:
            raise StoreError("away")
        return self.keys.get(key_id)

    async def touch_keys(self, used: dict[str, datetime]) -> None:
        if self.while_storing is not None:
            self.while_storing()
        if self.is_away:
            raise StoreError("away")
        self.stored.append(dict(used))


class Clock:
    """A clock that is set."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


def key(name: str = "ci") -> ApiKey:
    return make_key("shop", name, Role.READER, "tests", datetime.now(UTC))[1]


def registry(asked: Asked) -> Registry:
    return cast(Registry, asked)


def at(hour: int) -> datetime:
    return datetime(2026, 1, 1, hour, tzinfo=UTC)


async def test_an_answer_is_used_for_a_moment() -> None:
    one = key()
    asked = Asked(one)
    keys = KnownKeys(registry(asked), 3600)
    for _ in range(2):
        assert (await keys.get(one.id), await keys.get("unknown")) == (one, None)
    assert asked.asked == [one.id, "unknown"]
    assert (keys.was_found(one.id), keys.was_found("unknown"), keys.was_found("never asked")) == (True, False, False)
    again = KnownKeys(registry(asked), 0)
    for _ in range(2):
        await again.get(one.id)
    assert asked.asked[2:] == [one.id] * 2


async def test_while_the_store_is_away_a_valid_key_is_taken_for_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    one = key()
    asked = Asked(one)
    keys = KnownKeys(registry(asked), 0)
    await keys.get(one.id)
    await keys.get("unknown")
    asked.is_away = True
    assert await keys.get(one.id) == one
    for other in ("unknown", "never asked"):
        with pytest.raises(StoreError):
            await keys.get(other)
    monkeypatch.setattr(known, "AWAY_SECONDS", -1.0)
    with pytest.raises(StoreError):
        await keys.get(one.id)


async def test_using_a_key_while_the_store_is_away_does_not_lengthen_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(known, "time", clock)
    one = key()
    asked = Asked(one)
    keys = KnownKeys(registry(asked), 5)
    await keys.get(one.id)
    asked.is_away = True
    for clock.now in (100.0, 300.0, 500.0, known.AWAY_SECONDS - 1):
        assert await keys.get(one.id) == one
    clock.now = known.AWAY_SECONDS + 4
    with pytest.raises(StoreError):
        await keys.get(one.id)
    asked.is_away = False
    assert await keys.get(one.id) == one
    asked.is_away = True
    clock.now += known.AWAY_SECONDS - 1
    assert await keys.get(one.id) == one


async def test_while_the_store_is_away_it_is_not_asked_again_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(known, "time", clock)
    one = key()
    asked = Asked(one)
    keys = KnownKeys(registry(asked), 5)
    await keys.get(one.id)
    asked.is_away = True
    for clock.now in (10.0, 11.0, 14.0, 16.0):
        await keys.get(one.id)
    assert len(asked.asked) == 3


async def test_a_key_that_is_gone_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    one = key()
    asked = Asked(one)
    keys = KnownKeys(registry(asked), 0)
    await keys.get(one.id)
    asked.keys.clear()
    assert await keys.get(one.id) is None
    asked.is_away = True
    with pytest.raises(StoreError):
        await keys.get(one.id)


async def test_the_answers_that_were_got_first_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_MOST", 2)
    some = [key(str(number)) for number in range(3)]
    asked = Asked(*some)
    keys = KnownKeys(registry(asked), 3600)
    for one in some:
        await keys.get(one.id)
    assert [keys.was_found(one.id) for one in some] == [False, True, True]
    await keys.get(some[1].id)
    assert len(asked.asked) == 3


async def test_last_uses_are_stored_once() -> None:
    asked = Asked()
    uses = LastUses(registry(asked))
    await uses.flush()
    uses.note("a", at(1))
    uses.note("b", at(2))
    uses.note("a", at(3))
    await uses.flush()
    await uses.flush()
    assert asked.stored == [{"a": at(3), "b": at(2)}]


async def test_uses_that_could_not_be_stored_wait_and_newer_ones_count() -> None:
    asked = Asked()
    uses = LastUses(registry(asked))
    uses.note("a", at(1))
    uses.note("b", at(2))
    asked.is_away = True

    def use_more() -> None:
        uses.note("a", at(5))
        uses.note("c", at(4))

    asked.while_storing = use_more
    await uses.flush()
    assert asked.stored == []
    asked.is_away, asked.while_storing = False, None
    await uses.flush()
    assert asked.stored == [{"a": at(5), "b": at(2), "c": at(4)}]


async def test_uses_are_stored_from_time_to_time_and_at_the_end() -> None:
    asked = Asked()
    uses = LastUses(registry(asked), seconds=0)
    uses.start()
    uses.note("a", at(1))
    async with asyncio.timeout(60):
        while not asked.stored:
            await asyncio.sleep(0.01)
    await uses.stop()
    uses = LastUses(registry(asked), seconds=3600)
    uses.start()
    uses.note("b", at(2))
    await uses.stop()
    assert asked.stored == [{"a": at(1)}, {"b": at(2)}]
