"""Writing made traces through the store, beside the same rows in the engine's bare batched statements."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.context import Context
from benchmarks.generator import Shape
from benchmarks.report import Section, Table, at_least, milliseconds, per_second, percent, raw, spread
from benchmarks.timing import Contender, alternate, ratio

_LEAST_RATIO = 0.7
_RUNS = 7


def goal(section: Section, engine: str, share: float | None) -> None:
    """Put down the goal of an engine."""
    figure = f"write throughput of {engine} to its bare statements"
    section.goals.append(at_least(figure, _LEAST_RATIO, share, percent))


def runs_of(context: Context) -> int:
    """How many traces count."""
    return context.runs if context.quick else _RUNS


def elements_of(shape: Shape) -> int:
    """Variables and derivations of a trace."""
    return shape.variables + shape.derivations


async def compare(
    context: Context, engine: str, ours: Contender, bare: Contender, section: Section, warm_ups: int
) -> None:
    """Write a trace a run, first through the one and then through the other, and the other way round."""
    shape, runs = context.shape, runs_of(context)
    contenders: Mapping[str, Contender] = {"store.write": ours, "bare statements": bare}
    found = await alternate(runs, contenders, warm_ups)
    throughput = {name: one.map(lambda seconds: elements_of(shape) / seconds) for name, one in found.items()}
    share = ratio(throughput["store.write"], throughput["bare statements"])
    table = Table(("what", f"a trace, median of {runs} (least – most)", "elements a second", "throughput to bare"))
    for name, one in found.items():
        compared = spread(share, percent) if name == "store.write" else ""
        table.add(name, spread(one, milliseconds), spread(throughput[name], per_second), compared)
    section.tables.append(table)
    section.numbers["seconds"] = raw(found)
    section.numbers["elements"] = elements_of(shape)
    section.notes.append(
        f"Traces of {shape.variables:,} variables and {shape.derivations:,} derivations, which are the elements that "
        "are counted, with their operations and usages. The bare statements are the store's own texts with finished "
        "rows, in transactions of the same size."
    )
    goal(section, engine, share.value)
