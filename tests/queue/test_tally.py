"""The counts of a worker: batches, written events, dead letters and postponed packets."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ingest.queue.journal.queue import open_journal
from ingest.queue.protocol import DeadLetter, Delivery, Packet, Settlement
from ingest.queue.worker import EventWorker
from store.contract.protocol import Database

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LETTER = DeadLetter(None, "p", "t", b"{}", "is wrong", 1, NOW, NOW)


def _delivery(count: int) -> Delivery:
    return Delivery(Packet("p", "t", b"x", count), 1, NOW, count)


async def test_dead_letters_are_counted_apart_from_what_was_written(sqlite_database: Database, tmp_path: Path) -> None:
    async with await open_journal(tmp_path / "journal", 1 << 30) as queue:
        worker = EventWorker(queue, sqlite_database, 5, 1)
        worker._count(Settlement([_delivery(3), _delivery(4)], [(_delivery(9), 1.0)], [LETTER] * 2))
        worker._count(Settlement([_delivery(1)]))
        worker._count(Settlement([_delivery(2)], dead=[LETTER] * 2))
    tally = worker.tally
    assert (tally.batches, tally.written, tally.dead, tally.postponed, tally.store_failures) == (3, 6, 4, 1, 0)
