"""How long the spine of a failure takes, its reading from the store included: processor time of each failure."""

from __future__ import annotations

import gc
import statistics
import time
from collections import defaultdict
from pathlib import Path

from attribution.run import Options, attribute
from attribution.spine.find import spines
from attribution.spine.model import BOXES
from attribution.verdicts.stored import every_failure
from benchmarks.context import ROOT, Context, plain_name, say
from benchmarks.generated import PROJECT
from benchmarks.report import Section, Table, at_most, milliseconds
from ingest.files.registry import import_path
from store.open import open_database

_MOST = 0.1
_FIGURE = "slowest spine of a failure in SQLite, processor time"
_BOXES = "boxes of the largest spine"
_QUICK_FAILURES = 5
_RARE = 0.95
_RUNS = 3


async def run(context: Context) -> Section:
    """Measure every failure of the recorded files, each after a verdict of the free pass."""
    section = Section("Spines in SQLite")
    taken: dict[str, list[float]] = defaultdict(list)
    largest: dict[str, int] = defaultdict(int)
    for file in _files(context):
        await _measure(context, file, taken[file.parent.name], largest)
    everything = [value for one in taken.values() for value in one]
    section.goals.append(at_most(_FIGURE, _MOST, max(everything, default=None), milliseconds))
    section.goals.append(at_most(_BOXES, BOXES, max(largest.values(), default=None), lambda value: f"{value:.0f}"))
    table = Table(("files", "failures", "median", "95 %", "slowest", "boxes at most"))
    for name, one in taken.items():
        ranked = sorted(one)
        rare = ranked[min(len(ranked) - 1, int(len(ranked) * _RARE))]
        figures = (statistics.median(ranked), rare, ranked[-1])
        table.add(name, str(len(ranked)), *map(milliseconds, figures), str(largest[name]))
        section.numbers[name] = one
    section.tables.append(table)
    section.notes.append(
        "The spine of each failure that has an answer, one after the other: the past of the answer is read from the "
        "store, opened anew, and reduced. The middle of three runs of each: one may pay for looking through what the "
        "program before it left in memory. Processor time of the whole process, so that other work on the machine "
        "hardly counts."
    )
    if not (context.data / "bench").is_dir():
        section.missing.append(f"only the sample: there are no graph files in {context.data / 'bench'}")
    return section


async def _measure(context: Context, file: Path, taken: list[float], largest: dict[str, int]) -> None:
    say(f"spine: {file.parent.name}/{plain_name(file)}")
    with context.scratch() as folder:
        async with await open_database(f"sqlite:///{folder / 'store.db'}") as database:
            store = database.project(PROJECT)
            await import_path(store, file)
            failures = [one for one in await every_failure(store, None) if one.answer_id is not None]
            failures = failures[:_QUICK_FAILURES] if context.quick else failures
            async for _ in attribute(store, failures, Options()):
                pass
        async with await open_database(f"sqlite:///{folder / 'store.db'}") as database:
            store = database.project(PROJECT)
            gc.collect()
            for failure in failures:
                times = []
                for _ in range(_RUNS):
                    started = time.process_time()
                    found = await spines(store, [failure])
                    times.append(time.process_time() - started)
                taken.append(statistics.median(times))
                boxes = len(found[failure.id].boxes)
                largest[file.parent.name] = max(largest[file.parent.name], boxes)


def _files(context: Context) -> list[Path]:
    recorded = sorted(context.data.glob("bench/*/*.json*")) + sorted(context.data.glob("traces/*.json*"))
    sample = ROOT / "examples" / "sample" / "assistant.json"
    return [sample] if context.quick else [sample, *recorded]
