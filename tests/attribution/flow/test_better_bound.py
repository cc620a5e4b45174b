"""A gold answer that what was told may prove wrong: the verdict says so, and is below 0.9."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from attribution.free_pass.trial import SURE
from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('bound') / 'bound.db'}") as opened:
        yield opened


async def reason_of(
    embedded: Database, told: list[str], question: str, gold: str, answer: str, evidence: int | None = 0
) -> tuple[str, bool]:
    """The reason of the verdict, and whether its confidence is 0.9 or more."""
    story = talk(*(("user", one) for one in told))
    kept = [story.store(number, one, key=f"unit{number}") for number, one in enumerate(told)]
    verdict, _ = await verdict_on(embedded, story, story.ask(question, gold, answer, kept, evidence))
    return verdict.reason, verdict.confidence >= SURE


BRAKES = [
    "The mechanic can fit the new brake pads on Thursday the 5th.",
    "We got a grey Fiat for the time being.",
    "The pads went to the wrong depot, so my slot is Monday the 9th at 8.",
]


DOUBT = "unless the given answer is right, which is told as well: “"
OFTEN = "When are the new brake pads fitted?"


async def test_a_newer_message_with_a_third_of_the_question(embedded: Database) -> None:
    reason, is_sure = await reason_of(embedded, BRAKES, OFTEN, "Thursday, 5 March", "On Monday, 9 March, at eight.")
    assert not is_sure
    assert f"{DOUBT}The pads went to the wrong depot" in reason


async def test_the_newest_message_has_the_gold_answer(embedded: Database) -> None:
    reason, _ = await reason_of(embedded, BRAKES, OFTEN, "Monday, 9 March, at 8", "On Thursday, 5 March.", 2)
    assert DOUBT not in reason


TWO = "The quotes: 1,350 for the planks of the Seahorse, and 40 for the rudder pin of the Lapwing."


@pytest.mark.parametrize(("gold", "answer", "is_sure"), [("1,350", "40, for the pin", False), ("40", "1,350", True)])
async def test_one_sentence_tells_both_of_different_things(
    embedded: Database, gold: str, answer: str, is_sure: bool
) -> None:
    told = [TWO, "Both boats are ashore."]
    _, found = await reason_of(embedded, told, "How much is the repair of the Lapwing?", gold, answer)
    assert found is is_sure


async def test_a_choice_of_two(embedded: Database) -> None:
    told = ["The bank offered 3.9 % fixed for five years, or 4.1 % fixed for ten.", "It rains."]
    _, is_sure = await reason_of(embedded, told, "What rate does the bank fix?", "3.9 %", "4.1 %")
    assert not is_sure


@pytest.mark.parametrize(
    ("word", "is_sure"), [("if your potassium is over six", False), ("because of your potassium", True)]
)
async def test_a_gold_answer_under_a_condition(embedded: Database, word: str, is_sure: bool) -> None:
    told = [f"You get four sessions a week {word}.", "The blood test came back."]
    reason, found = await reason_of(embedded, told, "How many sessions do I get a week?", "four", "seven of them")
    assert found is is_sure
    assert ("unless what the gold answer depends on did not come" in reason) is not is_sure


@pytest.mark.parametrize(
    ("told", "is_sure"), [("The loan of the violin is for three years.", False), ("The violin is old.", True)]
)
async def test_a_gold_answer_that_says_nothing_is_known(embedded: Database, told: str, is_sure: bool) -> None:
    question, gold = "For how long is the loan of the violin?", "That is not mentioned."
    reason, found = await reason_of(embedded, [told, "It rains."], question, gold, "Three years.")
    assert found is is_sure
    assert ("unless this tells it: “" in reason) is not is_sure


async def test_what_another_speaker_tells_of_themselves_is_not_told(embedded: Database) -> None:
    story = talk(("Ada", "My loan of the violin is for three years."), ("Ben", "I have no violin."))
    kept = [story.store(0, "Ada has the violin for three years.")]
    failure = story.ask("For how long is Ben's loan of the violin?", "It is not known.", "Three years.", kept, None)
    verdict, _ = await verdict_on(embedded, story, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.confidence >= SURE


async def test_another_word_for_no(embedded: Database) -> None:
    told = ["Ivo failed the statistics exam.", "It rains."]
    reason, is_sure = await reason_of(embedded, told, "Did Ivo pass the exam?", "No, he failed.", "He flunked it.")
    assert not is_sure
    assert "unless the answer says the same in other words" in reason


async def test_the_evidence_has_the_number_of_the_gold_answer_in_another_unit(embedded: Database) -> None:
    told = ["The lime honey came to 41 kilos, the rest was forest honey, 18 kilos.", "It rains."]
    story = talk(*(("user", one) for one in told))
    unit = story.store(0, "18 kg of lime honey and 18 kg of forest honey.")
    failure = story.ask("How many kilos of lime honey did I get?", "41 kg", "18 kilos.", [unit], None)
    verdict, blamed = await verdict_on(embedded, story, failure)
    assert (verdict.error_type, blamed) == (ErrorType.EXTRACTION, "extract-unit")
