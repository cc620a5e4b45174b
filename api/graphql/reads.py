"""What loaders read: many things of one sort in one call of the store, by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schema.models import Attribution, Derivation, Variable
from store.protocol import Budget, Closure, Direction, GraphStore, Label, OperationDetail, Page


async def elements(store: GraphStore, ids: Sequence[str], label: Label) -> dict[str, Any]:
    """Elements by id."""
    return {element.id: element for element in await store.get(label, ids)}


async def pages(
    store: GraphStore, trace_ids: Sequence[str], label: Label, first: int, after: str | None, kinds: frozenset[str]
) -> dict[str, Page[Any]]:
    """A page of each of several traces."""
    return await store.pages(label, trace_ids, first, after, kinds)


async def counts(store: GraphStore, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Counts by label of several traces."""
    return await store.counts(trace_ids)


async def details(store: GraphStore, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
    """Operations with what they used and made."""
    return await store.operations(operation_ids)


async def derivations(
    store: GraphStore, variable_ids: Sequence[str], direction: Direction, first: int
) -> dict[str, list[Derivation]]:
    """Derivations of several variables."""
    return await store.derivations_of(variable_ids, direction, first)


async def versions(store: GraphStore, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
    """Versions of several variables' names."""
    return await store.versions_of(variable_ids)


async def closures(
    store: GraphStore, roots: Sequence[tuple[str, ...]], direction: Direction, budget: Budget, kinds: frozenset[str]
) -> dict[tuple[str, ...], Closure]:
    """Closures, each of its own roots."""
    return dict(zip(roots, await store.closures(roots, direction, budget, kinds), strict=True))


async def values(store: GraphStore, variables: Sequence[Variable]) -> dict[Variable, bytes]:
    """Whole values of several variables."""
    found = await store.values(variables)
    return {variable: found[variable.value_hash] for variable in variables}


async def verdicts(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, list[Attribution]]:
    """Verdicts on several failures, oldest first."""
    found: dict[str, list[Attribution]] = {id_: [] for id_ in failure_ids}
    for attribution in await store.attributions(failure_ids):
        found[attribution.failure_id].append(attribution)
    return found
