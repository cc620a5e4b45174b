"""Prompts and histories between what was said and the answer: which step left the right answer out."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure, Variable
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import verdict_on

SAID, OTHER = "Our new porter is called Valdemar.", "The gate was painted green."
QUESTION = "What is the new porter called?"


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('prompts') / 'prompts.db'}") as opened:
        yield opened


def answered(told: Story, question: str, gold: str, answer: str, *read: Variable) -> Failure:
    """The failure of an answer that a model made of some texts."""
    query = told.trace.variable("question", question, kind=VariableKind.QUERY)
    made = ("answer", answer, VariableKind.ANSWER)
    (reply,) = told.step("reply", OperationKind.GENERATION, [query, *read], made)
    return told.trace.failure(query, reply, gold_answers=(gold,))


async def test_a_summary_in_the_instructions_of_the_next_conversation(embedded: Database) -> None:
    told = Story.of("rules", SAID, OTHER, name="instructions")
    summed = ("summary", SAID + " " + OTHER, VariableKind.ANSWER)
    (summary,) = told.step("sum up", OperationKind.GENERATION, told.evidence, summed)
    head = told.trace.variable("instructions", "You help. So far: " + SAID + " " + OTHER, kind=VariableKind.PROMPT)
    failure = answered(told, QUESTION, "Valdemar", "The new porter is called Valdomiro.", head)
    reply = told.trace.operations[-1]
    told.trace.derive(head, summary, by=reply)  # no recorded step wrote the instructions
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")
    assert [step.variable_id for step in verdict.path][1:3] == [summary.id, head.id]


async def test_a_model_that_makes_a_note_of_one_message_extracts(embedded: Database) -> None:
    told = Story.of("rules", SAID, OTHER, name="note")
    note = ("note", "There is a new porter.", VariableKind.RESPONSE)
    (made,) = told.step("note down", OperationKind.GENERATION, told.evidence[:1], note)
    log = ("log", "Log: There is a new porter.", VariableKind.PROMPT)
    (prompt,) = told.step("write", OperationKind.OTHER, [made], log)
    failure = answered(told, QUESTION, "Valdemar", "I do not know.", prompt)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.EXTRACTION, "note down")


async def test_a_summary_of_several_messages_updates(embedded: Database) -> None:
    told = Story.of("rules", SAID, OTHER, name="summary")
    note = ("note", "There is a new porter, and the gate is green.", VariableKind.RESPONSE)
    (made,) = told.step("sum up", OperationKind.GENERATION, told.evidence, note)
    log = ("log", "Log: There is a new porter, and the gate is green.", VariableKind.PROMPT)
    (prompt,) = told.step("write", OperationKind.OTHER, [made], log)
    failure = answered(told, QUESTION, "Valdemar", "I do not know.", prompt)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "sum up")


async def test_a_step_that_cleared_what_a_tool_told(embedded: Database) -> None:
    told = Story.of("rules", "Good morning.", name="cleared")
    call = ("result", "Train 31 leaves from platform 9 at 7:12.", VariableKind.OTHER)
    (result,) = told.step("look up", OperationKind.TOOL, [], call)
    whole = ("history-0", "tool: Train 31 leaves from platform 9 at 7:12.", VariableKind.BUFFER)
    (before,) = told.step("append", OperationKind.UPDATE, [result], whole)
    cut = ("history-1", "tool: [cleared]. Train 44 leaves from platform 6 at 9:21.", VariableKind.BUFFER)
    (after,) = told.step("clear", OperationKind.UPDATE, [before], cut)
    failure = answered(told, "From which platform does train 31 leave?", "platform 9", "I do not know.", after)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "clear")  # the 9 of 9:21 is no platform


async def test_a_listing_whose_results_were_written_into_a_prompt_is_a_search(embedded: Database) -> None:
    told = Story.of("rules", SAID, OTHER, name="listing")
    units = [told.store(0, SAID), told.store(1, OTHER, key="other")]
    listing = told.trace.operation("list", kind=OperationKind.RETRIEVAL)
    told.trace.use(listing, units[1])
    read = told.trace.variable("other-1", OTHER, by=listing, name="other", version=1, occurrence=1)
    told.trace.derive(read, units[1], by=listing)
    (prompt,) = told.step("write", OperationKind.OTHER, [read], ("prompt", "Known: " + OTHER, VariableKind.PROMPT))
    failure = answered(told, QUESTION, "Valdemar", "I do not know.", prompt)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "list")
