"""Packets that a damaged file keeps from being read or removed; all others are still handed out and settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apsw
import structlog

from ingest.queue.journal.queries import sql
from ingest.queue.protocol import Delivery

_log = structlog.get_logger("memtrace.events")

ReadRow = Callable[[int, Sequence[Any]], Delivery]
"""Makes the delivery of a lane from a row; raises apsw.CorruptError if the row contradicts itself."""


class Damage:
    """What this process leaves out of a damaged file.

    Attributes:
        is_known: whether damage was found; packets are read one by one from then on.
    """

    def __init__(self) -> None:
        self.is_known = False
        self._left_out: set[int] = set()

    @property
    def count(self) -> int:
        """The number of packets that are left out."""
        return len(self._left_out)

    def leave_out(self, key: int, problem: str) -> None:
        """Leave a packet out from now on. The packet stays in the file for an inspection."""
        self.is_known = True
        if key not in self._left_out:
            self._left_out.add(key)
            _log.error("the file of the queue is damaged: a packet is left out", packet=key, problem=problem)

    def packets(
        self, connection: apsw.Connection, lane: int, project: str, limit: int, read_row: ReadRow
    ) -> Iterator[Delivery]:
        """The packets of a lane and a project that are not left out, the oldest first.

        Raises:
            apsw.CorruptError: a packet can't be read. It is left out from now on; the transaction has to begin again.
        """
        wanted = {"lane": lane, "project": project, "limit": limit + len(self._left_out)}
        keys: list[Any] = connection.execute(sql("packets.keys"), wanted).fetchall()
        for (key,) in keys:
            if key in self._left_out:
                continue
            try:
                row = connection.execute(sql("packets.get"), {"k": key}).fetchone()
                if row is None:
                    raise apsw.CorruptError(f"packet {key} is only in the index")
                yield read_row(lane, row)
            except apsw.CorruptError:
                self.leave_out(key, "it can't be read")
                raise
