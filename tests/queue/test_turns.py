"""Projects get slots in turn, and each turn writes a bounded part of a trace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from memtrace.events import Event, VariableEvent, decode

import ingest.queue.writing
from ingest.events.taking import Refusal, take_events
from ingest.otlp.linking import Linker
from ingest.queue.packets import MAX_REBUILT_BYTES, pack
from ingest.queue.protocol import Delivery
from ingest.queue.turns import Turns
from ingest.queue.write_packets import Waiting, WaitingBudget
from ingest.queue.writing import Slots, write
from schema.ids import trace_id
from schema.models import Variable
from store.contract.protocol import GraphStore
from store.open import open_database
from store.shared.paging import elements
from tests.queue.test_worker import _message


async def test_each_project_that_waits_has_its_turn() -> None:
    turns, order = Turns(1), list[str]()

    async def work(project: str) -> None:
        async with turns.turn(project):
            order.append(project)
            await asyncio.sleep(0)

    async with turns.turn("first"):
        waiting = [asyncio.create_task(work(project)) for project in ["a"] * 5 + ["b"] * 2 + ["c"]]
        await asyncio.sleep(0)
        waiting[1].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert order == ["a", "b", "c", "a", "b", "a", "a"]
    async with asyncio.timeout(300), turns.turn("after"):
        pass


async def test_a_slot_is_not_lost_with_one_who_waits_for_it() -> None:
    turns = Turns(2)

    async def hold() -> None:
        async with turns.turn("a"):
            await asyncio.sleep(0)

    for ended in range(6):
        tasks = [asyncio.create_task(hold()) for _ in range(6)]
        for _ in range(ended):
            await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(300), turns.turn("a"), turns.turn("b"):
        pass


async def test_a_project_alone_has_all_slots() -> None:
    turns = Turns(3)
    async with asyncio.timeout(300), turns.turn("a"), turns.turn("a"), turns.turn("a"):
        pass


def _growing(trace: str, versions: int, size: int) -> list[bytes]:
    """Packets of a value's versions; all but the first have only the new part."""
    sent = [_message(trace, "m0", "x" * size)]
    for version in range(1, versions):
        base = {"variable": f"m{version - 1}", "kept": size - 1, "size": size}
        sent.append(_message(trace, f"m{version}", "y", base=base))
    return sent


_KEYS = count()


def _deliveries(project: str, lines: Sequence[bytes]) -> list[Delivery]:
    packed = pack(project, [(line, decode(line)) for line in lines])
    return [Delivery(packet, 1, datetime.now(UTC), next(_KEYS)) for packet, _ in packed]


def test_packets_are_cut_by_what_they_rebuild() -> None:
    size = 1 << 20
    made = _deliveries("p", _growing("t", 65, size))
    each = MAX_REBUILT_BYTES // size
    assert [one.packet.count for one in made] == [1, each, each, each, each]  # the first one is sent whole


class _Order:
    """Records the order in which events are written, and the rebuilt bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parts: list[tuple[str, int]] = []
        monkeypatch.setattr(ingest.queue.writing, "take_events", self._take)

    async def _take(self, store: GraphStore, events: Sequence[Event]) -> list[Refusal]:
        size = sum(one.base.size for one in events if isinstance(one, VariableEvent) and one.base is not None)
        self.parts.append((store.project_id, size))
        return await take_events(store, events)


async def test_a_project_whose_values_are_rebuilt_shares_its_slot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = _Order(monkeypatch)
    size = 4 << 20
    heavy = _deliveries("heavy", _growing("t", 40, size))
    light = _deliveries("light", [_message("t", "m")]) + _deliveries("light", [_message("u", "m")])
    async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as place:
        outcome = await write(place, [*heavy, *light], 3, Slots(1), Waiting(WaitingBudget()), Linker())
        names = [one.name for one in await elements(place.project("heavy"), Variable, trace_id("heavy", "t"))]
        values = await place.project("heavy").values(
            await elements(place.project("heavy"), Variable, trace_id("heavy", "t"))
        )
    assert {one.key for one in outcome.done} == {one.key for one in [*heavy, *light]}
    assert names == [f"m{number}" for number in range(40)]
    assert set(map(len, values.values())) == {size}
    # The heavy trace is written in parts, with other traces in between.
    assert max(done for _, done in order.parts) <= MAX_REBUILT_BYTES
    projects = [project for project, _ in order.parts]
    assert [place for place, project in enumerate(projects) if project == "light"][1] <= 4 < len(projects) // 2


async def test_large_values_are_rebuilt_one_after_the_other() -> None:
    slots, under_way, most = Slots(4), 0, 0

    async def rebuild(project: str) -> None:
        nonlocal under_way, most
        async with slots.turn(project, 60 << 20):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    async with slots.turn("small", 0):
        await asyncio.gather(*(rebuild(project) for project in "aaabbb"))
    assert most == 1
