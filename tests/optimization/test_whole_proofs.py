"""Whole proofs by replay: of a right verdict on a fault of each example, and of a wrong one that is reopened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from memtrace.exporters.memory import MemoryExporter

from optimization.proof.bench import Options
from optimization.proof.run import prove_verdicts
from schema.models import as_json
from store.open import open_database
from tests.examples.agents import AGENTS, FACTS, Agent
from tests.expected import compare
from tests.optimization.faults import Faulty, faulty
from tests.optimization.test_doors import blaming, others
from tests.optimization.test_examples import CORRECTED

TIMES = {"seconds", "createdAt", "created_at", "startedAt", "endedAt"}


async def _proved(found: Faulty, verdict: Any) -> dict[str, Any]:
    pairs = [(found.failure, verdict)]
    (outcome,) = [one async for one in prove_verdicts(found.kept.store, pairs, CORRECTED, Options())]
    stored = await found.kept.store.attributions([found.failure.id])
    return {
        "reopened": outcome.is_reopened,
        "proof": outcome.proof,
        "verdict": as_json(outcome.attribution),
        "stored": [as_json(one) for one in stored],
    }


def _without_times(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: None if name in TIMES else _without_times(one) for name, one in found.items()}
    return [_without_times(one) for one in found] if isinstance(found, list) else found


def _names(found: Faulty) -> dict[str, str]:
    graph = found.kept.graph
    names = {one.id: f"<Operation {one.name}>" for one in graph.operations.values()}
    return names | {one.id: f"<Variable {one.kind}>" for one in graph.variables.values()}


@pytest.mark.parametrize("agent", AGENTS, ids=str)
async def test_a_right_verdict(tmp_path: Path, recorded: MemoryExporter, replay_folder: Path, agent: Agent) -> None:
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        found = await faulty(database, recorded, agent, agent.faults[0])
        told = await _proved(found, found.verdict)
    _compare(f"{agent}.json", told, found)


async def test_a_wrong_verdict(tmp_path: Path, recorded: MemoryExporter, replay_folder: Path) -> None:
    (retrieval,) = (one for one in FACTS.faults if one.name == "retrieval")
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        found = await faulty(database, recorded, FACTS, retrieval)
        wrong = others(found, "extract")[0]
        told = await _proved(found, await blaming(found, wrong, found.operation_id))
    _compare("reopened.json", told, found)


def _compare(name: str, told: dict[str, Any], found: Faulty) -> None:
    from tests.expected import plain

    compare(__file__, name, _without_times(plain(told)), _names(found) | {found.failure.project_id: "the project"})
