"""A fault that is put into a step of an agent is found by the free pass, in the very operation in which it is."""

from __future__ import annotations

import pytest
from memtrace.exporters.memory import MemoryExporter

from attribution.free_pass.proof_path import problems
from attribution.run import Options, attribute
from attribution.verdicts.verdict import from_attribution
from examples.shared.talk import Fault, Question
from ingest.events.feedback import Complaint, record_failure
from schema.kinds import VariableKind
from schema.models import Failure
from store.contract.protocol import Database
from tests.examples.agents import AGENTS, Agent, Kept, keep


async def failed(kept: Kept, question: Question) -> Failure:
    """The failure, as a person tells it."""
    query, answer = kept.answers()[question.name]
    messages = {one.name: one.id for one in kept.of(VariableKind.MESSAGE)}
    evidence = tuple(messages[name] for name in question.evidence)
    return await record_failure(kept.store, Complaint(query.id, answer.id, (question.gold,), evidence), "somebody")


@pytest.mark.parametrize(
    ("agent", "fault"),
    [pytest.param(agent, fault, id=f"{agent}-{fault.name}") for agent in AGENTS for fault in agent.faults],
)
async def test_a_fault_is_found(
    sqlite_database: Database, recorded: MemoryExporter, agent: Agent, fault: Fault
) -> None:
    kept = await keep(sqlite_database, recorded, agent, fault)
    (wrong,) = [reply for reply in kept.replies if not reply.is_right]
    assert wrong.question.name == fault.breaks
    assert kept.is_acyclic()
    failure = await failed(kept, wrong.question)
    (outcome,) = [one async for one in attribute(kept.store, [failure], Options())]
    verdict = outcome.attribution
    blamed = None if verdict.operation_id is None else kept.graph.operations[verdict.operation_id]
    assert verdict.error_type == fault.error_type
    assert blamed == await kept.faulty(fault)
    assert await problems(from_attribution(verdict), kept.graph) == []
