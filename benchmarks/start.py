"""How long the server takes to listen: a new process on a SQLite file, from its start to its announcement."""

from __future__ import annotations

from benchmarks.context import Context, say
from benchmarks.report import Section, Table, at_most, seconds, spread
from benchmarks.serving import Place, serving
from benchmarks.timing import Series

_MOST_SECONDS = 2.0


async def run(context: Context) -> Section:
    """Start and stop it some times; the first time is not counted."""
    section = Section("Start of the server")
    say("start of the server")
    taken = []
    with context.scratch() as folder:
        for _ in range(context.runs + 1):
            async with serving(Place(f"sqlite:///{folder / 'start.db'}"), "start") as server:
                taken.append(server.start_seconds)
    found = Series(tuple(taken[1:]))
    table = Table(("what", f"median of {context.runs} (least – most)"))
    table.add("`memtrace serve` on SQLite, until it listens", spread(found, seconds))
    section.tables.append(table)
    section.numbers["seconds"] = list(found.values)
    section.goals.append(at_most("start of the server on SQLite", _MOST_SECONDS, found.median, seconds))
    return section
