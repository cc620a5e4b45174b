"""How much of the same kind is done at once: copies of a page, operations of one key."""

from __future__ import annotations

import asyncio
import gc

import pytest

from api.turns import Turns


async def _rounds(times: int = 10) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


async def test_each_key_has_its_own_places_and_who_comes_first_is_first() -> None:
    turns, inside, leave = Turns(2), list[str](), {name: asyncio.Event() for name in ("a1", "a2", "a3", "a4", "b1")}

    async def stay(name: str) -> None:
        async with turns.turn(name[0]):
            inside.append(name)
            await leave[name].wait()

    async with asyncio.TaskGroup() as group:
        tasks = {name: group.create_task(stay(name)) for name in leave}
        await _rounds()
        assert inside == ["a1", "a2", "b1"]
        leave["a2"].set()
        await _rounds()
        assert inside == ["a1", "a2", "b1", "a3"]
        tasks["a4"].cancel()  # who gives up waiting takes no place
        leave["a1"].set()
        leave["a3"].set()
        await _rounds()
        assert inside == ["a1", "a2", "b1", "a3"]
        leave["b1"].set()
    del tasks
    gc.collect()
    assert len(turns._places) == 0


async def test_an_error_frees_the_place() -> None:
    turns = Turns(1)
    with pytest.raises(KeyError):
        async with turns.turn("a"):
            raise KeyError
    async with asyncio.timeout(5), turns.turn("a"):
        pass
