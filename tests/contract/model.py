"""A model of the store for one trace, in plain Python: slow, but simple enough to be obviously right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise

from schema.models import Variable
from store.contract.answers import NO_BUDGET, Budget, Closure, Direction, Path
from tests.factory import TraceBuilder


class Model:
    """Answers of a store that holds one trace."""

    def __init__(self, trace: TraceBuilder) -> None:
        self.trace = trace
        self.variables = {variable.id: variable for variable in trace.variables}

    def neighbours(self, id_: str, direction: Direction) -> set[str]:
        """What a variable was derived from, or what was derived from it."""
        if direction is Direction.BACKWARD:
            return {derivation.source for derivation in self.trace.derivations if derivation.target == id_}
        return {derivation.target for derivation in self.trace.derivations if derivation.source == id_}

    def distances(self, roots: Sequence[str], direction: Direction, known: Collection[str]) -> dict[str, int]:
        """Derivations between the roots and each variable of their closure, at least, among those that are known."""
        distances = dict.fromkeys(roots, 0)
        queue = list(distances)
        for id_ in queue:
            for neighbour in self.neighbours(id_, direction):
                if neighbour in known and neighbour not in distances:
                    distances[neighbour] = distances[id_] + 1
                    queue.append(neighbour)
        return distances

    def _is_by(self, id_: str, until: int) -> bool:
        return self.variables[id_].sequence <= until

    def closure(
        self,
        roots: Sequence[str],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> Closure:
        """See ``GraphStore.closure``; a budget of seconds is not known here."""
        known = {
            id_ for id_ in self.variables if id_ in roots or budget.until is None or self._is_by(id_, budget.until)
        }
        distances = self.distances(roots, direction, known)
        sign = -1 if direction is Direction.BACKWARD else 1
        nearest = sorted(distances, key=lambda id_: (distances[id_], sign * self.variables[id_].sequence))
        if budget.hops is not None:
            nearest = [id_ for id_ in nearest if distances[id_] <= budget.hops]
        if budget.nodes is not None:
            nearest = nearest[: max(budget.nodes, len(set(roots)))]
        visited = set(nearest)
        frontier = sorted(id_ for id_ in visited if not self.neighbours(id_, direction) & known <= visited)
        shown = {id_ for id_ in visited if not kinds or self.variables[id_].kind in kinds}
        derivations = [d for d in self.trace.derivations if {d.source, d.target} <= shown]
        operations = {derivation.operation_id for derivation in derivations}
        return Closure(
            list(dict.fromkeys(roots)),
            direction,
            sorted((self.variables[id_] for id_ in shown), key=lambda variable: variable.sequence),
            sorted(derivations, key=lambda derivation: derivation.sequence),
            sorted((o for o in self.trace.operations if o.id in operations), key=lambda operation: operation.sequence),
            bool(frontier),
            frontier,
        )

    def paths(self, one: str, other: str) -> list[Path]:
        """See ``GraphStore.paths``; all of them."""
        chains = self._chains(one, other) or self._chains(other, one)
        return [
            Path(
                [self.variables[id_] for id_ in chain],
                [
                    min(
                        (d for d in self.trace.derivations if (d.target, d.source) == (target, source)),
                        key=lambda derivation: derivation.sequence,
                    )
                    for target, source in pairwise(chain)
                ],
            )
            for chain in chains
        ]

    def path(self, one: str, other: str) -> Path:
        """See ``GraphStore.path``."""
        return next(iter(self.paths(one, other)), Path([], []))

    def _chains(self, start: str, goal: str) -> list[list[str]]:
        """All chains, each judged by its length and then by the places of its variables."""

        @cache
        def ways(id_: str) -> list[list[str]]:
            if id_ == goal:
                return [[id_]]
            return [[id_, *way] for source in self.neighbours(id_, Direction.BACKWARD) for way in ways(source)]

        return sorted(ways(start), key=lambda chain: (len(chain), [self.variables[id_].sequence for id_ in chain]))

    def versions(self, id_: str) -> list[Variable]:
        """See ``GraphStore.versions``."""
        one = self.variables[id_]
        same = [
            variable
            for variable in self.trace.variables
            if (variable.name, variable.class_name, variable.occurrence) == (one.name, one.class_name, 0)
        ]
        return sorted(same, key=lambda variable: (variable.version, variable.sequence))
