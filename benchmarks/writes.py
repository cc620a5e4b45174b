"""Writing made traces through the store, beside the same rows in bare batched statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.context import Context
from benchmarks.generator import Shape
from benchmarks.report import Section, Table, at_least, milliseconds, per_second, percent, raw, spread
from benchmarks.timing import Contender, alternate, ratio

_RUNS = 7


@dataclass(frozen=True, slots=True)
class Peer:
    """What an engine is measured against.

    Attributes:
        statements: what its statements are called.
        least_ratio: how much of its throughput the store shall reach.
        least_rate: how many elements a second the store shall write; None where no number is named.
        about: what the statements are.
    """

    engine: str
    statements: str
    least_ratio: float
    least_rate: float | None
    about: str

    def goals(self, section: Section, share: float | None, rate: float | None) -> None:
        """Add the goals with the measured figures; None stands for a figure that was not measured."""
        figure = f"write throughput of {self.engine} to {self.statements}"
        section.goals.append(at_least(figure, self.least_ratio, share, percent))
        if self.least_rate is not None:
            figure = f"elements a second that are written to {self.engine}"
            section.goals.append(at_least(figure, self.least_rate, rate, per_second))


def runs_of(context: Context) -> int:
    """How many traces are measured."""
    return context.runs if context.quick else _RUNS


def elements_of(shape: Shape) -> int:
    """Variables and derivations of a trace."""
    return shape.variables + shape.derivations


async def compare(
    context: Context, ours: Contender, bare: Contender, peer: Peer, section: Section, warm_ups: int
) -> None:
    """Write one trace in each run, by each contender, which take turns in going first."""
    shape, runs = context.shape, runs_of(context)
    contenders: Mapping[str, Contender] = {"store.write": ours, peer.statements: bare}
    found = await alternate(runs, contenders, warm_ups)
    throughput = {name: one.map(lambda seconds: elements_of(shape) / seconds) for name, one in found.items()}
    share = ratio(throughput["store.write"], throughput[peer.statements])
    table = Table(("what", f"a trace, median of {runs} (least – most)", "elements a second", "throughput to bare"))
    for name, one in found.items():
        compared = spread(share, percent) if name == "store.write" else ""
        table.add(name, spread(one, milliseconds), spread(throughput[name], per_second), compared)
    section.tables.append(table)
    section.numbers["seconds"] = raw(found)
    section.numbers["elements"] = elements_of(shape)
    section.notes.append(
        f"Traces of {shape.variables:,} variables and {shape.derivations:,} derivations, which are the elements that "
        f"are counted, with their operations and usages. {peer.about}"
    )
    peer.goals(section, share.value, throughput["store.write"].median)
