"""Values beside the graph: what a store of values can do, wherever it keeps them.

Values belong to a trace: what one trace keeps is never shared with another, so that deleting a trace deletes its
values, and nothing of one project can be met in another.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Protocol

from store.packs import Pack


class ValueStore(Protocol):
    """Keeps packs of values per project and trace, by content hash."""

    async def put(self, project_id: str, trace_id: str, packs: Iterable[Pack]) -> None:
        """Make packs durable. Putting the same pack again changes nothing."""
        ...

    async def hashes(self, project_id: str, trace_id: str) -> set[str]:
        """The hashes of all values of a trace."""
        ...

    async def get(self, project_id: str, trace_id: str, value_hash: str) -> bytes:
        """A value, checked against its hash.

        Raises:
            CorruptValueError: it is damaged or gone.
        """
        ...

    def scan(self, project_id: str, trace_id: str) -> AsyncIterator[tuple[str, bytes]]:
        """All values of a trace with their hashes, pack by pack, each checked."""
        ...

    async def delete(self, project_id: str, trace_id: str) -> None:
        """Delete all values of a trace."""
        ...

    async def size(self) -> int:
        """Bytes that all values take, over all projects."""
        ...

    async def check(self) -> None:
        """Whether the place can be reached and written.

        Raises:
            StoreError: it can't.
        """
        ...
