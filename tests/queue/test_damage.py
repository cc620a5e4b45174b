"""A journal that is damaged while it is open: no event changes in silence, and what can be read is handed out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from os import SEEK_CUR
from pathlib import Path
from random import Random

import pytest
import zstandard

from ingest.queue.admission import Sent, admit
from ingest.queue.journal.queue import Journal, open_journal
from ingest.queue.packets import unpack
from ingest.queue.protocol import LANES, DeadLetter, Settlement
from schema.errors import DamagedError, StoreError
from tests.queue.sets import event_line

_EVENTS, _PAGE = 40, 4096


def _line(number: int) -> bytes:
    value = Random(number).randbytes(1_500).hex()
    fields = {"name": "m", "kind": "Message", "version": 0, "value": value, "mediaType": "text/plain"}
    return event_line("variable", f"t{number}", variable="m", **fields)


async def _filled(path: Path) -> None:
    async with await open_journal(path, 1 << 30) as queue:
        for number in range(_EVENTS):
            assert await admit(queue, "p", Sent([_line(number)])) == []


async def _rest(queue: Journal) -> tuple[dict[str, bytes], list[str], list[str]]:
    """Take and settle all there is: the lines by trace, traces of damaged packets, and errors."""
    lines: dict[str, bytes] = {}
    damaged: list[str] = []
    errors: list[str] = []

    async def tried(work: Callable[[], Awaitable[list]]) -> list:  # type: ignore[type-arg]
        try:
            return await work()
        except StoreError as error:
            errors.append(str(error))
            return []

    for lane in range(LANES):
        while taken := await tried(lambda lane=lane: queue.take(lane, 16, 0)):  # type: ignore[misc]
            for one in taken:
                try:
                    (lines[one.packet.trace],) = unpack(one.packet)
                except zstandard.ZstdError:
                    damaged.append(one.packet.trace)
            await queue.settle(lane, Settlement(done=taken))
    return lines, damaged, errors


def _pages_of_packets(path: Path) -> list[int]:
    """The pages of the file with packets, by the traces' names in them."""
    data = path.read_bytes()
    return [page for page in range(5, len(data) // _PAGE) if b"pt" in data[page * _PAGE : (page + 1) * _PAGE]]


@pytest.mark.parametrize("seed", range(3))
async def test_a_bit_that_flips_changes_no_event_in_silence(tmp_path: Path, seed: int) -> None:
    """23 of 45 pages with one flipped bit handed out another value than was acknowledged."""
    path, random = tmp_path / "journal", Random(seed)
    await _filled(path)
    pages = _pages_of_packets(path)
    async with await open_journal(path, 1 << 30) as queue:
        with path.open("r+b") as file:
            for page in pages:
                file.seek(page * _PAGE + random.randrange(_PAGE))
                (byte,) = file.read(1)
                file.seek(-1, SEEK_CUR)
                file.write(bytes([byte ^ 1 << random.randrange(8)]))
        lines, damaged, errors = await _rest(queue)
        expected = {f"t{number}": _line(number) for number in range(_EVENTS)}
        assert {trace: line for trace, line in lines.items() if expected.get(trace) != line} == {}
        lost = expected.keys() - lines.keys()
        assert 0 < len(lost) <= 2 * len(pages)
        assert damaged or errors
        if lost - set(damaged):
            with pytest.raises(DamagedError, match="damaged"):
                await queue.check()


async def test_a_page_that_is_gone_keeps_no_other_packet_back(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    await _filled(path)
    pages = _pages_of_packets(path)
    page = pages[len(pages) // 2]
    async with await open_journal(path, 1 << 30) as queue:
        with path.open("r+b") as file:
            file.seek(page * _PAGE)
            file.write(bytes(_PAGE))
        lines, damaged, errors = await _rest(queue)
        assert (damaged, errors) == ([], [])
        assert _EVENTS - 4 <= len(lines) < _EVENTS
        assert all(line == _line(int(trace[1:])) for trace, line in lines.items())
        with pytest.raises(DamagedError, match="damaged"):
            await queue.check()
        assert (await _rest(queue))[0] == {}  # nothing is handed out again and again


async def test_damaged_dead_letters_are_named_and_the_others_are_listed(tmp_path: Path) -> None:
    path, event, now = tmp_path / "journal", Random(7).randbytes(3_000), datetime.now(UTC)
    async with await open_journal(path, 1 << 30) as queue:
        for number in (b"1", event, b"3"):
            await queue.settle(0, Settlement(dead=[DeadLetter(None, "p", "t", number, "no reason", 3, now, now)]))
    with path.open("r+b") as file:
        place = file.read().index(event[100:200])
        file.seek(place)
        file.write(bytes([event[100] ^ 1]))
    async with await open_journal(path, 1 << 30) as queue:
        letters = queue.letters("p")
        assert [(one.id, one.event) for one in await letters.page()] == [(1, b"1"), (2, b""), (3, b"3")]
        assert (await letters.get(2)).reason == "the file of the queue is damaged: 1 dead letters can't be read"
        assert await letters.drop([2]) == 1
        assert [one.id for one in await letters.page()] == [1, 3]
        assert await letters.count() == 2


async def test_as_many_packets_as_are_wanted_come_beside_those_that_are_left_out(tmp_path: Path) -> None:
    lines = [event_line("session", "t", number, session=f"s{number}") for number in range(4)]
    async with await open_journal(tmp_path / "journal", 1 << 30) as queue:
        for line in lines:
            assert await admit(queue, "p", Sent([line])) == []
        (lane,) = [lane for lane in range(LANES) if (keys := [one.key for one in await queue.take(lane, 16, 0)])]
    assert len(keys) == len(lines)
    async with await open_journal(tmp_path / "journal", 1 << 30) as queue:
        for key in keys[:2]:
            queue._damage.leave_out(key, "it can't be read")
        taken = await queue.take(lane, 1, 0)
        assert [unpack(one.packet) for one in taken] == [[lines[2]]]
