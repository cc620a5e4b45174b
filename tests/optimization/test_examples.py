"""The 16 faults of the examples: 15 are proved; the last is unsettled, because it acts outside the blamed operation."""

from __future__ import annotations

from pathlib import Path

import pytest
from memtrace.exporters.memory import MemoryExporter

from examples.shared.talk import Fault
from optimization.proof.correction import BodyCorrector
from optimization.proof.model import Result
from optimization.proof.prove import Blame, prove
from store.contract.protocol import Database
from tests.examples.agents import Agent
from tests.optimization.bodies import without_fault
from tests.optimization.faults import FAULTS, bench_of, faulty

CORRECTED = BodyCorrector(f"{without_fault.__module__}:{without_fault.__name__}")


@pytest.mark.parametrize(("agent", "fault"), FAULTS)
async def test_the_verdict_is_proved(
    database: Database, recorded: MemoryExporter, replay_folder: Path, agent: Agent, fault: Fault
) -> None:
    found = await faulty(database, recorded, agent, fault)
    assert found.verdict.operation_id == found.operation_id
    async with bench_of(found) as bench:
        proof = await prove(bench, Blame(found.verdict.error_type, found.operation_id), CORRECTED)
    if fault.name == "deletion":
        assert proof.result is Result.UNSETTLED
        assert "outside of it" in proof.reason
        return
    assert proof.result is Result.PROVED, proof
    assert (proof.p0, proof.p1, proof.draws) == (0.0, 1.0, 5)
    assert proof.p is not None
    assert proof.p < 0.05
