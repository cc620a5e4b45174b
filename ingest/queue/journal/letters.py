"""Dead letters in the journal."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.queue.journal import blocks
from ingest.queue.journal.queries import sql
from ingest.queue.protocol import DeadLetter
from schema.errors import NotFoundError
from store.sqlite.connections import Connections


class JournalLetters:
    """The dead letters of one project; see ``DeadLetters``."""

    def __init__(self, connections: Connections, project_id: str) -> None:
        self._connections = connections
        self._project_id = project_id

    async def page(self, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """See ``DeadLetters``."""
        return await self._connections.read(lambda connection: blocks.page(connection, self._project_id, after, limit))

    async def get(self, letter_id: int) -> DeadLetter:
        """See ``DeadLetters``."""
        for letter in await self.page(letter_id - 1, 1):
            if letter.id == letter_id:
                return letter
        raise NotFoundError(str(letter_id), "dead letter")

    async def drop(self, letter_ids: Sequence[int]) -> int:
        """See ``DeadLetters``."""
        dropped = await self._connections.write(
            lambda connection: blocks.drop(connection, self._project_id, letter_ids)
        )
        if dropped:
            await self._connections.shrink()
        return dropped

    async def drop_all(self) -> int:
        """See ``DeadLetters``."""
        dropped = await self._connections.write(lambda connection: blocks.drop_all(connection, self._project_id))
        await self._connections.shrink()
        return dropped

    async def count(self) -> int:
        """See ``DeadLetters``."""
        return (await self._amount())[0]

    async def lost(self) -> int:
        """See ``DeadLetters``."""
        return (await self._amount())[1]

    async def _amount(self) -> tuple[int, int]:
        key = (self._project_id,)
        row = await self._connections.read(lambda connection: connection.execute(sql("letters.amount"), key).fetchone())
        return (0, 0) if row is None else (row[0], row[2])
