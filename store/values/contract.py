"""Values beside the graph: what a store of values can do, wherever it keeps them.

Values belong to a trace and are never shared between traces: deleting a trace deletes its values, and no project can
reach those of another.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from typing import Protocol

from schema.models import Variable
from store.values.packs import Pack, verified


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
        """Values by hash, each checked; those of one pack are read together.

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
        """How many bytes the values of all projects take."""
        ...

    async def check_room(self) -> None:
        """Check that the disk with the values has room, if it is a disk of this machine.

        Raises:
            DiskFullError: it has none.
        """
        ...

    async def check(self) -> None:
        """Check that the place can be reached and written to.

        Raises:
            StoreError: it can't.
        """
        ...


def split_values(variables: Iterable[Variable]) -> tuple[dict[str, bytes], dict[str, list[str]]]:
    """The values that are kept on their variables, by hash and checked, and the hashes of the others by trace.

    Raises:
        CorruptValueError: one that is kept on its variable is damaged.
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
