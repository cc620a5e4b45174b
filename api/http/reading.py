"""Reading requests of events: projects in turn, short requests in threads, long ones in a process of their own."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException

from api.http.bodies import Body, Read
from api.processes.helper import Helper
from ingest.queue.turns import Turns

SHORT_AT_A_TIME, LONG_AT_A_TIME = 2, 1
"""More would be no faster, and keep all else from its turn."""

_MEMORY_BYTES, _MEMORY_A_BYTE = 128 << 20, 6
"""What the process may take, and what it may take more for each byte of the largest request. 20,000 spans that come to
64 MiB take 370 MB; a few KB of protobuf that unpack to as many empty messages as fit would take 6 GB."""


class Reading:
    """All requests of events of one server."""

    def __init__(self, largest: int) -> None:
        """None is read yet.

        Args:
            largest: bytes of a request, unpacked, at most.
        """
        self._short = Turns(SHORT_AT_A_TIME)
        self._long = Turns(LONG_AT_A_TIME)
        self._helper = Helper(_MEMORY_BYTES + _MEMORY_A_BYTE * largest)

    async def read(self, project_id: str, body: Body, packet_bytes: int) -> Read:
        """What a request holds.

        Args:
            project_id: whose it is.
            body: the request.
            packet_bytes: largest size of a packet, compressed.

        Raises:
            TooLargeError: it unpacks to more bytes than may be sent.
            HTTPException: it holds too many events, or needs too much memory.
            InputError: it is not what it says.
            StoreError: the process that read it was killed.
        """
        async with self._short.turn(project_id):
            read = await asyncio.to_thread(body.read, project_id, packet_bytes, body.short_bytes)
        if read is None:
            async with self._long.turn(project_id):
                try:
                    read = await self._helper.run(type(body).read, body, project_id, packet_bytes)
                except MemoryError:
                    raise HTTPException(413, "reading this takes too much memory: send fewer at a time") from None
            assert read is not None
        return read

    async def close(self) -> None:
        """Read no more."""
        await self._helper.close()
