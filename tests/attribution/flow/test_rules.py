"""One fault in each step of small memory systems: each is named, with a proof."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
import pytest_asyncio

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.flow import FlowPass
from attribution.free_pass.loss import lost_on_the_way
from attribution.free_pass.proof_path import problems
from attribution.free_pass.trial import SURE
from attribution.needed.content import content
from attribution.needed.evidence_sentences import best_detail
from attribution.needed.messages import Messages
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict
from schema.kinds import NOT_THE_MEMORY, ErrorType, OperationKind, Status, VariableKind
from schema.models import Failure, Variable
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story

SAID = "We adopted a grey parrot called Humboldt last spring, and he already whistles."
OTHER = "Work was busy, the harbour crane broke down twice this week."
MORE = "My sister bakes rye bread on Sundays and brings some over."
QUESTION, GOLD = "What is the parrot of the family called?", "Humboldt"
SOLD, RENT = "We sold our blue rowing boat last spring.", "It made us sad, but the landlord wanted his rent."
KNOWN = "The family adopted a grey parrot called Humboldt."


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('rules') / 'rules.db'}") as opened:
        yield opened


async def verdict_on(
    embedded: Database, story: Story, failure: Failure, *, gold_free: bool = False
) -> tuple[Verdict, str | None]:
    """The verdict, checked, and the external id of the operation that it blames."""
    store = embedded.project("rules")
    await story.trace.write(store)
    graph = await TraceGraph.load(store, story.trace.trace.id)
    verdict = await FlowPass().attribute(graph, failure, gold_free=gold_free)
    assert await problems(verdict, graph) == []
    blamed = None if verdict.operation_id is None else graph.operations[verdict.operation_id].external_id
    return verdict, blamed


def story() -> Story:
    return Story.of("rules", SAID, OTHER, MORE)


def extraction() -> tuple[Story, Failure]:
    told = story()
    unit = told.store(0, "The family adopted a grey bird.")
    return told, told.ask(QUESTION, GOLD, "I don't know.", [unit])


def storing() -> tuple[Story, Failure]:
    told = story()
    unit = told.store(0, KNOWN, "The family adopted a grey bird.")
    return told, told.ask(QUESTION, GOLD, "I don't know.", [unit])


def update() -> tuple[Story, Failure]:
    told = story()
    unit = told.rewrite(told.store(0, KNOWN), "The family has a pet.")
    return told, told.ask(QUESTION, GOLD, "I don't know.", [unit])


def deletion() -> tuple[Story, Failure]:
    told = story()
    told.delete(told.store(0, KNOWN))
    return told, told.ask(QUESTION, GOLD, "I don't know.", [told.store(1, OTHER, key="work")])


def retrieval() -> tuple[Story, Failure]:
    told = story()
    told.store(0, KNOWN)
    return told, told.ask(QUESTION, GOLD, "I don't know.", [told.store(1, OTHER, key="work")])


def response() -> tuple[Story, Failure]:
    told = story()
    return told, told.ask(QUESTION, GOLD, "It is called Darwin.", [told.store(0, KNOWN)])


def annotation() -> tuple[Story, Failure]:
    told = story()
    return told, told.ask(QUESTION, "rye bread", "The parrot is Humboldt.", [told.store(0, KNOWN)])


def judge() -> tuple[Story, Failure]:
    told = story()
    return told, told.ask(QUESTION, GOLD, "They named the bird Humboldt.", [told.store(0, KNOWN)])


FAULTS = [
    (extraction, ErrorType.EXTRACTION, "extract-unit"),
    (storing, ErrorType.UPDATE, "write-unit"),
    (update, ErrorType.UPDATE, "rewrite-unit-1"),
    (deletion, ErrorType.DELETION, "delete-unit-1"),
    (retrieval, ErrorType.RETRIEVAL, "search"),
    (response, ErrorType.RESPONSE, "reply"),
    (annotation, ErrorType.ANNOTATION, None),
    (judge, ErrorType.JUDGE, "judge"),
]


@pytest.mark.parametrize(("fault", "kind", "operation"), FAULTS, ids=lambda one: getattr(one, "__name__", None))
async def test_faults(
    embedded: Database, fault: Callable[[], tuple[Story, Failure]], kind: ErrorType, operation: str | None
) -> None:
    verdict, blamed = await verdict_on(embedded, *fault())
    assert (verdict.error_type, blamed) == (kind, operation)
    assert verdict.path
    assert 0.5 < verdict.confidence < 1
    assert all((one.confidence or 0) < verdict.confidence for one in verdict.candidates)


@pytest.mark.parametrize("fault", [extraction, update, deletion, retrieval, response], ids=lambda one: one.__name__)
async def test_evidence_is_found_where_none_is_given(
    embedded: Database, fault: Callable[[], tuple[Story, Failure]]
) -> None:
    told, failure = fault()
    given, blamed = await verdict_on(embedded, told, failure)
    found, as_well = await verdict_on(embedded, told, replace(failure, evidence_ids=()))
    assert (found.error_type, as_well) == (given.error_type, blamed)
    assert found.details["retrieved"]
    assert found.details["evidence"] == [told.evidence[0].id]


@pytest.mark.parametrize(
    ("answer", "is_sure"), [("A hound called Bo.", True), ("Only a parrot has come up, no hound.", False)]
)
async def test_an_answer_that_denies_something_may_be_a_refusal(embedded: Database, answer: str, is_sure: bool) -> None:
    told = story()
    failure = told.ask("What is the hound of the family called?", "It is not known.", answer, [told.store(0, KNOWN)])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")
    assert (verdict.confidence >= SURE) is is_sure
    assert ("in other words" in (verdict.reason or "")) is not is_sure


@pytest.mark.parametrize("answer", ["The memories do not mention this.", "The parrot of the family is called."])
async def test_without_gold_answers_an_answer_that_tells_nothing_is_not_right(embedded: Database, answer: str) -> None:
    told, failure = retrieval()
    free, blamed = await verdict_on(embedded, told, replace(failure, prediction=answer), gold_free=True)
    assert (free.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


async def test_without_gold_answers_the_question_says_what_is_needed(embedded: Database) -> None:
    told, failure = retrieval()
    given, _ = await verdict_on(embedded, told, failure)
    free, blamed = await verdict_on(embedded, told, failure, gold_free=True)
    assert (free.error_type, blamed) == (ErrorType.RETRIEVAL, "search")
    assert free.confidence < given.confidence
    assert free.details["goldFree"] is True
    missing, _ = await verdict_on(embedded, told, replace(failure, gold_answers=()))
    assert missing.error_type is free.error_type


async def test_a_write_that_failed_and_made_nothing(embedded: Database) -> None:
    told = story()
    extracted = ("fact", KNOWN, VariableKind.RESPONSE)
    (fact,) = told.step("extract", OperationKind.EXTRACTION, [told.evidence[0]], extracted)
    told.step("write", OperationKind.UPDATE, [fact])
    failure = told.ask(QUESTION, GOLD, "I don't know.", [told.store(1, OTHER, key="work")])
    _, blamed = await verdict_on(embedded, told, failure)
    assert blamed == "write"


async def test_the_same_fact_from_another_message_is_no_excuse_for_a_loss(embedded: Database) -> None:
    told = Story.of("rules", "The concert is on Tuesday at the chapel.", "Tuesday I will mow the lawn.", MORE)
    unit = told.rewrite(told.store(0, "The concert is on Tuesday at the chapel."), "There is a concert at the chapel.")
    lawn = told.store(1, "On Tuesday the lawn is mown.", key="lawn")
    failure = told.ask("On which day is the concert at the chapel?", "Tuesday", "No idea.", [unit, lawn])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "rewrite-unit-1")


async def test_dates_in_other_words(embedded: Database) -> None:
    told = Story.of("rules", "I saw the eclipse last Friday.\nSent: 2024-04-10T09:00", OTHER)
    failure = told.ask(
        "When was the eclipse seen?", "5 April 2024", "On Monday.", [told.store(0, "Saw the eclipse on April 5.")]
    )
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_last_week_beside_another_day_is_another_week(embedded: Database) -> None:
    """An update that gives the sentence a later day has changed the date, though every word is still there."""
    told = Story.of("rules", "Ada: Last week I went to a pottery class.\nTimestamp: 2023-07-15T13:51:00", name="moved")
    said = "Ada: Last week I went to a pottery class."
    unit = told.store(0, said, f"{said}\nTimestamp: 2023-07-15T13:51:00")
    moved = told.rewrite(unit, f"{said} I walked in the park.\nTimestamp: 2023-08-28T15:19:00")
    failure = told.ask("When was Ada at a pottery class?", "The week before 15 July 2023", "21 August 2023", [moved])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "rewrite-unit-1")

    kept = Story.of("rules", "Ada: Last week I went to a pottery class.\nTimestamp: 2023-07-15T13:51:00", name="kept")
    unit = kept.store(0, said, f"{said}\nTimestamp: 2023-07-15T13:51:00")
    failure = kept.ask("When was Ada at a pottery class?", "The week before 15 July 2023", "21 August 2023", [unit])
    verdict, blamed = await verdict_on(embedded, kept, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_what_a_message_tells_in_several_sentences_is_no_wrong_gold_answer(embedded: Database) -> None:
    """The message also has words of the answer, but more of the gold answer, over all its sentences."""
    message = (
        "Read up on kennels and visit a breeder. They help with the papers. Gather receipts like invoices. "
        "Don't forget to brace yourselves, the noise is hard."
    )
    told = Story.of("rules", message, "The club has a red door.", name="list")
    units = [told.store(0, part, key=f"part-{n}") for n, part in enumerate(message.split(". "))]
    gold = "visit a breeder, gather receipts, and brace yourselves"
    assert len(units) == 4
    found = told.store(1, "The club has a red door.", key="club")
    answer = "Somebody downtown offered plenty of help with papers, biscuits and leashes."
    failure = told.ask("What advice is there on a dog?", gold, answer, [found])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


async def test_a_list_that_a_message_tells_is_no_wrong_gold_answer_though_it_says_what_was_answered(
    embedded: Database,
) -> None:
    message = (
        "Patience matters in pottery. I stay calm by counting the glazed bowls. It also helps to have a warm kiln. "
        "Just remember the teacher."
    )
    told = Story.of("rules", message, "The club has a red door.", name="every item")
    patience, *_ = [told.store(0, part, key=f"part-{n}") for n, part in enumerate(message.split(". "))]
    gold = "By counting her glazed bowls, having a warm kiln, and remembering the teacher"
    failure = told.ask("How does Ada stay calm in her pottery?", gold, "Patience matters in pottery.", [patience])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


async def test_what_another_message_only_asks_is_no_source(embedded: Database) -> None:
    said, asks = "Here is a peek at the workshop I built.", "What made you choose the lamps and the shelves?"
    told = Story.of("rules", said, asks, name="asked")
    told.store(0, said)
    told.step("extract-nothing", OperationKind.EXTRACTION, [told.evidence[1]], ("none", "[]", VariableKind.RESPONSE))
    club = told.store(1, "The club has a red door.", key="club")
    failure = told.ask("What did Ada build?", "the workshop, the lamps, and the shelves", "A red door.", [club])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


async def test_a_month_is_not_the_week_that_was_asked_for(embedded: Database) -> None:
    """Another message plans the same for some time of the month: that does not tell when it was."""
    said = "We took the tent to the mountains last week.\nTimestamp: 2023-06-27T10:37:00"
    plan = "We may go to the mountains with the tent next month.\nTimestamp: 2023-05-25T13:14:00"
    told = Story.of("rules", said, plan, name="month")
    told.store(0, said)
    found = told.store(1, plan, key="plan")
    question = "When were they in the mountains with the tent?"
    failure = told.ask(question, "The week before 27 June 2023", "In May.", [found])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


PARROT_BEFORE = "The family adopted a grey parrot that has no name yet."


def turned_down(story: Story) -> tuple[Variable, Variable]:
    """An older unit, given back as it was by an update; and the newer one, which the update was given to store."""
    old = story.store(1, PARROT_BEFORE, key="old")
    made = ("new", KNOWN, VariableKind.MEMORY_UNIT)
    (new,) = story.step("extract-new", OperationKind.EXTRACTION, [story.evidence[0]], made, name="new")
    story.give_back("merge", old, new)
    return old, new


async def test_an_update_that_gives_back_the_old_unit_lost_the_new_one(embedded: Database) -> None:
    told = story()
    old, _ = turned_down(told)
    verdict, blamed = await verdict_on(embedded, told, told.ask(QUESTION, GOLD, "It has none.", [old]))
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "merge")


async def test_so_did_one_that_was_given_the_message_itself(embedded: Database) -> None:
    told = story()
    old = told.store(1, PARROT_BEFORE, key="old")
    told.give_back("merge", old, told.evidence[0])
    verdict, blamed = await verdict_on(embedded, told, told.ask(QUESTION, GOLD, "It has none.", [old]))
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "merge")


async def test_a_unit_that_something_else_used_was_in_the_memory(embedded: Database) -> None:
    told = story()
    old, new = turned_down(told)
    told.step("list", OperationKind.OTHER, [new], ("listed", "1 unit", VariableKind.OTHER))
    verdict, blamed = await verdict_on(embedded, told, told.ask(QUESTION, GOLD, "It has none.", [old]))
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


async def test_a_unit_that_was_there_before_the_one_given_back_was_in_the_memory(embedded: Database) -> None:
    told = story()
    known = told.store(0, KNOWN)
    told.give_back("merge", told.store(1, OTHER, key="work"), known)
    found = told.store(2, MORE, key="bread")
    verdict, blamed = await verdict_on(embedded, told, told.ask(QUESTION, GOLD, "It has none.", [found]))
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


async def test_a_sentence_that_the_wrong_answer_repeats_is_not_what_the_answer_lacks(embedded: Database) -> None:
    told = Story.of("rules", f"{SOLD} {RENT}", OTHER, MORE)
    found = told.store(0, SOLD)
    told.store(0, RENT, key="rent")
    failure = told.ask("Why did the family sell the rowing boat?", "They had debts", SOLD, [found])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert [one.piece for one in verdict.losses] == [RENT]
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("Why did the family sell the rowing boat?", "They had debts"),
        ("Why did the family sell the rowing boat?", "Out of poverty"),
        ("Warum hat die Familie das Boot verkauft?", "Aus Geldnot"),
    ],
)
@pytest.mark.parametrize("answer", [SOLD, "The family sold the blue boat last spring."])
async def test_what_happened_does_not_contradict_a_reason(
    embedded: Database, question: str, gold: str, answer: str
) -> None:
    told = Story.of("rules", f"{SOLD} {RENT}", OTHER, MORE)
    found = told.store(0, SOLD)
    told.store(0, RENT, key="rent")
    verdict, _ = await verdict_on(embedded, told, told.ask(question, gold, answer, [found]))
    assert verdict.error_type not in NOT_THE_MEMORY


async def test_only_operations_before_the_place_are_blamed(embedded: Database) -> None:
    told, failure = extraction()
    await told.trace.write(embedded.project("rules"))
    graph = await TraceGraph.load(embedded.project("rules"), told.trace.trace.id)
    messages = await Messages.read(graph)
    detail = best_detail(messages, failure, list(failure.evidence_ids), content(GOLD, messages.rarity))
    assert detail is not None
    traced = FailureInTrace.of(graph, messages, failure, detail)
    place = next(one.sequence for one in told.trace.operations if one.external_id == "extract-unit")
    assert await lost_on_the_way(traced, place) is None
    loss = await lost_on_the_way(traced, place + 1)
    assert loss is not None
    assert graph.operations[loss.operation_id].sequence == place


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"type": "APIConnectionError", "message": "Connection\n error."}, " (APIConnectionError: Connection error.)"),
        ({"type": "KeyError", "message": ""}, " (KeyError)"),
        ({"type": "E", "message": "x" * 500}, f" (E: {'x' * 116}…)"),
        ({}, ""),
        ("gone", ""),
    ],
)
async def test_a_loss_at_an_operation_that_failed_says_so(embedded: Database, error: object, said: str) -> None:
    told = Story.of("rules", SAID, OTHER, MORE, name=f"failed{said[:6]}")
    found = told.store(1, OTHER, key="work")
    made = ("fact", KNOWN, VariableKind.RESPONSE)
    facts = told.step("extract-unit", OperationKind.EXTRACTION, [told.evidence[0]], made)
    told.step("decide", OperationKind.UPDATE, facts)
    failed = replace(told.trace.operations[-1], status=Status.ERROR, attributes=json.dumps({"error": error}))
    told.trace.operations[-1] = failed
    verdict, blamed = await verdict_on(embedded, told, told.ask(QUESTION, GOLD, "It has none.", [found]))
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "decide")
    assert verdict.reason.endswith(f"; the operation ended with an error{said}")
