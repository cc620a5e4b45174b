"""Values beside the graph: what a store of values can do, wherever it keeps them.

Values belong to a trace: what one trace keeps is never shared with another, so that deleting a trace deletes its
values, and nothing of one project can be met in another.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from typing import Protocol

from schema.models import Variable
from store.packs import Pack, verified


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

    async def get_many(self, project_id: str, trace_id: str, hashes: Collection[str]) -> dict[str, bytes]:
        """Values by hash, each checked; what lies in one pack is read at once.

        Raises:
            CorruptValueError: one is damaged or gone.
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

    async def check_room(self) -> None:
        """Whether the disk with the values has room, where they lie on one of this machine.

        Raises:
            DiskFullError: it has none.
        """
        ...

    async def check(self) -> None:
        """Whether the place can be reached and written.

        Raises:
            StoreError: it can't.
        """
        ...


def split_values(variables: Iterable[Variable]) -> tuple[dict[str, bytes], dict[str, list[str]]]:
    """The values that stand on their variables, by hash and checked, and the hashes of the others by trace.

    Raises:
        CorruptValueError: one that stands on its variable is damaged.
    """
    here: dict[str, bytes] = {}
    elsewhere: dict[str, dict[str, None]] = {}
    for variable in variables:
        value_hash = variable.value_hash
        if variable.value is not None:
            here[value_hash] = verified(variable.value.encode(), value_hash)
        else:
            elsewhere.setdefault(variable.trace_id, {})[value_hash] = None
    return here, {trace_id: list(hashes) for trace_id, hashes in elsewhere.items()}
