"""What an instrument adds to a call of a model, beside OpenInference's and smartcomment's for the same program."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from benchmarks.context import ROOT, Context, UnavailableError, say
from benchmarks.recording import child
from benchmarks.report import Section, Table, at_most, spread
from benchmarks.smartcomment_environment import VERSION as SMARTCOMMENT
from benchmarks.smartcomment_environment import newest_python, run_tool
from benchmarks.timing import Series

_CHILD = Path(__file__).with_name("instruments_child.py")
_PACKAGES = {
    "openai": "3.54.0",
    "openinference-instrumentation-openai": "0.1.66",
    "opentelemetry-sdk": "1.45.2",
    "smartcomment": SMARTCOMMENT,
}
_CONTENDERS = ("none", "memtrace", "openinference", "smartcomment")
_CALLS, _QUICK_CALLS = 2_000, 300


async def run(context: Context) -> Section:
    """The contenders take turns, each in fresh interpreters of one environment."""
    section = Section("Instruments")
    try:
        python, version = await asyncio.to_thread(_environment, context.cache)
    except UnavailableError as error:
        section.missing.append(f"overhead of instruments: {error}")
        return section
    say("instruments: overhead")
    count = str(_QUICK_CALLS if context.quick else _CALLS)
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(context.runs):
        for name in _CONTENDERS:
            with context.scratch() as folder:
                done = await child(python, _CHILD, name, count, folder, PYTHONPATH=str(ROOT / "sdk"))
            found.setdefault(name, []).append(done)
    table = Table(("a call of a model through OpenAI's client", "in the caller's thread", "all threads"))
    added = {name: {key: _added(found, name, key) for key in ("thread", "total")} for name in _CONTENDERS[1:]}
    table.add("alone", *(spread(_series(found["none"], key), _micro) for key in ("thread", "total")))
    for name, more in added.items():
        table.add(f"more with {name}", *(spread(more[key], _micro) for key in ("thread", "total")))
    section.tables.append(table)
    section.numbers["calls"] = found
    ours = added["memtrace"]["thread"].median
    for name in ("openinference", "smartcomment"):
        bound = added[name]["thread"].median
        section.goals.append(at_most(f"our instrument, beside {name}'s", bound, ours, _micro))
    section.notes.append(
        f"Python {version}, {', '.join(f'{name} {number}' for name, number in _PACKAGES.items())}. Processor time a "
        "call, median of bursts of 100. The model is a transport in the process; each prompt and each reply is new. "
        "Ours and OpenInference's write to a file in the background; smartcomment keeps all in memory; the program is "
        "changed for it, and it records prompt and reply, not the conversation, the model and tokens."
    )
    return section


def _environment(cache: Path) -> tuple[Path, str]:
    python, version = newest_python()
    folder = cache / f"instruments-python{version}"
    inside, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        say(f"making an environment for instruments with Python {version}")
        shutil.rmtree(folder, ignore_errors=True)
        run_tool(python, "-m", "venv", str(folder))
        wanted = [f"{name}=={number}" for name, number in _PACKAGES.items()]
        run_tool(str(inside), "-m", "pip", "install", "--quiet", *wanted, "pydantic>=2.10,<3", "httpx>=0.28,<1")
        ready.touch()
    return inside, version


def _added(found: dict[str, list[dict[str, float]]], name: str, key: str) -> Series:
    alone = _series(found["none"], key).median
    return Series(tuple(run[key] - alone for run in found[name]))


def _series(runs: list[dict[str, float]], key: str) -> Series:
    return Series(tuple(run[key] for run in runs))


def _micro(value: float) -> str:
    return f"{value * 1e6:.0f} µs"
