"""Records the faults of the agents in ``examples`` as failures with verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from memtrace.exporters.memory import MemoryExporter

from attribution.run import Options as AttributionOptions
from attribution.run import attribute
from examples.shared.talk import Fault
from ingest.events.feedback import Complaint, record_failure
from optimization.proof.bench import Bench, Options
from schema.kinds import VariableKind
from schema.models import Attribution, Failure
from store.contract.protocol import Database
from tests.examples.agents import AGENTS, Agent, Kept, keep


def _fault(agent: Agent, fault: Fault) -> Any:
    # A proof does not depend on the engine: one fault of each agent runs on all engines.
    marks = () if fault is agent.faults[0] else (pytest.mark.one_engine, pytest.mark.full)
    return pytest.param(agent, fault, id=f"{agent}-{fault.name}", marks=marks)


FAULTS = [_fault(agent, fault) for agent in AGENTS for fault in agent.faults]


@dataclass(frozen=True)
class Faulty:
    """A recorded fault: graph, failure and verdict."""

    kept: Kept
    failure: Failure
    verdict: Attribution
    operation_id: str


async def faulty(database: Database, recorded: MemoryExporter, agent: Agent, fault: Fault) -> Faulty:
    """Record an agent with a fault, report its wrong answer, and attribute the failure."""
    kept = await keep(database, recorded, agent, fault)
    (wrong,) = [reply for reply in kept.replies if not reply.is_right]
    question, answer = kept.answers()[wrong.question.name]
    messages = {one.name: one for one in kept.of(VariableKind.MESSAGE)}
    complaint = Complaint(
        question.id,
        answer.id,
        (wrong.question.gold,),
        tuple(messages[name].id for name in wrong.question.evidence),
    )
    failure = await record_failure(kept.store, complaint, "tests")
    (outcome,) = [one async for one in attribute(kept.store, [failure], AttributionOptions())]
    return Faulty(kept, failure, outcome.attribution, (await kept.faulty(fault)).id)


@asynccontextmanager
async def bench_of(found: Faulty, options: Options | None = None) -> AsyncIterator[Bench]:
    """A bench of the failure."""
    async with await Bench.of(found.kept.graph, found.failure, options or Options()) as bench:
        yield bench


@pytest.fixture
def replay_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for this test's replay data."""
    folder = tmp_path / "replay"
    monkeypatch.setenv("MEMTRACE_REPLAY", str(folder))
    return folder
