"""Reading requests of events in threads: projects in turn, and short requests never behind long ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ingest.queue.admission import Prepared, Sent, prepare
from ingest.queue.turns import Turns

SHORT_AT_A_TIME, LONG_AT_A_TIME = 2, 1
"""More threads would be no faster, and keep all else from its turn."""

_SHORT_EVENTS, _SHORT_BYTES = 2000, 2 << 20
"""As much as a recorder sends at a time; it takes some hundredths of a second, where the most that may be sent takes
a second."""


class Reading:
    """All requests of events of one server."""

    def __init__(self) -> None:
        """None is read yet."""
        self._short = Turns(SHORT_AT_A_TIME)
        self._long = Turns(LONG_AT_A_TIME)

    async def prepare(self, project_id: str, read: Callable[[], Sent], limit: int) -> Prepared:
        """What a request holds, for the queue.

        Args:
            project_id: whose it is.
            read: takes the request apart; of a long one it is called twice, so that what waits takes no memory.
            limit: bytes of a packet, compressed.
        """

        def short() -> Prepared | None:
            sent = read()
            is_short = len(sent.pieces) <= _SHORT_EVENTS and sum(map(len, sent.pieces)) <= _SHORT_BYTES
            return prepare(project_id, sent, limit) if is_short else None

        async with self._short.turn(project_id):
            prepared = await asyncio.to_thread(short)
        if prepared is None:
            async with self._long.turn(project_id):
                prepared = await asyncio.to_thread(lambda: prepare(project_id, read(), limit))
        return prepared
