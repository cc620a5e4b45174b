"""A verdict that blames the wrong operation is never proved; every other operation is tried as the wrong one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from memtrace.exporters.memory import MemoryExporter

from examples.shared.talk import Fault
from optimization.proof.correction import EvidenceCorrector
from optimization.proof.model import Result
from optimization.proof.prove import Blame, prove
from store.contract.protocol import Database
from tests.examples.agents import Agent
from tests.optimization.faults import FAULTS, bench_of, faulty
from tests.optimization.test_examples import CORRECTED

MOVED = FAULTS[:8:5]
"""One of each agent whose operations are few: every operation is tried, a minute of one processor or more."""

TRIED = FAULTS[::2]

BEYOND_EVIDENCE = {
    "response": "evidence in its prompt did not help",
    "extraction": "a sentence can't be added to what it gives back: list[Fact]",
    "deletion": "a sentence can't be added to what it gives back: None",
}
"""Faults that evidence alone can't correct, with the reason in the proof."""


@pytest.mark.parametrize(("agent", "fault"), MOVED)
async def test_no_other_operation_is_proved(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, agent: Agent, fault: Fault
) -> None:
    found = await faulty(sqlite_database, recorded, agent, fault)
    results: Counter[Result] = Counter()
    async with bench_of(found) as bench:
        for operation_id, operation in found.kept.graph.operations.items():
            if operation_id == found.operation_id:
                continue
            for corrector in (CORRECTED, EvidenceCorrector()):
                proof = await prove(bench, Blame(found.verdict.error_type, operation_id), corrector)
                assert proof.result is not Result.PROVED, (operation.name, proof)
                results[proof.result] += 1
    assert results.total() == 2 * (len(found.kept.graph.operations) - 1)


@pytest.mark.parametrize(("agent", "fault"), TRIED)
async def test_evidence_proves_the_verdict_or_says_why_it_can_not(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, agent: Agent, fault: Fault
) -> None:
    found = await faulty(sqlite_database, recorded, agent, fault)
    async with bench_of(found) as bench:
        proof = await prove(bench, Blame(found.verdict.error_type, found.operation_id), EvidenceCorrector())
    if fault.name in BEYOND_EVIDENCE:
        assert proof.result is Result.UNSETTLED
        assert BEYOND_EVIDENCE[fault.name] in proof.reason
        return
    assert (proof.result, proof.p0, proof.p1, proof.placebo) == (Result.PROVED, 0.0, 1.0, False), proof
