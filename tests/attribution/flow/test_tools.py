"""A tool that a model calls may keep a fact where nobody records it, and the model's confirmation is no memory."""

from __future__ import annotations

import pytest

from attribution.free_pass.flow import FlowPass
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure, Variable
from store.contract.protocol import Database
from tests.attribution.flow.stories import Story

FACT = "Goran repairs the spotlight in the loft."
QUESTION, GOLD, ANSWER = "Who repairs the spotlight?", "Goran", "I do not remember that."


class Agent(Story):
    """A model with a tool that remembers; each turn is a conversation of its own."""

    def remember(self, unit: str | None, *, is_tool: bool = True) -> list[Variable]:
        """The model calls the tool with the fact, the tool confirms, and the model tells so; returns the units."""
        call = ("call", FACT, VariableKind.RESPONSE)
        (asked,) = self.step("chat-1", OperationKind.GENERATION, [self.evidence[0]], call)
        kept = [] if unit is None else [("unit", unit, VariableKind.MEMORY_UNIT)]
        units = self.step("keep", OperationKind.EXTRACTION, [asked], *kept) if kept else []
        read = [self.evidence[0], asked]
        if is_tool:
            read += self.step("remember", OperationKind.TOOL, [asked], ("saved", "saved", VariableKind.CONTEXT))
        told = ("told", "I shall remember that.", VariableKind.ANSWER)
        self.step("chat-2", OperationKind.GENERATION, read, told)
        return units

    def answer(self, *read: Variable) -> Failure:
        """A question in a conversation of its own, and the answer from what was read."""
        query = self.trace.variable("question", QUESTION, kind=VariableKind.MESSAGE)
        (answer,) = self.step(
            "chat-3", OperationKind.GENERATION, [query, *read], ("answer", ANSWER, VariableKind.ANSWER)
        )
        return self.trace.failure(query, answer, gold_answers=(GOLD,), evidence_ids=(self.evidence[0].id,))


async def verdict(database: Database, story: Story, failure: Failure) -> Verdict:
    batch = story.trace.batch()
    store = database.project(batch.trace.project_id)
    await store.write(batch)
    return await FlowPass().attribute(await TraceGraph.load(store, batch.trace.id), failure)


@pytest.mark.parametrize("is_tool", [True, False])
async def test_what_a_tool_keeps_unseen_is_a_hole(sqlite_database: Database, is_tool: bool) -> None:
    story = Agent.of(f"tool-{is_tool}", FACT)
    story.remember(None, is_tool=is_tool)
    found = await verdict(sqlite_database, story, story.answer())
    assert found.error_type is None
    assert "no recorded step shows what became of the reply" in found.reason


async def test_the_step_that_kept_too_little_is_blamed_and_no_confirmation(sqlite_database: Database) -> None:
    story = Agent.of("tool-kept", FACT)
    story.remember("The spotlight is in the loft.")
    found = await verdict(sqlite_database, story, story.answer())
    (blamed,) = [one.name for one in story.trace.operations if one.id == found.operation_id]
    assert (found.error_type, blamed) == (ErrorType.EXTRACTION, "operation keep")


@pytest.mark.parametrize("gold", ["at 13:40", "carriage 7"])
async def test_what_a_tool_told_and_a_step_cut_off_the_history(sqlite_database: Database, gold: str) -> None:
    story = Story.of(f"cut-{gold}", "Good morning, my name is Bron.")
    told = f'[{{"role": "tool", "content": "The summer train to Sligo leaves {gold}."}}, {{"role": "user"}}]'
    (whole,) = story.step("append", OperationKind.OTHER, [story.evidence[0]], ("history", told, VariableKind.BUFFER))
    (cut,) = story.step(
        "trim", OperationKind.DELETION, [whole], ("shorter history", '[{"role": "user"}]', VariableKind.BUFFER)
    )
    query = story.trace.variable("question", "When does the summer train leave?", kind=VariableKind.QUERY)
    (answer,) = story.step(
        "chat", OperationKind.GENERATION, [query, cut], ("answer", "I do not know.", VariableKind.ANSWER)
    )
    found = await verdict(sqlite_database, story, story.trace.failure(query, answer, gold_answers=(gold,)))
    (blamed,) = [one.name for one in story.trace.operations if one.id == found.operation_id]
    assert (found.error_type, blamed) == (ErrorType.DELETION, "operation trim")
