"""Dead letters in the journal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ingest.queue.journal.queries import sql
from ingest.queue.protocol import DeadLetter
from schema.errors import NotFoundError
from schema.times import from_microseconds, to_microseconds
from store.sqlite.connections import Connections


class JournalLetters:
    """The dead letters of one project; see ``DeadLetters``."""

    def __init__(self, connections: Connections, project_id: str) -> None:
        self._connections = connections
        self._project_id = project_id

    async def page(self, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """See ``DeadLetters``."""
        page = {"project": self._project_id, "after": after, "limit": limit}
        rows = await self._connections.read(lambda connection: connection.execute(sql("letters.page"), page).fetchall())
        return [_letter(row) for row in rows]

    async def get(self, letter_id: int) -> DeadLetter:
        """See ``DeadLetters``."""
        key = {"project": self._project_id, "k": letter_id}
        rows = await self._connections.read(lambda connection: connection.execute(sql("letters.get"), key).fetchall())
        if not rows:
            raise NotFoundError(str(letter_id), "dead letter")
        return _letter(rows[0])

    async def drop(self, letter_id: int) -> None:
        """See ``DeadLetters``."""
        key = {"project": self._project_id, "k": letter_id}
        await self._connections.write(lambda connection: connection.execute(sql("letters.drop"), key))

    async def count(self) -> int:
        """See ``DeadLetters``."""
        key = {"project": self._project_id}
        found: int = await self._connections.read(lambda connection: connection.execute(sql("letters.count"), key).get)
        return found


def row_of(letter: DeadLetter) -> tuple[Any, ...]:
    """A letter as the values of its row."""
    return (
        letter.digest,
        letter.project_id,
        letter.trace,
        letter.event,
        letter.reason,
        letter.tries,
        to_microseconds(letter.sent_at),
        to_microseconds(letter.died_at),
    )


def _letter(row: Sequence[Any]) -> DeadLetter:
    k, project, trace, event, reason, tries, sent_at, died_at = row
    return DeadLetter(k, project, trace, event, reason, tries, time_of(sent_at), time_of(died_at))


def time_of(microseconds: int) -> datetime:
    """Parse a stored time, in microseconds since 1970."""
    found = from_microseconds(microseconds)
    assert found is not None
    return found
