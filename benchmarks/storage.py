"""How many bytes a stored file takes, beside the raw file and gzip -9 of it, and how long reading a value takes."""

from __future__ import annotations

import asyncio
import statistics
from dataclasses import dataclass
from pathlib import Path

from benchmarks.context import Context, plain_name, run_module, say
from benchmarks.files import gzip_size, unpack
from benchmarks.report import Section, Table, at_most, megabytes, milliseconds, percent
from store.open import open_database

_GOALS = {"long_context_locomo-1": (0.5e6, 3e6), "evermemos_locomo-1": (2e6, 20e6)}
"""Most bytes of the values and of all, by file."""
_MOST_READ_SECONDS = 0.02
_READS, _QUICK_READS = 300, 20


@dataclass(frozen=True, slots=True)
class _Sizes:
    raw: int
    gzip: int
    values: int
    whole: int


async def run(context: Context) -> Section:
    """Import each recorded file once, and look at the closed store."""
    section = Section("Storage")
    table = Table(("file", "raw", "gzip -9", "values", "graph", "all", "all to raw", "all to gzip -9"))
    reads = Table(("file", "values read", "median", "99 %", "slowest"))
    section.tables += [table, reads]
    found: dict[str, _Sizes] = {}
    slowest = 0.0
    files = context.graph_files()
    if not files:
        section.missing.append(context.no_files())
    for file in files:
        name = plain_name(file)
        say(f"storage: {name}")
        with context.scratch() as folder:
            sizes = found[name] = await _store(file, folder)
            count = _QUICK_READS if context.quick else _READS
            times = sorted(await run_module("value_reads", folder / "store.db", str(count)))
        table.add(
            name,
            *map(megabytes, (sizes.raw, sizes.gzip, sizes.values, sizes.whole - sizes.values, sizes.whole)),
            percent(sizes.whole / sizes.raw),
            percent(sizes.whole / sizes.gzip),
        )
        section.numbers[name] = {"raw": sizes.raw, "gzip": sizes.gzip, "values": sizes.values, "all": sizes.whole}
        if times:
            section.numbers[name]["readSeconds"] = times
            rare = times[min(len(times) - 1, int(len(times) * 0.99))]
            reads.add(name, str(len(times)), *map(milliseconds, (statistics.median(times), rare, times[-1])))
            slowest = max(slowest, times[-1])
    for name, (values, whole) in _GOALS.items():
        one = found.get(name)
        section.goals += [
            at_most(f"stored values of {name}", values, one.values if one else None, megabytes),
            at_most(f"all that is stored of {name}", whole, one.whole if one else None, megabytes),
        ]
    section.goals.append(at_most("slowest read of one value", _MOST_READ_SECONDS, slowest or None, milliseconds))
    section.notes.append(
        "The SQLite file after closing the store; values are the compressed packs in it, graph is all else. Values of "
        "more than 2 KB are read at random by a fresh process, each through a database that has unpacked nothing yet."
    )
    return section


async def _store(file: Path, folder: Path) -> _Sizes:
    plain = await asyncio.to_thread(unpack, file, folder)
    packed = await asyncio.to_thread(gzip_size, plain)
    target = folder / "store.db"
    await run_module("import_once", plain, target)
    raw, whole = await asyncio.to_thread(_sizes, plain, target)
    async with await open_database(f"sqlite:///{target}") as database:
        values = (await database.project("benchmark").stats()).value_bytes
    assert values is not None
    return _Sizes(raw, packed, values, whole)


def _sizes(plain: Path, target: Path) -> tuple[int, int]:
    log = target.with_name(f"{target.name}-wal")
    if log.exists():
        raise RuntimeError(f"{log} is still there after closing the store")
    return plain.stat().st_size, target.stat().st_size
