"""Walking the causal graph of one project.

Without bounds one query finds the ids of a closure, and others read its elements, as lists: rows are what costs. With
few steps to take, each is a query; with many, the server walks all and the nearest are kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from schema.errors import NotFoundError
from schema.models import Derivation, Operation, Variable
from store.closure import Walk, bounded_walk, shortest_path
from store.neo4j.read import Reader, parts_of
from store.neo4j.rows import read_rows
from store.protocol import NO_BUDGET, Budget, Closure, Direction, Label, Path

_FEW_STEPS = 16
_UNBOUNDED = 2**31 - 1


class Walker:
    """Walks the causal graph of one project."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def closure(
        self, ids: Sequence[str], direction: Direction, budget: Budget, kinds: Collection[str]
    ) -> Closure:
        """See ``GraphStore.closure``."""
        roots = list(dict.fromkeys(ids))
        walk = await self._walk(roots, direction, budget)
        among = walk.visited
        if kinds:
            among = await self._of_kinds(among, kinds)
        is_whole = not walk.frontier and not kinds
        variables, derivations = await asyncio.gather(
            self._reader.get(Label.VARIABLE, among), self._derivations(among, direction, is_whole)
        )
        operations: list[Operation] = await self._reader.get(Label.OPERATION, {d.operation_id for d in derivations})
        return Closure(
            roots,
            direction,
            sorted(variables, key=lambda v: v.sequence),
            sorted(derivations, key=lambda d: d.sequence),
            sorted(operations, key=lambda o: o.sequence),
            bool(walk.frontier),
            walk.frontier,
        )

    async def path(self, source: str, target: str) -> Path:
        """See ``GraphStore.path``."""
        await self._check_roots([source, target])
        for start, goal in ((source, target), (target, source)):
            found = await self._path_between(start, goal)
            if found.variables:
                return found
        return Path([], [])

    async def _path_between(self, start: str, goal: str) -> Path:
        rows = await self._reader.items("pairs_of_closure", root=start)
        ranks = {source: rank for _, source, rank, _, _ in rows}
        chain = shortest_path(((target, source) for target, source, *_ in rows), start, goal, ranks)
        steps = set(pairwise(chain))
        oldest: dict[tuple[str, str], tuple[int, str]] = {}
        for target, source, _, id_, sequence in rows:
            if (target, source) in steps:
                place = sequence, id_
                oldest[target, source] = min(oldest.get((target, source), place), place)
        derivations = [oldest[step][1] for step in pairwise(chain)]
        return Path(
            await self._reader.get(Label.VARIABLE, chain), await self._reader.get(Label.DERIVATION, derivations)
        )

    async def _walk(self, roots: Sequence[str], direction: Direction, budget: Budget) -> Walk:
        if not roots:
            return Walk([], [])
        if budget == NO_BUDGET:
            visited = await self._reader.items(f"closure_{direction}", roots=roots)
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
            name = f"step_{direction}"
            return [tuple(pair) for part in parts_of(ids) for pair in await self._reader.items(name, ids=part)]

        return await bounded_walk(roots, direction, budget, step)

    async def _nearest(self, roots: Sequence[str], direction: Direction, budget: Budget, seconds: float | None) -> Walk:
        nodes = _UNBOUNDED if budget.nodes is None else max(budget.nodes, len(roots))
        hops = _UNBOUNDED if budget.hops is None else budget.hops
        visited = await self._reader.items(f"nearest_{direction}", roots=roots, hops=hops, nodes=nodes, seconds=seconds)
        frontier: list[str] = await self._reader.items(f"frontier_{direction}", ids=visited)
        return Walk(visited, sorted(frontier))

    async def _of_kinds(self, ids: Sequence[str], kinds: Collection[str]) -> list[str]:
        wanted = sorted(kinds)
        return [id_ for part in parts_of(ids) for id_ in await self._reader.items("of_kinds", ids=part, kinds=wanted)]

    async def _derivations(self, among: Sequence[str], direction: Direction, is_whole: bool) -> list[Derivation]:
        """Derivations with both ends among some variables; of a whole closure no end needs to be looked up."""
        bounds = None if is_whole else among
        return [
            derivation
            for part in parts_of(among)
            for derivation in read_rows(
                Label.DERIVATION,
                await self._reader.items(f"closure_derivations_{direction}", ids=part, among=bounds),
            )
        ]

    async def _check_roots(self, roots: Sequence[str]) -> None:
        found: list[Variable] = await self._reader.get(Label.VARIABLE, roots)
        _check_found(roots, (variable.id for variable in found))


def _check_found(roots: Sequence[str], found: Iterable[str]) -> None:
    known = set(found)
    for root in roots:
        if root not in known:
            raise NotFoundError(root, Label.VARIABLE)
