"""Units that an update took out of the memory without ending them, because it returned others or merged several."""

from __future__ import annotations

from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import attributes, units_at
from schema.kinds import STORED, OperationKind
from schema.models import Operation


class TakenOut:
    """Which units were taken out of the memory before a search, as the units that the search rated show.

    A program may hand its whole memory to an update, keep what the update returns, and hand that to the search. No
    recorded event then ends the units that the update did not return. If the search rated units that the update
    returned, and nothing after the update used a unit that it did not return, then that unit was no longer there.

    An update that merges two units makes a version of one of them, and the program drops the other. The other was no
    longer there if the search rated what the update made, and all units but such.
    """

    def __init__(self, graph: TraceGraph, place: int) -> None:
        """Args: the trace, and the place of the search in the order of operations."""
        self._graph = graph
        self._place = place
        self._rated = {
            graph.recorded(unit)
            for one in graph.operations.values()
            if one.sequence == place
            for unit in graph.rated(one.id)
        }
        self._updates = [one for one in graph.operations.values() if one.kind is OperationKind.UPDATE and self._rated]
        self._updates.sort(key=lambda one: one.sequence)
        self._reached: dict[str, bool] = {}
        self._is_complete: bool | None = None

    def has(self, unit: str) -> bool:
        """Whether a unit was taken out."""
        if not self._rated or unit in self._rated:
            return False
        last = self._last_update(unit)
        if last is None or unit in self._returned(last):
            return False
        return self._reached_search(last) or (self._is_rated_merge(last) and self._rates_all_others())

    def _last_update(self, unit: str) -> Operation | None:
        """The update that used a unit last; None if another operation did."""
        users = [one for one in self._users(unit) if one.sequence <= self._place]
        updates = {one.id for one in users if one.kind is OperationKind.UPDATE}
        users = [one for one in users if attributes(one).get("parentId") not in updates]  # no models inside an update
        last = max(users, key=lambda one: one.sequence, default=None)
        return last if last is not None and last.kind is OperationKind.UPDATE else None

    def _is_rated_merge(self, update: Operation) -> bool:
        """Whether the search rated a unit that an update made of several units."""
        graph = self._graph
        given = {graph.recorded(one) for one in graph.used(update.id) if graph.variables[one].kind in STORED}
        return len(given) > 1 and not self._rated.isdisjoint(graph.made(update.id))

    def _rates_all_others(self) -> bool:
        """Whether the search rated all units of the memory but those that a merge may have taken out."""
        if self._is_complete is None:
            missing = set(units_at(self._graph, self._place)) - self._rated
            updates = [self._last_update(one) for one in missing]
            self._is_complete = all(one is not None and self._is_rated_merge(one) for one in updates)
        return self._is_complete

    def _users(self, unit: str) -> list[Operation]:
        """The operations that used a unit or a read of it."""
        graph = self._graph
        same = [unit, *(one.target for one in graph.children(unit) if graph.recorded(one.target) == unit)]
        return [graph.operations[one] for variable in same for one in graph.users(variable)]

    def _returned(self, update: Operation) -> set[str]:
        """The units that an update was given and returned as they were."""
        graph = self._graph
        return {
            graph.recorded(one)
            for one in graph.made(update.id)
            if graph.variables[one].kind in STORED and not graph.is_recorded(one)
        }

    def _reached_search(self, update: Operation) -> bool:
        """Whether the search rated what an update returned, or what later updates made of it."""
        known = self._reached.get(update.id)
        if known is not None:
            return known
        graph, there = self._graph, self._returned(update)
        for one in self._updates if there else ():
            if update.sequence <= one.sequence < self._place and not there.isdisjoint(
                map(graph.recorded, graph.used(one.id))
            ):
                there |= {graph.recorded(made) for made in graph.made(one.id)}
        self._reached[update.id] = not there.isdisjoint(self._rated)
        return self._reached[update.id]
