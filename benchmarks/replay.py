"""What replaying costs, and what it says of right and of wrong verdicts: the faults of the examples."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import memtrace
from memtrace import context as recorder
from memtrace.exporters.memory import MemoryExporter
from memtrace.replay import Replayer, folder_of

from benchmarks.context import ROOT, Context, run_child, say
from benchmarks.report import Section, Table, at_most, milliseconds, percent, seconds
from benchmarks.timing import Series
from optimization.proof.bench import Bench, Options
from optimization.proof.correction import BodyCorrector, Corrector, EvidenceCorrector
from optimization.proof.model import Result
from optimization.proof.prove import Blame, prove
from store.open import open_database

if TYPE_CHECKING:
    from store.contract.protocol import Database
    from tests.optimization.faults import Faulty

_MOST_SECONDS = 2.0
_MOST_OVERHEAD = 0.10
_CALLS, _QUICK_CALLS = 20_000, 1_000
_EVIDENCE = EvidenceCorrector()
_CORRECTORS: dict[str, Corrector] = {
    "body": BodyCorrector("tests.optimization.bodies:without_fault"),
    "evidence": _EVIDENCE,
}


async def run(context: Context) -> Section:
    """The costs, and how often verdicts that blame the right and other operations are proved."""
    section = Section("Replay")
    await _overhead(context, section)
    with context.scratch() as folder:
        before = os.environ.get("MEMTRACE_REPLAY")
        os.environ["MEMTRACE_REPLAY"] = str(folder / "replay")
        try:
            async with await open_database(f"sqlite:///{folder / 'replay.db'}") as database:
                await _proofs(context, section, database)
        finally:
            os.environ.pop("MEMTRACE_REPLAY")
            if before is not None:
                os.environ["MEMTRACE_REPLAY"] = before
    section.notes.append(
        "Each fault of the three agents is recorded and attributed. The verdict on it is proved with a body that is "
        "right (`body`) and with the evidence (`evidence`); then the same verdict is moved to each other operation "
        "with the evidence. A replay is measured from the start of its process to its result."
    )
    return section


async def _overhead(context: Context, section: Section) -> None:
    say("replay: what recording costs more")
    count = str(_QUICK_CALLS if context.quick else _CALLS)
    found = []
    for _ in range(context.runs):
        with context.scratch() as folder:
            script = ROOT / "benchmarks" / "recording_ours.py"
            found.append(await run_child(sys.executable, script, "kept", count, folder))
    for figure, kept, plain in (
        ("recording for a replay costs more, in the application's thread", "kept", "plain"),
        ("recording for a replay costs more, all threads", "totalKept", "totalPlain"),
    ):
        more = Series(tuple(one[kept] / one[plain] - 1 for one in found)).median
        section.goals.append(at_most(figure, _MOST_OVERHEAD, more, percent))
    section.numbers["overhead"] = found


async def _proofs(context: Context, section: Section, database: Database) -> None:
    from tests.examples.agents import AGENTS
    from tests.optimization.faults import faulty

    counts: dict[tuple[str, str], Counter[Result]] = {}
    taken: list[float] = []
    proofs: list[float] = []
    for agent in AGENTS:
        for fault in agent.faults[:1] if context.quick else agent.faults:
            say(f"replay: {agent} {fault.name}")
            recorder.forget()
            exporter = MemoryExporter()
            memtrace.configure(exporter=exporter)
            found = await faulty(database, exporter, agent, fault)
            taken.append(_replayed(found))
            async with await Bench.of(found.kept.graph, found.failure, Options()) as bench:
                for name, corrector in _CORRECTORS.items():
                    began = time.perf_counter()
                    proof = await prove(bench, Blame(found.verdict.error_type, found.operation_id), corrector)
                    if proof.result is Result.PROVED:
                        proofs.append(time.perf_counter() - began)
                    counts.setdefault((name, "right"), Counter())[proof.result] += 1
                for operation in [] if context.quick else found.kept.graph.operations:
                    if operation != found.operation_id:
                        moved = await prove(bench, Blame(found.verdict.error_type, operation), _EVIDENCE)
                        counts.setdefault(("evidence", "moved"), Counter())[moved.result] += 1
            (folder_of("t") / "runs.jsonl").unlink()  # the next fault is recorded as the same trace
    table = Table(("correction", "verdict", *(result.value for result in Result)))
    for (name, verdict), results in counts.items():
        table.add(name, verdict, *(f"{results[result]:,}" for result in Result))
    section.tables.append(table)
    section.numbers["results"] = {f"{name}, {verdict}": results for (name, verdict), results in counts.items()}
    section.numbers["seconds"] = {"replays": taken, "proofs": proofs}
    section.goals.append(at_most("a replay of a failure", _MOST_SECONDS, Series(tuple(taken)).median, seconds))
    section.notes.append(f"A whole proof takes {milliseconds(Series(tuple(proofs)).median)}, 16 runs of the program.")


def _replayed(found: Faulty) -> float:
    """The seconds of one replay, including the start of its process."""
    began = time.perf_counter()
    with Replayer(folder_of("t")) as replayer:
        assert replayer.run().error is None, found.failure.question
    return time.perf_counter() - began
