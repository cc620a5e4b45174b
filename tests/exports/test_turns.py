"""Exports take turns: encoding holds the interpreter, and twenty threads would hold it twenty times as long."""

from __future__ import annotations

import asyncio
import time

import pytest

from ingest.exports.turns import in_turn


async def test_one_at_a_time_and_in_order() -> None:
    running: list[int] = []
    most: list[int] = []
    ended: list[int] = []

    def work(number: int) -> int:
        running.append(number)
        time.sleep(0.001)
        most.append(len(running))
        running.remove(number)
        ended.append(number)
        return number

    assert await asyncio.gather(*(in_turn(work, number) for number in range(20))) == list(range(20))
    assert max(most) == 1
    assert ended == list(range(20))


async def test_an_error_reaches_its_caller_alone() -> None:
    def fail() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        await in_turn(fail)
    assert await in_turn(lambda: 1) == 1
