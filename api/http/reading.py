"""Reading requests of events: projects take turns; threads read short requests, a helper reads long ones."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException

from api.http.bodies import Body, Read
from api.processes.helper import Helper
from ingest.queue.turns import Turns

SHORT_AT_A_TIME, LONG_AT_A_TIME = 2, 1
"""More at a time would not be faster, and would delay all other work."""

_MEMORY_BYTES, _MEMORY_A_BYTE = 128 << 20, 6
"""The memory bound of the helper process: a base, and bytes for each byte of the largest request.

20,000 spans of 64 MiB in all take 370 MB. A few KB of protobuf that unpack to the most empty messages would take 6 GB.
"""


class Reading:
    """All requests of events of one server."""

    def __init__(self, largest: int) -> None:
        """Prepare; no process is started yet.

        Args:
            largest: the most bytes of a request, unpacked.
        """
        self._short = Turns(SHORT_AT_A_TIME)
        self._long = Turns(LONG_AT_A_TIME)
        self._helper = Helper(_MEMORY_BYTES + _MEMORY_A_BYTE * largest)

    async def read(self, project_id: str, body: Body, packet_bytes: int) -> Read:
        """The content of a request.

        Args:
            project_id: the project.
            body: the request.
            packet_bytes: largest size of a packet, compressed.

        Raises:
            TooLargeError: the body unpacks to more bytes than may be sent.
            HTTPException: the body holds too many events, or needs too much memory.
            InputError: the body is not in the form that its headers name.
            StoreError: the helper process was killed.
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
