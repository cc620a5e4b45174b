"""The units that a memory held when a search ran, and that the search did not return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.text.bm25 import Bm25
from attribution.text.tokens import tokens
from attribution.trace.remembered import remembered
from schema.kinds import STORED, OperationKind, VariableKind
from schema.models import Variable
from store.contract.answers import OperationDetail
from store.contract.protocol import GraphStore


@dataclass(frozen=True, slots=True)
class NotReturned:
    """The units that a search left out.

    Attributes:
        held: the number of units that the memory held.
        count: the number of units that were not returned.
        units: some of these: first the units that share most with the query.
    """

    held: int
    count: int
    units: Sequence[Variable]


async def not_returned(store: GraphStore, search: OperationDetail, first: int) -> NotReturned | None:
    """The units that a search left out; None if the operation is no search, or if its results are no units.

    Args:
        store: the project's traces.
        search: the operation.
        first: the most units to give.
    """
    operation = search.operation
    results = {one.external_id for one in search.generated if one.kind in STORED}
    if operation.kind is not OperationKind.RETRIEVAL or (search.generated and not results):
        return None
    memory = await remembered(store, operation.trace_id)
    held = [version.variable for _, version in memory.at(operation.sequence)]
    left = {one.id: one for one in held if one.external_id not in results}
    query = " ".join(one.preview for one in search.used if one.kind in {VariableKind.QUERY, VariableKind.REFINED_QUERY})
    ranked = Bm25({id_: _stems(one.preview) for id_, one in left.items()}).search(
        _stems(query), first, left.__contains__
    )
    chosen = [left[id_] for id_ in dict.fromkeys([*ranked, *left])]
    return NotReturned(len(held), len(left), chosen[:first])


def _stems(text: str) -> list[str]:
    return [token.stem for token in tokens(text) if token.carries]
