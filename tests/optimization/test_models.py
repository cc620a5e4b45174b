"""A program whose model is noisy: its kept replies make a null replay exact, and without them nothing can be proved."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtrace.events import decode
from memtrace.exporters.memory import MemoryExporter
from memtrace.replay import Ask, folder_of, run

from attribution.trace.graph import TraceGraph
from ingest.events.feedback import Complaint, record_failure
from ingest.events.taking import take_events
from optimization.proof.bench import Bench, Options
from optimization.proof.correction import EvidenceCorrector
from optimization.proof.model import Proof, Result
from optimization.proof.prove import Blame, prove
from schema.ids import trace_id
from schema.kinds import ErrorType, VariableKind
from schema.models import Failure
from store.contract.protocol import Database
from tests.llm_server import Answer, LlmServer, Request, fail, llm_server, say
from tests.optimization import programs

UNKNOWN = "I don't know."


class Noisy:
    """A model that words a fact differently each time, and answers only from the fact ``programs.MISSED``."""

    def __init__(self) -> None:
        self.random = random.Random(7)

    def __call__(self, request: Request) -> Answer:
        task, _, text = request.last.partition(" ")
        if task == "FACT":
            return say(f"{text} ({self.random.random()})")
        notes, _, _ = text.rpartition("\nQuestion: ")
        found = [line for line in notes.splitlines() if programs.MISSED in line]
        return say(found[0] if found else f"{UNKNOWN} {self.random.random()}")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    """The server of the noisy model."""
    with llm_server() as server:
        server.script(Noisy(), repeat=True)
        monkeypatch.setenv(programs.SERVER, server.url)
        yield server


async def recorded_failure(database: Database, recorded: MemoryExporter, name: str) -> tuple[TraceGraph, Failure]:
    """The recorded program in a project of its own, and its wrong answer as a failure."""
    store = database.project(f"models-{name}")
    assert await take_events(store, [decode(json.dumps(event)) for event in recorded.events]) == []
    graph = await TraceGraph.load(store, trace_id(store.project_id, name))
    question, answer, message = (
        next(one.id for one in graph.variables.values() if one.kind is kind)
        for kind in (VariableKind.QUERY, VariableKind.ANSWER, VariableKind.MESSAGE)
    )
    complaint = Complaint(question, answer, (programs.GOLD,), (message,))
    return graph, await record_failure(store, complaint, "tests")


async def proved(graph: TraceGraph, failure: Failure, options: Options | None = None) -> Proof:
    """The proof that the search is at fault."""
    (search,) = [one.id for one in graph.operations.values() if one.name == "search"]
    async with await Bench.of(graph, failure, options or Options()) as bench:
        return await prove(bench, Blame(ErrorType.RETRIEVAL, search), EvidenceCorrector())


async def test_a_null_replay_is_exact_without_a_live_call(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, model: LlmServer
) -> None:
    said = await asyncio.to_thread(programs.asking, True, "exact")
    graph, failure = await recorded_failure(sqlite_database, recorded, "exact")
    asked = len(model.requests)
    async with await Bench.of(graph, failure, Options()) as bench:
        for _ in range(3):
            bench.null = None
            draw, inexact = await bench.null_draw()
            assert (draw.answer, inexact, draw.replayed.live) == (said, None, 0)
    assert len(model.requests) == asked == len(programs.MESSAGES) + 1


async def test_a_verdict_is_proved_with_fresh_draws(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, model: LlmServer
) -> None:
    await asyncio.to_thread(programs.asking, True, "noisy")
    graph, failure = await recorded_failure(sqlite_database, recorded, "noisy")
    asked = len(model.requests)
    proof = await proved(graph, failure)
    assert (proof.result, proof.p0, proof.p1, proof.placebo) == (Result.PROVED, 0.0, 1.0, False), proof
    # Live calls are made only for the answer (with correction, without, with placebo), never for the facts.
    assert proof.spent.calls == len(model.requests) - asked == 15
    assert {request.last.partition(" ")[0] for request in model.requests[asked:]} == {"ANSWER"}
    assert proof.first_divergence is not None
    assert "Asking.answer" in proof.first_divergence.call
    assert proof.spent.tokens == 15 * 120


async def test_without_kept_replies_nothing_is_proved(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, model: LlmServer
) -> None:
    await asyncio.to_thread(programs.asking, True, "lost")
    graph, failure = await recorded_failure(sqlite_database, recorded, "lost")
    shutil.rmtree(folder_of("lost") / "replies")
    asked = len(model.requests)
    proof = await proved(graph, failure)
    assert proof.result is Result.UNSETTLED
    assert "not kept" in proof.reason
    assert len(model.requests) == asked


async def test_a_damaged_reply_is_not_taken_for_one(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, model: LlmServer
) -> None:
    await asyncio.to_thread(programs.asking, True, "damaged")
    graph, failure = await recorded_failure(sqlite_database, recorded, "damaged")
    for path in (folder_of("damaged") / "replies").iterdir():
        path.write_bytes(path.read_bytes().replace(b"blue", b"grey"))
    assert (await proved(graph, failure)).result is Result.UNSETTLED


def test_no_key_is_kept(recorded: MemoryExporter, replay_folder: Path, model: LlmServer) -> None:
    programs.asking(True, "keys")
    assert any(programs.KEY in request.headers["Authorization"] for request in model.requests)
    kept = [path for path in replay_folder.rglob("*") if path.is_file()]
    assert len(kept) == len(programs.MESSAGES) + 2
    for path in kept:
        assert programs.KEY.encode() not in path.read_bytes()
        assert path.stat().st_mode & 0o077 == 0


async def test_a_refused_request_that_is_sent_again_is_kept_once(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, model: LlmServer
) -> None:
    model.script(fail(429, "slow down", retry_after="0"), Noisy(), repeat=True)
    said = await asyncio.to_thread(programs.asking, True, "again")
    assert len(model.requests) == len(programs.MESSAGES) + 2
    graph, failure = await recorded_failure(sqlite_database, recorded, "again")
    async with await Bench.of(graph, failure, Options()) as bench:
        draw, inexact = await bench.null_draw()
    assert (draw.answer, inexact) == (said, None)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (Options(max_calls=0), "limit of 0 live calls"),
        (Options(max_cost=0.001, prices=(10.0, 10.0)), "the limit of the cost"),
        (Options(seconds=0.001), "longer than 0.001 seconds"),
        (Options(python="/nowhere/python"), "can't be run again"),
        (Options(program="tests.optimization.programs:nothing"), "no attribute 'nothing'"),
    ],
    ids=["calls", "cost", "time", "python", "program"],
)
async def test_limits_end_a_proof_with_their_reason(
    sqlite_database: Database,
    recorded: MemoryExporter,
    replay_folder: Path,
    model: LlmServer,
    options: Options,
    reason: str,
) -> None:
    name = f"limits {reason}"
    await asyncio.to_thread(programs.asking, True, name)
    graph, failure = await recorded_failure(sqlite_database, recorded, name)
    asked = len(model.requests)
    proof = await proved(graph, failure, options)
    assert proof.result is Result.UNSETTLED
    assert reason in proof.reason
    if options.max_cost is not None:
        # A call costs 0.0012: the first goes over the limit, and there is no second.
        assert len(model.requests) == asked + 1


def test_the_day_is_that_of_the_recording(recorded: MemoryExporter, replay_folder: Path) -> None:
    programs.dated("dated")
    kept = folder_of("dated") / "runs.jsonl"
    run_ = json.loads(kept.read_text())
    kept.write_text(json.dumps(run_ | {"clock": 1_000_000_000_000_000_000}) + "\n")  # as if recorded long ago
    found = run("dated", ask=Ask("answer", "Answer", programs.QUESTION))
    assert (found.answers, found.is_clock_kept) == (("Today is Sunday, 09 September 2001.",), True)


async def test_what_is_random_is_the_same_again(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path
) -> None:
    said = await asyncio.to_thread(programs.chance, "chance")
    graph, failure = await recorded_failure(sqlite_database, recorded, "chance")
    async with await Bench.of(graph, failure, Options()) as bench:
        draw, inexact = await bench.null_draw()
    assert (draw.answer, inexact) == (said, None)
