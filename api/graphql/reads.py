"""The reads of loaders: many elements in one call of the store, by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.events.questions import questions_of
from schema.models import Attribution, Derivation, Variable
from store.contract.answers import ALWAYS, Budget, Closure, Direction, Label, OperationDetail, Page, Span
from store.contract.protocol import GraphStore

Window = tuple[Variable, int, int]
_BYTES_AT_ONCE = 32 << 20
_ANSWERS_AT_ONCE = 100


async def elements(store: GraphStore, ids: Sequence[str], label: Label) -> dict[str, Any]:
    """Elements by id."""
    return {element.id: element for element in await store.get(label, ids)}


async def pages(
    store: GraphStore,
    trace_ids: Sequence[str],
    label: Label,
    first: int,
    after: str | None,
    kinds: frozenset[str],
    statuses: frozenset[str],
    since: int = 0,
    when: Span = ALWAYS,
) -> dict[str, Page[Any]]:
    """A page of each of several traces."""
    return await store.pages(label, trace_ids, first, after, kinds, statuses, since, when)


async def counts(store: GraphStore, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Counts by label of several traces."""
    return await store.counts(trace_ids)


async def details(store: GraphStore, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
    """Operations with their inputs and outputs."""
    return await store.operations(operation_ids)


async def derivations(
    store: GraphStore, variable_ids: Sequence[str], direction: Direction, first: int
) -> dict[str, list[Derivation]]:
    """Derivations of several variables."""
    return await store.derivations_of(variable_ids, direction, first)


async def versions(store: GraphStore, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
    """All versions with the names of several variables."""
    return await store.versions_of(variable_ids)


async def questions(store: GraphStore, answers: Sequence[Variable]) -> dict[Variable, list[Variable]]:
    """The questions that each of several answers may answer. Causal pasts are read in portions."""
    found: dict[str, list[Variable]] = {}
    for start in range(0, len(answers), _ANSWERS_AT_ONCE):
        found |= await questions_of(store, answers[start : start + _ANSWERS_AT_ONCE])
    return {one: found[one.id] for one in answers}


async def closures(
    store: GraphStore, roots: Sequence[tuple[str, ...]], direction: Direction, budget: Budget, kinds: frozenset[str]
) -> dict[tuple[str, ...], Closure]:
    """A closure for each list of roots."""
    return dict(zip(roots, await store.closures(roots, direction, budget, kinds), strict=True))


async def windows(store: GraphStore, keys: Sequence[Window]) -> dict[Window, tuple[str, int]]:
    """Windows of values (variable, offset, length): their text, and how many characters the whole value has.

    A value is read whole, because it is checked against its hash. A few values are read at a time, and only their
    windows are kept.
    """
    found: dict[Window, tuple[str, int]] = {}
    for part in _of_bounded_size(keys):
        whole = await store.values([variable for variable, _, _ in part])
        for key in part:
            variable, offset, length = key
            text = whole[variable.value_hash].decode("utf-8", "replace")
            found[key] = text[offset : offset + length], len(text)
    return found


def _of_bounded_size(keys: Sequence[Window]) -> Iterator[list[Window]]:
    part: list[Window] = []
    size = 0
    for key in keys:
        if part and size + key[0].size > _BYTES_AT_ONCE:
            yield part
            part, size = [], 0
        part.append(key)
        size += key[0].size
    if part:
        yield part


async def verdicts(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, list[Attribution]]:
    """Verdicts on several failures, oldest first."""
    found: dict[str, list[Attribution]] = {id_: [] for id_ in failure_ids}
    for attribution in await store.attributions(failure_ids):
        found[attribution.failure_id].append(attribution)
    return found
