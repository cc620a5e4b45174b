"""A verdict that trusts the gold answer is less sure if a later message tells what was answered."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from attribution.free_pass.trial import SURE
from schema.kinds import ErrorType, OperationKind, VariableKind
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on

_GOLD = ("Ada", "The train to Sligo leaves at 9:12.")
_BUS = ("Ben", "The bus to Cork leaves at 8:05, and the bus to Bray leaves at 8:20.")
_LATER = ("Ada", "The train to Sligo leaves at 10:47.")


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('later') / 'later.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("messages", "is_sure"),
    [
        ([_GOLD, ("Ben", "It rains."), _LATER], False),
        ([_LATER, ("Ben", "It rains."), _GOLD], True),
        ([_GOLD, ("Ben", "It rains."), ("Ada", "Our cat woke me at 10:47.")], True),
        ([_GOLD, _BUS, ("Ada", "The bus to Howth leaves at 10:47.")], True),
    ],
    ids=["later", "earlier", "another topic", "another thing"],
)
async def test_what_is_told_later_may_make_the_gold_answer_out_of_date(
    embedded: Database, messages: list[tuple[str, str]], is_sure: bool
) -> None:
    told = talk(*messages)
    unit = told.store(messages.index(_GOLD), "The train to Sligo leaves at 9:12.")
    failure = told.ask("When does the train to Sligo leave?", "at 9:12", "It leaves at 10:47.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert (verdict.confidence >= SURE) is is_sure
    doubt = "unless a later message made the gold answer out of date: “The train to Sligo leaves at 10:47.”"
    assert (doubt in verdict.reason) is not is_sure


async def test_another_speaker_who_tells_the_given_answer_is_a_doubt(embedded: Database) -> None:
    told = talk(_GOLD, ("Ben", "It rains."), ("Ben", "The train to Sligo leaves at 10:47."))
    unit = told.store(0, "The train to Sligo leaves at 9:12.")
    failure = told.ask("When does the train to Sligo leave?", "at 9:12", "It leaves at 10:47.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.confidence < SURE
    assert "unless the given answer is right, which is told as well: “The train to Sligo leaves at" in verdict.reason


async def test_a_memory_that_was_changed_to_what_was_told_later(embedded: Database) -> None:
    told = talk(_GOLD, ("Ben", "It rains."), _LATER)
    unit = told.store(2, "The train to Sligo leaves at 10:47.")
    told.store(0, "The train to Sligo leaves at 9:12.", key="first")
    failure = told.ask("When does the train to Sligo leave?", "at 9:12", "It leaves at 10:47.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RETRIEVAL
    assert verdict.confidence < SURE
    assert "out of date" in verdict.reason


async def test_a_number_is_told_later_whatever_words_the_answer_adds(embedded: Database) -> None:
    told = talk(
        ("Ada", "I keep 12 hens in the yard."), ("Ben", "It rains."), ("Ada", "I bought three, so I keep 15 hens.")
    )
    unit = told.store(0, "Ada keeps 12 hens in the yard.")
    failure = told.ask("How many hens do I keep?", "12", "Altogether that makes 15 of them.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.confidence < SURE
    assert "out of date: “I bought three, so I keep 15 hens.”" in verdict.reason


async def test_most_words_of_the_topic_are_enough(embedded: Database) -> None:
    first, later = "La bóta de roure la fa un boter de Falset.", "La bóta de castanyer la fa un boter de Porrera."
    told = talk(("Ada", first), ("Ben", "Molt bé."), ("Ada", later))
    unit = told.store(0, first)
    failure = told.ask("D'on és el boter que fa la bóta de roure?", "de Falset", "És de Porrera.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.confidence < SURE
    assert f"unless a later message made the gold answer out of date: “{later}”" in verdict.reason


@pytest.mark.parametrize("said", ["4017", "I do not know that."])
async def test_half_of_the_topic_and_a_refusal_are_no_doubt(embedded: Database, said: str) -> None:
    told = talk(
        ("Ada", "The code of the cellar is 5519."), ("Ben", "Fine."), ("Ada", "The code of the laundry is 4017.")
    )
    unit = told.store(0, "The code of the cellar is 5519.")
    verdict, _ = await verdict_on(embedded, told, told.ask("What is the code of the cellar?", "5519", said, [unit]))
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.confidence >= SURE
    assert "unless" not in verdict.reason


async def test_a_later_message_that_tells_nothing_of_the_kind_is_no_doubt(embedded: Database) -> None:
    first, later = "The pottery class is on Thursday evenings.", "I really enjoy the pottery class."
    told = talk(("Ada", first), ("Ben", "Fine."), ("Ada", later))
    failure = told.ask("When is the pottery class?", "on Thursday evenings", later, [told.store(0, first)])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.confidence >= SURE
    assert "unless" not in verdict.reason


@pytest.mark.parametrize(
    ("gold", "given", "is_sure"),
    [
        ("Harrogate farm: 60 baps each day.", "Bramley bakery wants 45 baps each day.", False),
        ("The farm takes 60 baps each day.", "Bramley bakery wants 45 baps each day.", True),
        ("Bramley bakery wants 60 baps each day.", "The farm takes 45 baps each day.", True),
    ],
    ids=["of another place", "of no named thing", "of what is asked about"],
)
async def test_the_given_answer_is_told_of_more_of_what_is_asked_about(
    embedded: Database, gold: str, given: str, is_sure: bool
) -> None:
    told = talk(("Ada", given), ("Ben", "It rains."), ("Ada", gold))
    unit = told.store(2, gold)
    told.store(0, given, key="given")
    failure = told.ask("How many baps does Bramley bakery want each day?", "60", "45 baps a day.", [unit], 2)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert (verdict.confidence >= SURE) is is_sure
    assert (f"unless the given answer is right, which is told as well: “{given}”" in verdict.reason) is (not is_sure)


NOTES = "Notes:\nMrs Lowe teaches physics in form 3B\nThe physics supply teacher is Mr Okoro, until May\n"


@pytest.mark.parametrize(
    ("question", "is_sure"), [("Who teaches physics in form 3B now?", False), ("Who taught physics in form 3B?", True)]
)
async def test_a_later_note_of_a_prompt_may_make_the_gold_answer_out_of_date(
    embedded: Database, question: str, is_sure: bool
) -> None:
    told = Story.of("rules", f"{NOTES}Question: {question}", name=f"notes {is_sure}")
    made = ("answer", "Mr Okoro, the supply teacher.", VariableKind.ANSWER)
    (reply,) = told.step("reply", OperationKind.GENERATION, told.evidence, made)
    failure = told.trace.failure(told.evidence[0], reply, gold_answers=("Mrs Lowe",))
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")
    assert (verdict.confidence >= SURE) is is_sure


@pytest.mark.parametrize(
    ("note", "answer"), [("The lab is on floor two", "On floor two."), ("Member number 7745-K", "It is 7745-K.")]
)
async def test_notes_alone_decide_neither_for_nor_against_the_gold_answer(
    embedded: Database, note: str, answer: str
) -> None:
    question, gold = ("Where is the lab?", "floor three") if "lab" in note else ("What is my member number?", "7745-H")
    told = Story.of("rules", f"Notes:\n{note}\nQuestion: {question}", name=note)
    (reply,) = told.step("reply", OperationKind.GENERATION, told.evidence, ("answer", answer, VariableKind.ANSWER))
    verdict, _ = await verdict_on(embedded, told, told.trace.failure(told.evidence[0], reply, gold_answers=(gold,)))
    assert verdict.error_type is None
