"""The process in which programs are run again: ``python -m memtrace.replay``.

The process reads requests from standard input, each a line of JSON, and writes a line for each. Each request runs in a
child process, a copy of this one, so that no run sees changes that another run made in memory. Some large packages that
a run needed are loaded here for later runs (``preloading``).
"""

from __future__ import annotations

import asyncio
import inspect
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from memtrace import config, steps
from memtrace.exporters.memory import MemoryExporter
from memtrace.replay import preloading, seams
from memtrace.replay.budget import Budget
from memtrace.replay.do import Do
from memtrace.replay.keeping import runs_of
from memtrace.replay.performing import Performing, imported, typed_arguments
from memtrace.replay.proxy import Proxy
from memtrace.replay.replies import REPLIES, Replies


def main() -> None:
    """Answer requests until there are no more."""
    _warm_up()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of the program must not be taken for an answer
    context: Any = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    for line in sys.stdin:
        request = from_json(line)
        process = context.Process(target=_run, args=(request,))
        process.start()
        process.join()
        modules = _modules(request)
        needed = from_json(modules.read_bytes()) if modules.exists() else []  # a killed run writes no file
        print(to_json({"exit": process.exitcode}).decode(), file=answers, flush=True)
        if preloading.IS_SAFE:
            preloading.load(needed)


_NO_INPUTS = {None, "read", "before"}
"""Roles of values that an operation uses while it runs; they are no arguments, and don't identify the operation."""


@dataclass
class _Warm:
    value: str


def _warm_up() -> None:
    """Load code that every run needs, once, before the processes of the runs begin as copies of this one."""
    with _clock_from(time.time_ns()):
        pass
    TypeAdapter(_Warm).validate_python({"value": ""})


def _modules(request: dict[str, Any]) -> Path:
    """The file in which a run lists its loaded modules."""
    return Path(request["out"]).with_name("modules.json")


def _run(request: dict[str, Any]) -> None:
    """Run a program as a request says, and write the result into the request's file."""
    sys.stdin.close()
    begun = time.perf_counter()
    found = perform(request)
    found["seconds"] = time.perf_counter() - begun
    out = Path(request["out"])
    _modules(request).write_bytes(to_json(preloading.loaded()))
    out.write_bytes(to_json(found, inf_nan_mode="strings"))


def perform(request: dict[str, Any]) -> dict[str, Any]:
    """Run a program again, in this process, which should be fresh.

    Returns:
        Calls, answers, problems and events.
    """
    folder = Path(request["kept"])
    runs = runs_of(folder)
    exporter = MemoryExporter()
    config.configure(exporter=exporter)
    config.hold()
    performing = Performing([Do(**one) for one in request.get("do", ())])
    steps.replaying = performing
    replies = Replies(folder / REPLIES, request.get("models", "kept"), request.get("fresh"))
    limits = request.get("limits") or {}
    error = None
    budget = Budget(limits.get("calls"), limits.get("cost"), limits.get("prices"))
    with Proxy(replies, budget) as proxy:
        seams.begin_replay(folder, proxy, Path(request["scratch"]))
        for run in runs:
            program = request.get("program") or run["program"]
            module = program.partition(":")[0]
            try:
                with _clock_from(run.get("clock")) as is_frozen:
                    _seed(run.get("seeds") or {})
                    fn = imported(program)
                    seams.same_source(module, run.get("source"))
                    _call(fn, typed_arguments(fn, run["input"]))
            except BaseException as wrong:  # any error of the program is a result of the replay
                error = f"{type(wrong).__name__}: {wrong}"
                break
        spent = proxy.spent()
    return {
        "calls": performing.calls,
        "operations": _operations(exporter),
        "hits": performing.hits,
        "problems": [*performing.problems, *proxy.problems],
        "answers": _answers(exporter, request.get("ask")),
        "error": error,
        "changed": list(seams.changed),
        "clock": is_frozen if runs else False,
        "models": {"kept": sorted(replies.used), "live": spent.calls, "tokens": spent.tokens, "cost": spent.cost},
        "events": exporter.events if request.get("events") else [],
    }


@contextmanager
def _clock_from(nanoseconds: int | None) -> Iterator[bool]:
    """Let time go on from a moment (nanoseconds since 1970, UTC); yields False if that is impossible."""
    try:
        import time_machine
    except ImportError:
        yield False
        return
    if nanoseconds is None:
        yield False
        return
    with time_machine.travel(datetime.fromtimestamp(nanoseconds / 1e9, UTC), tick=True):
        yield True


def _call(fn: Any, given: dict[str, Any]) -> None:
    result = fn(**given)
    if inspect.iscoroutine(result):
        asyncio.run(result)
    elif inspect.isgenerator(result):
        for _ in result:
            pass


def _seed(seeds: dict[str, Any]) -> None:
    """Continue the sequence of random numbers where the recording began."""
    state = seeds.get("random")
    if state is not None:
        version, numbers, following = state
        random.setstate((version, tuple(numbers), following))


def _operations(exporter: MemoryExporter) -> list[dict[str, Any]]:
    """Each operation by content: call, name, place, hashes of used values with roles, and attributes."""
    hashes = {
        one["variable"]: f"b2:{blake2b(one['value'].encode(), digest_size=16).hexdigest()}"
        for one in exporter.of("variable")
    }
    found: dict[str, dict[str, Any]] = {}
    for one in exporter.of("operationStarted"):
        attributes = dict(one.get("attributes") or {})
        call, _ = attributes.pop("call", None), attributes.pop("returns", None)
        module, _, rest = (one.get("location") or "").partition(":")
        found[one["operation"]] = {
            "call": call,
            "name": one["name"],
            "place": f"{module} {rest.partition(' ')[2]}",
            "used": [],
            "attributes": attributes,
        }
    for one in exporter.of("operationEnded"):
        call = (one.get("attributes") or {}).get("call")
        if call is not None and one["operation"] in found:
            found[one["operation"]]["call"] = call  # some calls of packages are identified only at their end
    for one in exporter.of("used"):
        if one["operation"] in found and one.get("role") not in _NO_INPUTS:
            found[one["operation"]]["used"].append([one.get("role"), hashes[one["variable"]]])
    return list(found.values())


def _answers(exporter: MemoryExporter, ask: dict[str, Any] | None) -> list[str]:
    """The values of variables with the name and kind of ``ask`` that depend on the question, oldest first."""
    if ask is None:
        return []
    found = []
    for one in exporter.of("variable"):
        if one["name"] == ask["name"] and one["kind"] == ask["kind"]:
            past = exporter.closure(one["variable"])
            if any(item["kind"] == "Query" and item["value"] == ask["question"] for item in past):
                found.append(one["value"])
    return found
