"""Walks over the causal graph of one project."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any

from schema.errors import NotFoundError
from schema.models import Derivation, Operation, Variable
from store.contract.answers import NO_BUDGET, Budget, Closure, Direction, Label, Path
from store.shared.closure import LevelWalk
from store.shared.paths import check_limit, shortest_paths, steps_of
from store.sqlite.context import ReadContext, in_order, keys_of
from store.sqlite.queries import sql
from store.sqlite.rows import bind_keys


def root_keys(context: ReadContext, ids: Sequence[str]) -> list[int]:
    """The keys of the roots of a walk.

    Raises:
        NotFoundError: a root does not exist.
    """
    keys = keys_of(context, Label.VARIABLE, ids)
    for id_ in ids:
        if id_ not in keys:
            raise NotFoundError(id_, Label.VARIABLE.value)
    return [keys[id_] for id_ in dict.fromkeys(ids)]


def closure(
    context: ReadContext,
    ids: Sequence[str],
    direction: Direction = Direction.BACKWARD,
    budget: Budget = NO_BUDGET,
    kinds: Collection[str] = (),
) -> Closure:
    """The closure of some variables, within a budget.

    Raises:
        NotFoundError: a variable does not exist.
    """
    roots = root_keys(context, ids)
    if not roots:
        return Closure([], direction, [], [], [], False, [])
    if budget == NO_BUDGET:
        return assemble(context, ids, direction, walk_all(context, roots, direction), [], kinds, is_whole=True)
    walk = LevelWalk(roots, direction, budget)
    while walk.level:
        walk.feed(step(context, walk.level, direction))
    frontier = sorted(context.reader().variable_ids(walk.frontier))
    is_whole = not frontier and budget.until is None
    return assemble(context, ids, direction, walk.visited, frontier, kinds, is_whole)


def closures(
    context: ReadContext,
    roots: Sequence[Sequence[str]],
    direction: Direction = Direction.BACKWARD,
    budget: Budget = NO_BUDGET,
    kinds: Collection[str] = (),
) -> list[Closure]:
    """Several closures, one for each list of roots."""
    return [closure(context, ids, direction, budget, kinds) for ids in roots]


def paths(context: ReadContext, source: str, target: str, limit: int = 10) -> list[Path]:
    """The shortest chains of derivations by which one of two variables depends on the other."""
    check_limit(limit)
    ends = root_keys(context, [source]) + root_keys(context, [target])
    for start, goal in (ends, ends[::-1]):
        keys = set(walk_all(context, [start], Direction.BACKWARD))
        if goal in keys:
            pairs = derivations_among(context, keys)
            ranks = dict(context.rows("walk.sequences", keys=bind_keys(sorted(keys))))
            chains = shortest_paths(((target, source) for _, source, target in pairs), start, goal, ranks, limit)
            return paths_along(context, chains, pairs)
    return []


def walk_all(context: ReadContext, roots: Iterable[int], direction: Direction) -> list[int]:
    """The keys of all variables in the closure of some roots, without bounds."""
    text = sql("walk.closure", direction)
    return [k for (k,) in context.connection.execute(text, {"roots": bind_keys(roots)})]


def step(context: ReadContext, keys: Iterable[int], direction: Direction) -> list[tuple[int, int, int]]:
    """The derivations of some variables, as (key, key of the neighbour, sequence of the neighbour)."""
    text = sql("walk.step", direction)
    rows: list[Any] = context.connection.execute(text, {"keys": bind_keys(keys)}).fetchall()
    return rows


def derivations_among(context: ReadContext, keys: Collection[int]) -> list[tuple[int, int, int]]:
    """The derivations with both ends among ``keys``, as (key, source, target)."""
    among = keys if isinstance(keys, set) else set(keys)
    if not among:
        return []
    rows: Iterable[Any] = context.connection.execute(sql("walk.derivations_into"), {"keys": bind_keys(sorted(among))})
    return [row for row in rows if row[1] in among]


def assemble(
    context: ReadContext,
    ids: Sequence[str],
    direction: Direction,
    visited: Iterable[int],
    frontier: list[str],
    kinds: Collection[str],
    is_whole: bool,
) -> Closure:
    """The closure with the visited variables; ``is_whole`` if no bound has left out a variable."""
    is_past = direction is Direction.BACKWARD and is_whole and not kinds
    reader = context.reader()
    variables: dict[int, Variable] = reader.read(Variable, list(visited))
    if kinds:
        variables = {k: variable for k, variable in variables.items() if variable.kind in kinds}
    if is_past:
        # A whole past contains the sources of all its variables.
        derivations = reader.derivations_into(list(variables))
    else:
        derivations = reader.read(Derivation, [k for k, _, _ in derivations_among(context, set(variables))])
    operations = reader.read(Operation, reader.operations_of_derivations())
    return Closure(
        list(dict.fromkeys(ids)),
        direction,
        in_order(variables.values()),
        sorted(derivations.values(), key=attrgetter("sequence")),
        sorted(operations.values(), key=attrgetter("sequence")),
        bool(frontier),
        frontier,
    )


def paths_along(
    context: ReadContext, chains: Sequence[Sequence[int]], pairs: Sequence[tuple[int, int, int]]
) -> list[Path]:
    """The paths over chains of keys, from the dependent end; between two variables the first derivation is taken."""
    reader = context.reader()
    variables = reader.read(Variable, sorted({k for chain in chains for k in chain}))
    steps = steps_of(chains)
    found = reader.read(Derivation, [k for k, source, target in pairs if (target, source) in steps])
    chosen: dict[tuple[str, str], Derivation] = {}
    for derivation in sorted(found.values(), key=attrgetter("sequence")):
        chosen.setdefault((derivation.target, derivation.source), derivation)
    along = [[variables[k] for k in chain] for chain in chains]
    return [Path(chain, [chosen[one.id, other.id] for one, other in pairwise(chain)]) for chain in along]
