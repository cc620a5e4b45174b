"""Live runs of usual memory systems, their failures attributed, and each verdict proved by replay.

The harness tells the programs our own conversations and asks; mem0 and LangChain are the real packages, in the
environments of the tests. The model is a script behind a real server, and makes mistakes by rules.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from attribution.run import Options as AttributionOptions
from attribution.run import attribute
from attribution.verdicts.stored import every_failure
from benchmarks import proofs_conversations
from benchmarks.context import ROOT, Context, say
from benchmarks.proofs_model import reply
from benchmarks.report import Section, Table, seconds
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import F1
from optimization.harness.plan import Limits, Plan
from optimization.harness.run import run as run_plan
from optimization.proof.bench import Options
from optimization.proof.correction import EvidenceCorrector
from optimization.proof.model import Result
from optimization.proof.run import ReplayedVerdict, prove_verdicts
from store.open import open_database

if TYPE_CHECKING:
    from store.contract.protocol import GraphStore

PROGRAMS = {
    "buffer": ("buffer:LongContextBuffer", None),
    "RAG (LangChain)": ("langchain_rag:LangChainRag", "langchain"),
    "mem0 1.0.11": ("mem0:Mem0Program", "mem0-1.0.11"),
}
"""By name: the program, and the environment of the tests that has its packages; None where it needs none."""
_PEOPLE, _QUICK_PEOPLE = 3, 1
_LONGEST_RUN = 300.0


async def run(context: Context) -> Section:
    """Run each program, attribute, and prove."""
    section = Section("Proofs of verdicts on live runs")
    results = Table(("program", "answers", "wrong", "proved", "refuted", "unsettled", "confidence before", "after"))
    reasons = Table(("program", "result", "verdicts", "reason"))
    from tests.sdk.instruments import scripted_openai

    with scripted_openai.running(reply) as server, context.scratch() as folder:
        proofs_conversations.write(folder / "cases.jsonl", _QUICK_PEOPLE if context.quick else _PEOPLE)
        settings = {
            "MEMTRACE_REPLAY": str(folder / "replay"),
            "MEMTRACE_PROGRAM_DIMENSIONS": str(scripted_openai.DIMENSIONS),
            "OPENAI_API_KEY": "none",
        }
        with _environment(settings):
            for name, (program, environment) in PROGRAMS.items():
                found = await _program(folder, server.url, name, program, environment)
                section.numbers[name] = _add(results, reasons, name, *found)
    section.tables += [results, reasons]
    section.notes.append(
        "Conversations are our own; the model is a script that drops, overwrites, deletes and overlooks by rules, so "
        "the figures say what can be settled, and not how often real models fail. Corrections come from the evidence."
    )
    return section


async def _program(
    folder: Path, url: str, name: str, program: str, environment: str | None
) -> tuple[int, list[ReplayedVerdict], float]:
    """The number of answers, the verdicts after their replays, and how long these took."""
    from tests import environments

    say(f"proofs: {name}: running")
    python = sys.executable if environment is None else str(environments.python(environment))
    plan = Plan(
        f"memtrace.program.adapters.{program}",
        read_dataset(folder / "cases.jsonl"),
        F1(),
        folder / f"run of {program.partition(':')[0]}",
        python=python,
        directory=ROOT,
        models={"OPENAI_BASE_URL": url},
        limits=Limits(parallel=os.cpu_count() or 1),
    )
    async with await open_database(f"sqlite:///{plan.folder}.db") as database:
        store = database.project("default")
        outcome = await run_plan(plan, store)
        for one in outcome.users:
            if one.error is not None:
                raise RuntimeError(f"{name}, {one.user}: {one.error}")
        began = time.perf_counter()
        found = await _proved(store)
        return len(outcome.answers), found, time.perf_counter() - began


async def _proved(store: GraphStore) -> list[ReplayedVerdict]:
    failures = await every_failure(store, None)
    verdicts = [(one.failure, one.attribution) async for one in attribute(store, failures, AttributionOptions())]
    found = []
    async for one in prove_verdicts(store, verdicts, EvidenceCorrector(), Options(seconds=_LONGEST_RUN)):
        found.append(one)
        say(f"proofs: {len(found)} of {len(verdicts)}: {one.proof.result}: {one.proof.reason}")
    return found


def _add(
    results: Table, reasons: Table, name: str, answers: int, found: list[ReplayedVerdict], taken: float
) -> dict[str, Any]:
    counts = Counter(one.proof.result for one in found)
    before = [float(msgspec.json.decode(one.attribution.proof or "{}").get("confidenceBefore") or 0.0) for one in found]
    after = [one.attribution.confidence or 0.0 for one in found]
    results.add(
        name,
        f"{answers:,}",
        f"{len(found):,}",
        *(f"{counts[result]:,}" for result in Result),
        _mean(before),
        _mean(after),
    )
    told = Counter((one.proof.result, one.proof.reason.partition(":")[0]) for one in found)
    for (result, reason), count in sorted(told.items(), key=lambda item: (item[0][0], -item[1])):
        reasons.add(name, result, f"{count:,}", reason)
    say(f"proofs: {name}: {len(found)} verdicts in {seconds(taken)}")
    return {"answers": answers, "results": counts, "before": before, "after": after, "seconds": taken}


def _mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):.2f}" if values else "-"


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
