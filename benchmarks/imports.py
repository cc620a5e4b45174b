"""How much time and memory an import takes, beside smartcomment's own reading of the same file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.context import Context, UnavailableError, plain_name, run_child, run_module, say
from benchmarks.files import unpack
from benchmarks.report import Section, Table, at_most, megabytes, raw, seconds, spread, times
from benchmarks.smartcomment_environment import VERSION, environment
from benchmarks.timing import Ratio, Series, alternate, ratio

_MOST_RATIO = 2.0
_MOST_MEMORY = 400e6
_MEMORY_FIGURE = "peak memory of importing the largest file"
_LOADER = Path(__file__).with_name("smartcomment_load.py")


async def run(context: Context) -> Section:
    """Import each recorded file several times, each time in a fresh interpreter."""
    section = Section("Import")
    files = context.graph_files()
    if not files:
        section.missing.append(context.no_files())
        section.goals.append(at_most(_MEMORY_FIGURE, _MOST_MEMORY, None, megabytes))
        return section
    peer = await _peer(context, section)
    table = Table(("file", "raw", "import, durable", "peak memory", f"smartcomment {VERSION}, in memory", "ratio"))
    section.tables.append(table)
    ratios: dict[str, Ratio] = {}
    largest, largest_peak = 0, 0.0
    with context.scratch() as folder:
        for file in files:
            name = plain_name(file)
            say(f"import: {name}")
            plain = await asyncio.to_thread(unpack, file, folder)
            size = plain.stat().st_size
            found, peaks = await _measure(context, plain, peer)
            section.numbers[name] = {"raw": size, "seconds": raw(found), "peak": peaks.values}
            other = found.get("smartcomment")
            if other is not None:
                ratios[name] = ratio(found["import"], other)
            table.add(
                name,
                megabytes(size),
                spread(found["import"], seconds),
                spread(peaks, megabytes),
                spread(other, seconds) if other else "–",
                spread(ratios[name], times) if other else "–",
            )
            if size > largest:
                largest, largest_peak = size, peaks.high
            plain.unlink()
    for file in files:
        one = ratios.get(plain_name(file))
        figure = f"import of {plain_name(file)} to smartcomment's"
        section.goals.append(at_most(figure, _MOST_RATIO, one.value if one else None, times))
    section.goals.append(at_most(_MEMORY_FIGURE, _MOST_MEMORY, largest_peak, megabytes))
    section.notes.append(
        "Plain JSON file into a new SQLite store, commit on disk included, opening and closing the store not; "
        "against `json.load` and `ExecNetwork.import_graph`. Each run is a fresh interpreter; the two take turns. "
        f"Median of {context.runs} runs (least – most); ratio of the medians (least – most of the pairs)."
    )
    return section


async def _peer(context: Context, section: Section) -> Path | None:
    try:
        python, version = await asyncio.to_thread(environment, context.cache)
    except UnavailableError as error:
        section.missing.append(f"the ratio to smartcomment: {error}")
        return None
    section.notes.append(f"smartcomment {VERSION} runs in Python {version}.")
    return python


async def _measure(context: Context, plain: Path, peer: Path | None) -> tuple[dict[str, Series], Series]:
    peaks: list[float] = []

    async def ours(run: int) -> float:
        with context.scratch() as folder:
            found = await run_module("import_once", plain, folder / "store.db")
        peaks.append(found["peak"])
        return float(found["seconds"])

    async def theirs(run: int) -> float:
        assert peer is not None
        return float((await run_child(peer, "-P", _LOADER, plain))["seconds"])

    contenders = {"import": ours} if peer is None else {"import": ours, "smartcomment": theirs}
    return await alternate(context.runs, contenders), Series(tuple(peaks))
