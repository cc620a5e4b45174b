"""The graphs of the recorded agents: an answer's past is what the answer was made from, as it was recorded."""

from __future__ import annotations

from collections import Counter

import pytest
from memtrace.exporters.memory import MemoryExporter

from schema.kinds import OperationKind, Status, VariableKind
from schema.models import Variable
from store.contract.answers import Direction
from store.contract.protocol import Database
from tests.examples.agents import AGENTS, FACTS, RAG, Agent, Kept, keep


def names(variables: list[Variable], kind: VariableKind) -> set[str]:
    return {one.name for one in variables if one.kind is kind}


async def prompted(kept: Kept, past: list[Variable]) -> set[str]:
    """The messages that are in the prompt."""
    (prompt,) = [one for one in past if one.kind is VariableKind.PROMPT]
    texts = await kept.graph.texts([prompt.id, *(one.id for one in kept.of(VariableKind.MESSAGE))])
    said = {one.name: texts[one.id] for one in kept.of(VariableKind.MESSAGE)}
    return {name for name, text in said.items() if text.partition(": ")[2] in texts[prompt.id]}


@pytest.mark.parametrize("agent", AGENTS, ids=str)
async def test_an_answer_has_its_question_and_its_messages(
    database: Database, recorded: MemoryExporter, agent: Agent
) -> None:
    kept = await keep(database, recorded, agent)
    assert [reply.question.name for reply in kept.replies if not reply.is_right] == []
    assert kept.is_acyclic()
    assert {one.status for one in kept.graph.operations.values()} == {Status.OK}
    told = list(recorded.of("variable"))
    assert len(kept.graph.variables) == len(told)  # none was added or split
    recorded_ids = {one.external_id for one in kept.graph.variables.values() if one.occurrence == 0}
    assert recorded_ids == {event["variable"] for event in told if "reads" not in event}
    assert sum(map(len, kept.edges.values())) == len(recorded.of("derived"))
    answers = kept.answers()
    assert len(answers) == len(kept.replies)
    texts = await kept.graph.texts(answer.id for _, answer in answers.values())
    said: set[str] = set()
    for session in agent.sessions:
        said |= {message.name for message in session.messages}
        for question in session.questions:
            query, answer = answers[question.name]
            assert (await kept.graph.text(query.id)) == question.text
            (reply,) = [one for one in kept.replies if one.question is question]
            assert texts[answer.id].strip() == reply.text
            past = kept.past(answer)
            closure = await kept.store.closure([answer.id], Direction.BACKWARD)
            assert {one.id for one in closure.variables} == {one.id for one in past}
            messages = names(past, VariableKind.MESSAGE)
            assert set(question.evidence) <= messages <= said
            assert await prompted(kept, past) <= messages
            if agent.name == "buffer":
                assert messages == said
            else:
                assert messages < said


async def test_a_deleted_unit_is_no_candidate(sqlite_database: Database, recorded: MemoryExporter) -> None:
    kept = await keep(sqlite_database, recorded, FACTS)
    (ended,) = await kept.store.invalidations(kept.graph.trace_id)
    assert kept.graph.operations[ended.operation_id].name == "delete"
    assert "bicycle" in await kept.graph.text(ended.variable_id)
    searches = [one for one in kept.graph.operations.values() if one.kind is OperationKind.RETRIEVAL]
    deletion = kept.graph.operations[ended.operation_id].sequence
    for search in searches:
        had_it = ended.variable_id in kept.graph.used(search.id)
        assert had_it == (search.sequence < deletion)


async def test_what_a_search_did_not_return_is_known(sqlite_database: Database, recorded: MemoryExporter) -> None:
    kept = await keep(sqlite_database, recorded, RAG)
    roles: dict[str, Counter[str | None]] = {
        one.id: Counter() for one in kept.graph.operations.values() if one.kind is OperationKind.RETRIEVAL
    }
    for usage in await kept.store.usages(kept.graph.trace_id):
        if usage.operation_id in roles:
            roles[usage.operation_id][usage.role] += 1
    assert len(roles) == len(kept.replies)
    assert {count["question"] for count in roles.values()} == {1}
    assert max(count["returned"] for count in roles.values()) == 2
    assert any(count["considered"] for count in roles.values())
