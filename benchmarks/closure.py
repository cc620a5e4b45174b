"""A whole closure through the store, beside a bare query of the same engine that returns the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.context import Context
from benchmarks.generator import answer_of
from benchmarks.report import Section, Table, milliseconds, raw, spread, times
from benchmarks.timing import Contender, Ratio, alternate, ratio, timed
from store.protocol import GraphStore

_RUNS = 9
_OURS = "store.closure"

Ask = Callable[[str], Awaitable[list[Any]]]
"""Takes the id of a root; gives the rows of a bare query."""


@dataclass(frozen=True, slots=True)
class Peers:
    """Bare queries of an engine.

    Attributes:
        whole: returns all that the closure has, but for operations.
        whole_name: how the report calls it.
        ids: returns the ids of the variables only; for information.
        ids_of: the ids of the variables and derivations in the rows of ``whole``.
        warm_ups: runs before those that count.
    """

    whole: Ask
    whole_name: str
    ids: Ask
    ids_of: Callable[[list[Any]], list[str]]
    warm_ups: int


async def compare(context: Context, store: GraphStore, peers: Peers, section: Section) -> Ratio:
    """Ask for the causal past of the answers of some made traces, each once to warm up and once for the figure.

    Raises:
        RuntimeError: the store and the bare query do not return the same.
    """
    shape, runs = context.shape, context.runs if context.quick else _RUNS
    step = max(1, shape.traces // runs)

    def root(run: int) -> str:
        return answer_of(store.project_id, shape, run * step % shape.traces)

    def contender(ask: Callable[[str], Awaitable[object]]) -> Contender:
        async def measure(run: int) -> float:
            await ask(root(run))
            return (await timed(ask(root(run))))[0]

        return measure

    closure = await store.closure([root(0)])
    items = sorted([d.id for d in closure.derivations] + [v.id for v in closure.variables])
    if items != sorted(peers.ids_of(await peers.whole(root(0)))):
        raise RuntimeError("the store and the bare query do not return the same variables and derivations")
    ids_name = "ids of the variables only"
    contenders = {
        _OURS: contender(lambda id_: store.closure([id_])),
        peers.whole_name: contender(peers.whole),
        ids_name: contender(peers.ids),
    }
    found = await alternate(runs, contenders, peers.warm_ups)
    to_whole = ratio(found[_OURS], found[peers.whole_name])
    table = Table(("what", "variables", "derivations", f"median of {runs} (least – most)", f"{_OURS} to it"))
    counts = f"{len(closure.variables):,}", f"{len(closure.derivations):,}"
    table.add(_OURS, *counts, spread(found[_OURS], milliseconds), "")
    table.add(peers.whole_name, *counts, spread(found[peers.whole_name], milliseconds), spread(to_whole, times))
    to_ids = ratio(found[_OURS], found[ids_name])
    table.add(ids_name, counts[0], "–", spread(found[ids_name], milliseconds), spread(to_ids, times))
    section.tables.append(table)
    section.numbers["seconds"] = raw(found)
    section.notes.append(
        f"`{_OURS}` also gives the {len(closure.operations):,} operations, the bare query does not; both are checked "
        "to have the same variables and derivations. Each run asks for the answer of another trace, once to warm up "
        "and once for the figure."
    )
    return to_whole
