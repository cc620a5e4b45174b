"""Requests of events are read in threads; a short one does not wait for long ones."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from api.http.reading import LONG_AT_A_TIME, SHORT_AT_A_TIME, Reading
from ingest.queue.admission import Sent
from schema.errors import InputError
from tests.server.wire_events import lines, message

_LIMIT = 1 << 20


def _events(count: int) -> bytes:
    return lines(*(message("t", f"m{number}") for number in range(count)))


async def test_all_of_a_request_is_read_whatever_its_length() -> None:
    for count in (1, 2000, 2001):
        prepared = await Reading().prepare("p", partial(Sent.lines, _events(count)), _LIMIT)
        assert (prepared.accepted, prepared.refused) == (count, [])
    large = lines(message("t", "m", "x" * (3 << 20)))
    assert (await Reading().prepare("p", lambda: Sent.lines(large), _LIMIT)).accepted == 1


async def test_an_error_leaves_no_slot_taken() -> None:
    def read() -> Sent:
        raise InputError("body", "", "is no JSON")

    reading = Reading()
    for _ in range(2 * (SHORT_AT_A_TIME + LONG_AT_A_TIME)):
        with pytest.raises(InputError):
            await reading.prepare("p", read, _LIMIT)


async def test_a_short_request_does_not_wait_for_long_ones() -> None:
    reading, go_on = Reading(), threading.Event()
    body, begun = _events(2001), threading.Semaphore(0)

    async def long() -> int:
        looks = iter([True])

        def read() -> Sent:
            if next(looks, False):
                return Sent.lines(body)  # to see that it is long
            begun.release()
            assert go_on.wait(300)
            return Sent.lines(body)

        return (await reading.prepare("long", read, _LIMIT)).accepted

    tasks = [asyncio.create_task(long()) for _ in range(5)]
    assert await asyncio.to_thread(begun.acquire, timeout=60)
    short = await asyncio.wait_for(reading.prepare("short", lambda: Sent.lines(_events(1)), _LIMIT), 60)
    assert short.accepted == 1
    assert not begun.acquire(blocking=False), "one long request is read at a time"
    go_on.set()
    assert await asyncio.gather(*tasks) == [2001] * 5
