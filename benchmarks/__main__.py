"""Run the benchmarks and print the report: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from benchmarks import (
    abuse,
    attribution,
    closure_neo4j,
    closure_sqlite,
    graph_page,
    hostile,
    imports,
    ingest,
    instruments,
    lineage,
    load,
    optimization,
    pages,
    proofs,
    recording,
    replay,
    spine,
    start,
    storage,
    writes_neo4j,
    writes_sqlite,
)
from benchmarks.context import ROOT, Context, say
from benchmarks.neo4j_server import ServerSource
from benchmarks.report import Section, goal_lines

# Imports come first: the system may count the memory of this process in that of a measured child.
_BENCHMARKS: dict[str, Callable[[Context], Awaitable[Section]]] = {
    "imports": imports.run,
    "storage": storage.run,
    "recording": recording.run,
    "replay": replay.run,
    "instruments": instruments.run,
    "closure-sqlite": closure_sqlite.run,
    "writes-sqlite": writes_sqlite.run,
    "attribution-sqlite": attribution.in_sqlite,
    "spine": spine.run,
    "start": start.run,
    "lineage-sqlite": lineage.in_sqlite,
    "load-sqlite": load.in_sqlite,
    "pages-sqlite": pages.in_sqlite,
    "graph-page": graph_page.run,
    "optimization": optimization.run,
    "proofs": proofs.run,
    "abuse": abuse.run,
    "hostile": hostile.run,
    "closure-neo4j": closure_neo4j.run,
    "writes-neo4j": writes_neo4j.run,
    "attribution-neo4j": attribution.in_neo4j,
    "lineage-neo4j": lineage.in_neo4j,
    "load-neo4j": load.in_neo4j,
    "pages-neo4j": pages.in_neo4j,
    "ingest-embedded": ingest.embedded,
    "ingest-neo4j": ingest.through_nats,
}


def main() -> None:
    """Read the arguments, measure, report."""
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, with all cleaned up
    chosen = [name for name in _BENCHMARKS if not arguments.only or name.startswith(tuple(arguments.only))]
    cache = platformdirs.user_cache_path("memtrace", appauthor=False) / "benchmarks"
    cache.mkdir(parents=True, exist_ok=True)
    say(f"what is made once is kept in {cache}")
    context = Context(arguments.data.absolute(), cache, arguments.quick, ServerSource(cache))
    print(_heading(context), flush=True)
    sections = asyncio.run(_measure(context, chosen))
    print("\n".join(goal_lines(goal for section in sections.values() for goal in section.goals)))
    if arguments.json:
        found = {name: section.document() for name, section in sections.items()}
        document = json.dumps({"quick": context.quick, "benchmarks": found}, indent=2)
        arguments.json.write_text(document + "\n", "utf-8")


async def _measure(context: Context, chosen: list[str]) -> dict[str, Section]:
    sections = {}
    try:
        for name in chosen:
            sections[name] = await _BENCHMARKS[name](context)
            print("\n".join(sections[name].lines()), flush=True)
    finally:
        await context.server.close()
    return sections


def _heading(context: Context) -> str:
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    machine = (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {platform.platform()}, {os.cpu_count()} processors, load at the "
        f"start {load}, Python {platform.python_version()}. MB are 10^6 bytes."
    )
    lines = ["# MemTrace benchmarks", "", machine]
    if context.quick:
        lines += ["", "**QUICK: small sizes and few runs; the figures say nothing but that all works.**"]
    return "\n".join(lines) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure MemTrace beside its peers.")
    parser.add_argument(
        "--only", action="append", type=_name, metavar="NAME", help=f"of {', '.join(_BENCHMARKS)}, or how one begins"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes and few runs, to see that all works")
    data = Path(os.environ.get("MEMTRACE_TEST_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=data, metavar="DIR", help="recorded graph files [%(default)s]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    return parser


def _name(text: str) -> str:
    if not any(name.startswith(text) for name in _BENCHMARKS):
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(_BENCHMARKS)}")
    return text


if __name__ == "__main__":
    main()
