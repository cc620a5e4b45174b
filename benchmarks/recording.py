"""What recording costs the application, beside smartcomment recording the same work in the same interpreter."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.context import ROOT, Context, UnavailableError, say
from benchmarks.report import Section, Table, at_least, at_most, megabytes, milliseconds, spread, times
from benchmarks.smartcomment_environment import VERSION, environment
from benchmarks.timing import Series, ratio

_OURS = Path(__file__).with_name("recording_ours.py")
_PEER = Path(__file__).with_name("recording_smartcomment.py")
_MOST_ON, _MOST_OFF = 20e-6, 0.2e-6
_LEAST_RATIO = 10.0
_MOST_GROWTH = 12.0
_MOST_MEMORY = 250e6
_CALLS, _QUICK_CALLS = 10_000, 1_000
_FEW, _MANY = 500, 5_000
_PEER_MANY = 2_000
_AWAY, _QUICK_AWAY = 150_000, 5_000


async def run(context: Context) -> Section:
    """Each figure in fresh interpreters; the contenders take turns."""
    section = Section("Recording")
    try:
        peer, version = await asyncio.to_thread(environment, context.cache)
    except UnavailableError as error:
        section.missing.append(f"the ratio to smartcomment: {error}")
        peer, version = None, ""
    await _calls(context, section, peer, version)
    await _off(context, section)
    await _buffers(context, section, peer)
    await _away(context, section)
    section.notes.append(
        "Two known texts go into an operation, a new one comes out: seven events. The call is timed in bursts of 200, "
        "with the exporter that writes a file; `all threads` is the processor time of the whole process by operation, "
        "encoding and writing included. smartcomment keeps everything in memory and writes nothing. Each run is a "
        "fresh interpreter, the contenders take turns; median of the runs (least – most)."
    )
    return section


async def _calls(context: Context, section: Section, peer: Path | None, version: str) -> None:
    say("recording: calls")
    count = str(_QUICK_CALLS if context.quick else _CALLS)
    pythons = {f"memtrace, Python {sys.version.split()[0]}": Path(sys.executable)}
    if peer is not None:
        pythons[f"memtrace, Python {version}"] = peer
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(context.runs):
        for name, python in pythons.items():
            found.setdefault(name, []).append(await _ours(context, python, "calls", count))
        if peer is not None:
            found.setdefault(f"smartcomment {VERSION}, Python {version}", []).append(
                await _theirs(peer, "calls", count)
            )
    table = Table(("an operation, 2 inputs, 1 output", "the call", "of it, processor", "all threads, processor"))
    for name, runs in found.items():
        cells = (spread(_series(runs, key), _micro) if key in runs[0] else "–" for key in ("wall", "thread", "total"))
        table.add(name, *cells)
    section.tables.append(table)
    section.numbers["calls"] = found
    own = _series(next(iter(found.values())), "wall")
    section.goals.append(at_most("recording an operation, in the application's thread", _MOST_ON, own.median, _micro))
    against = None
    if peer is not None:
        *_, ours, theirs = found.values()
        against = ratio(_series(theirs, "wall"), _series(ours, "wall"))
        section.notes.append(f"smartcomment's call takes {spread(against, times)} as long, in the same interpreter.")
    figure = "smartcomment's time for an operation to ours"
    section.goals.append(at_least(figure, _LEAST_RATIO, against.value if against else None, times))


async def _off(context: Context, section: Section) -> None:
    say("recording: off")
    runs = [await _ours(context, Path(sys.executable), "off", "0", MEMTRACE_ENABLED="0") for _ in range(context.runs)]
    table = Table(("off (`MEMTRACE_ENABLED=0`)", "more than without"))
    for figure, key in (("a decorated function", "decorated"), ("`with memtrace.operation(...)`", "block")):
        series = _series(runs, key)
        table.add(figure, spread(series, _micro))
        section.goals.append(at_most(f"off: {figure}", _MOST_OFF, series.median, _micro))
    section.tables.append(table)
    section.numbers["off"] = runs


async def _buffers(context: Context, section: Section, peer: Path | None) -> None:
    say("recording: buffers")
    table = Table(("a list changed in place", "times", "time", "bytes", "peak memory"))
    many = _FEW * 2 if context.quick else _MANY
    found: dict[int, list[dict[str, float]]] = {}
    for _ in range(context.runs):
        for count in (_FEW, many):
            found.setdefault(count, []).append(await _ours(context, Path(sys.executable), "buffer", str(count)))
    for count, runs in found.items():
        _add_buffer(table, "memtrace, events in a file", count, runs)
    if peer is not None:
        for count in (_FEW, many if context.quick else _PEER_MANY):
            runs = [await _theirs(peer, "buffer", str(count))]
            _add_buffer(table, f"smartcomment {VERSION}, values in memory", count, runs)
            section.numbers[f"buffer of smartcomment, {count}"] = runs
    section.tables.append(table)
    section.numbers["buffer"] = {str(count): runs for count, runs in found.items()}
    growth = found[many][0]["bytes"] / found[_FEW][0]["bytes"]
    section.goals.append(at_most(f"bytes of {many:,} changes to those of {_FEW}", _MOST_GROWTH, growth, times))


def _add_buffer(table: Table, name: str, count: int, runs: list[dict[str, float]]) -> None:
    size, peak = _series(runs, "bytes").median, _series(runs, "rss").median
    table.add(name, f"{count:,}", spread(_series(runs, "seconds"), milliseconds), megabytes(size), megabytes(peak))


async def _away(context: Context, section: Section) -> None:
    say("recording: the platform is away")
    count = _QUICK_AWAY if context.quick else _AWAY
    table = Table((f"the platform is away, {count:,} operations", "peak memory after a tenth", "at the end", "events"))
    for name, place in (("they wait on disk", "with-spool"), ("they wait in memory", "no-spool")):
        found = await _ours(context, Path(sys.executable), "away", str(count), place=place)
        events = f"{found['spooled']:,} on disk, {found['dropped']:,} dropped at the end"
        table.add(name, megabytes(found["first"]), megabytes(found["last"]), events)
        section.goals.append(at_most(f"memory, {name}", _MOST_MEMORY, found["last"], megabytes))
        section.numbers[f"away, {name}"] = found
    section.tables.append(table)


async def _ours(context: Context, python: Path, work: str, count: str, place: str = "", **more: str) -> Any:
    with context.scratch() as folder:
        (folder / place).mkdir(exist_ok=True)
        return await child(python, _OURS, work, count, folder / place, PYTHONPATH=str(ROOT / "sdk"), **more)


async def _theirs(python: Path, work: str, count: str) -> Any:
    return await child(python, _PEER, work, count)


async def child(python: Path, script: Path, *arguments: str | Path, **environment: str) -> Any:
    """What a script printed, read as JSON.

    Raises:
        RuntimeError: it failed.
    """
    child = await asyncio.create_subprocess_exec(
        *(python, "-P", script, *arguments),
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await child.communicate()
    if child.returncode:
        raise RuntimeError(f"{script.name} {arguments[0]} failed:\n{errors.decode(errors='replace')}")
    return json.loads(output)


def _series(runs: list[dict[str, float]], key: str) -> Series:
    return Series(tuple(run[key] for run in runs))


def _micro(value: float) -> str:
    """Seconds as ``12.34 µs``."""
    return f"{value * 1e6:.2f} µs"
