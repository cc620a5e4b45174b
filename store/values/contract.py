"""The protocol of a value store, which keeps long values beside the graph.

Values belong to a trace and are never shared between traces: deleting a trace deletes its values, and no project can
reach values of another project.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from typing import Protocol

from schema.models import Variable
from store.values.packs import Pack, verified


class ValueStore(Protocol):
    """Stores packs of values by project and trace; values are found by their hash."""

    async def put(self, project_id: str, trace_id: str, packs: Iterable[Pack]) -> None:
        """Store packs durably. A pack that is put twice is stored once."""
        ...

    async def hashes(self, project_id: str, trace_id: str) -> set[str]:
        """The hashes of all values of a trace."""
        ...

    async def get(self, project_id: str, trace_id: str, value_hash: str) -> bytes:
        """A value, checked against its hash.

        Raises:
            CorruptValueError: the value is damaged or gone.
        """
        ...

    async def get_many(self, project_id: str, trace_id: str, hashes: Collection[str]) -> dict[str, bytes]:
        """Values by hash, each checked; each pack is read once.

        Raises:
            CorruptValueError: a value is damaged or gone.
        """
        ...

    def scan(self, project_id: str, trace_id: str) -> AsyncIterator[tuple[str, bytes]]:
        """All values of a trace with their hashes, pack by pack, each checked."""
        ...

    async def delete(self, project_id: str, trace_id: str) -> None:
        """Delete all values of a trace."""
        ...

    async def size(self) -> int:
        """The stored size of the values of all projects, in bytes."""
        ...

    async def check_room(self) -> None:
        """Check that the disk with the values has room, if the disk is on this machine.

        Raises:
            DiskFullError: the disk is full.
        """
        ...

    async def check(self) -> None:
        """Check that the place can be reached and written to.

        Raises:
            StoreError: reading or writing fails.
        """
        ...


def split_values(variables: Iterable[Variable]) -> tuple[dict[str, bytes], dict[str, list[str]]]:
    """The short values, stored with their variables, by hash and checked; and the hashes of long values, by trace.

    Raises:
        CorruptValueError: a short value does not match its hash.
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
