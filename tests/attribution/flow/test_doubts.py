"""A verdict that trusts the gold answer is less sure if a later message tells what was answered."""

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
        ([_GOLD, ("Ben", "It rains."), ("Ben", "The train to Sligo leaves at 10:47.")], True),
        ([_GOLD, ("Ben", "It rains."), ("Ada", "Our cat woke me at 10:47.")], True),
        ([_GOLD, _BUS, ("Ada", "The bus to Howth leaves at 10:47.")], True),
    ],
    ids=["later", "earlier", "another speaker", "another topic", "another thing"],
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
