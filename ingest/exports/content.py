"""A whole trace in memory, except its long values, for exports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from ingest.exports.turns import in_turn
from schema.models import Derivation, Invalidation, Operation, Session, Trace, Usage, Variable
from store.contract.protocol import GraphStore
from store.shared.paging import elements

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VALUES_BYTES = 8 << 20
_VALUES = 500


@dataclass(frozen=True)
class Content:
    """A trace; every list is in the order of the trace.

    Attributes:
        made: variables by the id of the operation that made them; variables from outside are under None.
        derived: derivations by the id of their operation.
        used: usages by the id of their operation, in the order of their positions.
        ended: invalidated variables by the id of the operation that invalidated them.
    """

    trace: Trace
    sessions: list[Session]
    operations: list[Operation]
    variables: dict[str, Variable]
    made: dict[str | None, list[Variable]]
    derived: dict[str, list[Derivation]]
    used: dict[str, list[Usage]]
    ended: dict[str, list[Invalidation]]

    @cached_property
    def of_id(self) -> dict[str, Operation]:
        """The operations by their ids."""
        return {one.id: one for one in self.operations}

    def time(self, moment: datetime | None) -> datetime:
        """``moment``, or the beginning of the trace if ``moment`` is None."""
        return moment or self.trace.created_at or _EPOCH


async def content_of(store: GraphStore, trace: Trace) -> Content:
    """Read a whole trace."""
    return await in_turn(
        _arranged,
        trace,
        await elements(store, Session, trace.id),
        await elements(store, Operation, trace.id),
        await elements(store, Variable, trace.id),
        await elements(store, Derivation, trace.id),
        await store.usages(trace.id),
        await store.invalidations(trace.id),
    )


def _arranged(
    trace: Trace,
    sessions: list[Session],
    operations: list[Operation],
    variables: Sequence[Variable],
    derivations: Iterable[Derivation],
    usages: Iterable[Usage],
    invalidations: Iterable[Invalidation],
) -> Content:
    found = Content(
        trace,
        sessions,
        operations,
        {one.id: one for one in variables},
        defaultdict(list),
        defaultdict(list),
        defaultdict(list),
        defaultdict(list),
    )
    for variable in variables:
        found.made[variable.operation_id].append(variable)
    for derivation in derivations:
        found.derived[derivation.operation_id].append(derivation)
    for usage in usages:
        found.used[usage.operation_id].append(usage)
    for uses in found.used.values():
        uses.sort(key=lambda one: (one.position, found.variables[one.variable_id].sequence))
    for invalidation in invalidations:
        found.ended[invalidation.operation_id].append(invalidation)
    for ends in found.ended.values():
        ends.sort(key=lambda one: found.variables[one.variable_id].sequence)
    return found


async def whole_values(store: GraphStore, variables: Sequence[Variable]) -> AsyncIterator[tuple[Variable, str]]:
    """Variables with their whole values; a few megabytes of values are in memory at a time."""
    for part in _parts(variables):
        long = [one for one in part if one.value is None]
        values = await store.values(long) if long else {}
        for variable in part:
            text = variable.value if variable.value is not None else values[variable.value_hash].decode()
            yield variable, text


def _parts(variables: Sequence[Variable]) -> list[list[Variable]]:
    parts: list[list[Variable]] = []
    size = 0
    for variable in variables:
        if not parts or size + variable.size > _VALUES_BYTES or len(parts[-1]) >= _VALUES:
            parts.append([])
            size = 0
        parts[-1].append(variable)
        size += variable.size
    return parts
