"""Walks over the causal graph of one project.

Without bounds, one query finds the ids of a closure, and further queries read its elements, as lists, because rows are
slow. Within bounds, few steps are one query each; for many steps, the server walks without bounds and returns the
nearest variables.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from schema.errors import NotFoundError
from schema.models import Derivation, Operation, Variable
from store.contract.answers import NO_BUDGET, Budget, Closure, Direction, Label, Path
from store.neo4j.read import Reader, parts_of
from store.neo4j.rows import read_rows
from store.shared.closure import Walk, bounded_walk
from store.shared.paths import check_limit, shortest_paths, steps_of

_FEW_STEPS = 16
_UNBOUNDED = 2**31 - 1
_AFTER_ALL = 2**63 - 1
_AT_ONCE = 8


class Walker(Reader):
    """The walking methods of one project's store; see ``Walks``."""

    async def closure(
        self,
        ids: Sequence[str],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> Closure:
        """The closure of some variables, within a budget.

        Raises:
            NotFoundError: a variable does not exist.
        """
        roots = list(dict.fromkeys(ids))
        walk = await self._walk(roots, direction, budget)
        among = walk.visited
        if kinds:
            among = await self._of_kinds(among, kinds)
        is_whole = not walk.frontier and not kinds and budget.until is None
        variables, derivations = await asyncio.gather(
            self.get(Label.VARIABLE, among), self._derivations(among, direction, is_whole)
        )
        operations: list[Operation] = await self.get(Label.OPERATION, {d.operation_id for d in derivations})
        return Closure(
            roots,
            direction,
            sorted(variables, key=lambda v: v.sequence),
            sorted(derivations, key=lambda d: d.sequence),
            sorted(operations, key=lambda o: o.sequence),
            bool(walk.frontier),
            walk.frontier,
        )

    async def closures(
        self,
        roots: Sequence[Sequence[str]],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> list[Closure]:
        """Several closures, one for each list of roots."""
        await self._check_roots(list(dict.fromkeys(id_ for ids in roots for id_ in ids)))
        turns = asyncio.Semaphore(_AT_ONCE)

        async def one(ids: Sequence[str]) -> Closure:
            async with turns:
                return await self.closure(ids, direction, budget, kinds)

        return await asyncio.gather(*map(one, roots))

    async def paths(self, source: str, target: str, limit: int = 10) -> list[Path]:
        """The shortest chains of derivations by which one of two variables depends on the other."""
        check_limit(limit)
        await self._check_roots([source, target])
        for start, goal in ((source, target), (target, source)):
            found = await self._paths_between(start, goal, limit)
            if found:
                return found
        return []

    async def _paths_between(self, start: str, goal: str, limit: int) -> list[Path]:
        rows = await self.items("pairs_of_closure", root=start)
        ranks = {source: rank for _, source, rank, _, _ in rows}
        chains = shortest_paths(((target, source) for target, source, *_ in rows), start, goal, ranks, limit)
        steps = steps_of(chains)
        oldest: dict[tuple[str, str], tuple[int, str]] = {}
        for target, source, _, id_, sequence in rows:
            if (target, source) in steps:
                place = sequence, id_
                oldest[target, source] = min(oldest.get((target, source), place), place)
        among = dict.fromkeys(id_ for chain in chains for id_ in chain)
        variables = {v.id: v for v in await self.get(Label.VARIABLE, among)}
        derivations = {d.id: d for d in await self.get(Label.DERIVATION, [id_ for _, id_ in oldest.values()])}
        return [
            Path([variables[id_] for id_ in chain], [derivations[oldest[step][1]] for step in pairwise(chain)])
            for chain in chains
        ]

    async def _walk(self, roots: Sequence[str], direction: Direction, budget: Budget) -> Walk:
        if not roots:
            return Walk([], [])
        if budget == NO_BUDGET:
            visited = await self.items("closure", direction, roots=roots)
            _check_found(roots, visited)
            return Walk(visited, [])
        await self._check_roots(roots)
        steps = min(_UNBOUNDED if bound is None else bound for bound in (budget.hops, budget.nodes))
        if steps <= _FEW_STEPS or (budget.seconds is not None and budget.seconds <= 0):
            return await self._step_by_step(roots, direction, budget)
        if budget.seconds is None:
            return await self._nearest(roots, direction, budget, None)
        deadline = time.monotonic() + budget.seconds
        try:
            return await self._nearest(roots, direction, budget, budget.seconds / 2)
        except TimeoutError:
            remaining = max(0.0, deadline - time.monotonic())
            return await self._step_by_step(roots, direction, replace(budget, seconds=remaining))

    async def _step_by_step(self, roots: Sequence[str], direction: Direction, budget: Budget) -> Walk:
        async def step(ids: Sequence[str]) -> list[tuple[str, str, int]]:
            read = self.items
            return [tuple(pair) for part in parts_of(ids) for pair in await read("step", direction, ids=part)]

        return await bounded_walk(roots, direction, budget, step)

    async def _nearest(self, roots: Sequence[str], direction: Direction, budget: Budget, seconds: float | None) -> Walk:
        nodes = _UNBOUNDED if budget.nodes is None else max(budget.nodes, len(roots))
        hops = _UNBOUNDED if budget.hops is None else budget.hops
        until = _AFTER_ALL if budget.until is None else budget.until
        visited = await self.items(
            "nearest", direction, roots=roots, hops=hops, nodes=nodes, until=until, seconds=seconds
        )
        frontier: list[str] = await self.items("frontier", direction, ids=visited, until=until)
        return Walk(visited, sorted(frontier))

    async def _of_kinds(self, ids: Sequence[str], kinds: Collection[str]) -> list[str]:
        wanted = sorted(kinds)
        return [id_ for part in parts_of(ids) for id_ in await self.items("of_kinds", ids=part, kinds=wanted)]

    async def _derivations(self, among: Sequence[str], direction: Direction, is_whole: bool) -> list[Derivation]:
        """The derivations with both ends among some variables; a whole closure needs no check of the far ends."""
        bounds = None if is_whole else among
        return [
            derivation
            for part in parts_of(among)
            for derivation in read_rows(
                Label.DERIVATION,
                await self.items("closure_derivations", direction, ids=part, among=bounds),
            )
        ]

    async def _check_roots(self, roots: Sequence[str]) -> None:
        found: list[Variable] = await self.get(Label.VARIABLE, roots)
        _check_found(roots, (variable.id for variable in found))


def _check_found(roots: Sequence[str], found: Iterable[str]) -> None:
    known = set(found)
    for root in roots:
        if root not in known:
            raise NotFoundError(root, Label.VARIABLE)
