"""A whole closure through the store, beside a bare query of the same engine that returns the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.context import Context
from benchmarks.generator import answer_of
from benchmarks.report import Section, Table, milliseconds, raw, spread, times
from benchmarks.timing import Contender, Ratio, alternate, ratio, timed
from store.contract.protocol import GraphStore

_RUNS = 9
_OURS = "store.shared.closure"

Ask = Callable[[str], Awaitable[list[Any]]]
"""Takes the id of a root; gives the rows of a bare query."""


@dataclass(frozen=True, slots=True)
class Peers:
    """Bare queries of an engine.

    Attributes:
        name: how the report calls the query that counts.
        whole: that query: returns all that the closure has except operations.
        ids_of: the ids of the variables and derivations in its rows.
        others: further queries, by name; for information.
        warm_ups: runs before those that count.
    """

    name: str
    whole: Ask
    ids_of: Callable[[list[Any]], list[str]]
    others: Mapping[str, Ask]
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
    contenders = {_OURS: contender(lambda id_: store.closure([id_])), peers.name: contender(peers.whole)}
    contenders |= {name: contender(ask) for name, ask in peers.others.items()}
    found = await alternate(runs, contenders, peers.warm_ups)
    table = Table(("what", f"median of {runs} (least – most)", f"{_OURS} to it"))
    for name, one in found.items():
        table.add(name, spread(one, milliseconds), "" if name == _OURS else spread(ratio(found[_OURS], one), times))
    section.tables.append(table)
    section.numbers["seconds"] = raw(found)
    section.notes.append(
        f"{len(closure.variables):,} variables and {len(closure.derivations):,} derivations; `{_OURS}` also gives the "
        f"{len(closure.operations):,} operations. It is checked to have the same variables and derivations as the "
        "query that counts, which is the first below it. Each run asks for the answer of another trace, once to warm "
        "up and once for the figure."
    )
    return ratio(found[_OURS], found[peers.name])
