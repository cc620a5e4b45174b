"""An answer that may be right in other words is no sure error of the answering operation."""

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
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('words') / 'words.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("gold", "answer", "is_sure"),
    [
        ("every second week", "fortnightly", False),
        ("every week", "every month", True),
        ("two weeks", "two months", True),
    ],
)
async def test_units_differ_surely_only_if_both_or_none_have_a_number(
    embedded: Database, gold: str, answer: str, is_sure: bool
) -> None:
    told = talk(("Ada", f"The bins are emptied {gold}."), ("Ben", "It rains."))
    unit = told.store(0, f"The bins are emptied {gold}.")
    failure = told.ask("How often are the bins emptied?", gold, f"They are emptied {answer}.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert (verdict.confidence >= SURE) is is_sure


@pytest.mark.parametrize(("answer", "is_sure"), [("4,25 quilos", False), ("5,5 quilos", True), ("5 quilos", True)])
async def test_a_number_and_a_part_of_one_may_be_the_same(embedded: Database, answer: str, is_sure: bool) -> None:
    told = talk(("Ada", "El gat pesa quatre quilos i quart."), ("Ben", "Plou."))
    unit = told.store(0, "El gat pesa quatre quilos i quart.")
    failure = told.ask("Quant pesa el gat?", "quatre quilos i quart", f"Pesa {answer}.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert (verdict.confidence >= SURE) is is_sure


@pytest.mark.parametrize(
    ("gold", "answer", "is_sure"),
    [
        ("the oboe", "a woodwind of ebony", False),
        ("the oboe", "the cello", True),
        ("the oboe", "I don't know.", True),
        ("the oboe", "Ada learns.", True),
    ],
    ids=["in no other message", "in another message", "refused", "nothing of its own"],
)
async def test_an_answer_that_no_message_has_may_say_the_same(
    embedded: Database, gold: str, answer: str, is_sure: bool
) -> None:
    told = talk(("Ada", "I learn the oboe now."), ("Ben", "My cello is in the attic."), ("Ben", "It rains."))
    unit = told.store(0, "Ada learns the oboe now.")
    failure = told.ask("What does Ada learn?", gold, answer, [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert (verdict.confidence >= SURE) is is_sure
    assert ("unless the answer says the same in other words" in verdict.reason) is not is_sure


@pytest.mark.parametrize(
    ("answer", "is_sure"),
    [("Yılda iki kez", False), ("İki ayda bir", True), ("İki", True), ("İki. Kesinlikle", True)],
    ids=["times", "months", "none", "another sentence"],
)
async def test_numbers_of_things_that_nobody_else_named_prove_no_difference(
    embedded: Database, answer: str, is_sure: bool
) -> None:
    told = talk(("Ada", "Filtre altı ayda bir değişiyor."), ("Ben", "Yağmur yağıyor."))
    unit = told.store(0, "Filtre altı ayda bir değişiyor.")
    failure = told.ask("Filtre kaç ayda bir değişiyor?", "altı ayda bir", f"{answer} değişiyor.", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert (verdict.confidence >= SURE) is is_sure


@pytest.mark.parametrize(
    ("gold", "is_doubted"),
    [("gần cửa sổ", True), ("phòng 7", False), ("Hạnh Phúc", False)],
    ids=["near", "number", "name"],
)
async def test_a_gold_answer_that_only_has_other_words_may_say_the_same(
    embedded: Database, gold: str, is_doubted: bool
) -> None:
    told = talk(("Ada", "Bàn của tôi ở cạnh cửa sổ phòng 4 quán Thanh Xuân."), ("Ben", "Trời mưa."))
    unit = told.store(0, "Bàn của tôi ở cạnh cửa sổ phòng 4 quán Thanh Xuân.")
    answer = {"gần cửa sổ": "cạnh cửa sổ", "phòng 7": "phòng 4", "Hạnh Phúc": "quán Thanh Xuân"}[gold]
    verdict, _ = await verdict_on(embedded, told, told.ask("Bàn của tôi ở đâu?", gold, answer, [unit], evidence=None))
    assert verdict.error_type is ErrorType.ANNOTATION
    assert verdict.confidence < SURE
    assert verdict.reason.endswith("unless the gold answer says the same in other words") is is_doubted
