"""Where in the program's code an operation was called."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schema.errors import AmbiguousError, NotFoundError
from schema.models import Operation
from store.contract.answers import Label
from store.contract.protocol import GraphStore

_MOST_AROUND = 8
"""The most enclosing operations that are looked at."""


async def code_places(store: GraphStore, operations: Iterable[Operation]) -> dict[str, str]:
    """The place in the code of each operation, by id: its own, or that of the nearest operation around it.

    A step inside a recorded package has no place in the program; the program's call of the package has one. Operations
    without a known place are left out.
    """
    found = {one.id: await _place(store, one) for one in operations}
    return {id_: place for id_, place in found.items() if place is not None}


async def _place(store: GraphStore, operation: Operation) -> str | None:
    around = operation
    for _ in range(_MOST_AROUND):
        if around.location is not None:
            return around.location
        outer = msgspec.json.decode(around.attributes).get("parentId")
        if not isinstance(outer, str):
            return None
        try:
            found = await store.resolve(outer, Label.OPERATION, operation.trace_id)
        except (NotFoundError, AmbiguousError):
            return None
        assert isinstance(found, Operation)
        around = found
    return None
