"""What the evidence says instead of the gold answer contradicts it only if both answer the question."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio

from attribution.free_pass.no_contradiction import is_part
from attribution.free_pass.trial import SURE
from attribution.needed.content import Rarity, content
from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_premises import OTHER, talk
from tests.attribution.flow.test_rules import verdict_on

PLANTED = "I planted thirty bulbs, and the voles ate eleven."
BOOKED = "I booked 3 rooms, for 40 pounds each."
SHARED = "We picked 96 apples, and shared them out among the four of us."
MOVED = "Before Easter we moved house, to Leith."
ROWS = "I row no more on Tuesdays, now I row on Fridays. Sundays stay as they are."
LEITH = "The house in Leith is damp, but the stove is cosy."
MET_ORGEL = "Oma verhuisde twee weken geleden, met haar orgel."


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('proof') / 'proof.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("said", "question", "gold", "answer"),
    [
        (PLANTED, "Which number of bulbs is left?", "nineteen", "Eleven"),
        (PLANTED, "Which number of bulbs is left?", "19", "30"),
        (BOOKED, "How much did Ada pay for the rooms in all?", "120 pounds", "40 pounds"),
        (SHARED, "How many apples did each of them get?", "24 apples", "96 apples"),
        (ROWS, "On which days does Ada row now?", "On Sundays and Fridays", "Ada rows on Fridays."),
        (MOVED, "When did Ada move house?", "2 April 2026", "She moved to Leith."),
        (MOVED, "On what day did Ada move house?", "2 April 2026", "To Leith"),
        (MET_ORGEL, "Wanneer verhuisde oma?", "9 maart 2026", "Oma verhuisde twee weken geleden."),
        (MET_ORGEL, "Wanneer verhuisde oma?", "9 maart 2026", "Met haar orgel."),
    ],
)
async def test_an_answer_to_something_else_contradicts_nothing(
    embedded: Database, said: str, question: str, gold: str, answer: str
) -> None:
    told = talk(("Ada", said), ("Ben", OTHER))
    verdict, _ = await verdict_on(embedded, told, told.ask(question, gold, answer, [told.store(0, said)]))
    assert verdict.error_type in {ErrorType.RESPONSE, ErrorType.EXTRACTION}


@pytest.mark.parametrize(
    ("said", "question", "gold", "answer"),
    [
        (PLANTED, "Which number of bulbs did the voles eat?", "fourteen", "Eleven"),
        (BOOKED, "How much does each room cost?", "55 pounds", "40 pounds"),
        (SHARED, "How many apples did they pick?", "32 apples", "96 apples"),
        (LEITH, "How does Ada like the house?", "10 years", "It is damp, but the stove is cosy."),
        ("On 3 April we moved house.", "When did Ada move house?", "19 June 2026", "On 3 April 2026"),
    ],
)
async def test_another_amount_or_a_gold_answer_beside_the_question_is_contradicted(
    embedded: Database, said: str, question: str, gold: str, answer: str
) -> None:
    told = talk(("Ada", said), ("Ben", OTHER))
    verdict, _ = await verdict_on(embedded, told, told.ask(question, gold, answer, [told.store(0, said)]))
    assert verdict.error_type is ErrorType.ANNOTATION
    assert verdict.confidence < SURE


@pytest.mark.parametrize(
    ("gold", "answer", "is_within"),
    [
        ("On Sundays and Fridays", "On Fridays", True),
        ("On Sundays and Fridays", "Ada rows on Fridays.", True),
        ("25 kilos", "25", True),
        ("On Fridays", "On Fridays", False),
        ("On Sundays and Fridays", "On Fridays with Ben", False),
        ("On Sundays and Fridays", "Not on Fridays", False),
        ("25 kilos", "24 kilos", False),
        ("On Sundays and Fridays", "Ada rows.", False),
    ],
)
def test_an_answer_within_the_gold_answer_is_a_part_of_it(gold: str, answer: str, is_within: bool) -> None:
    asked: Any = SimpleNamespace(asked=lambda failure: content(failure.question, Rarity(())))
    failure: Any = SimpleNamespace(question="When does Ada row?", prediction=answer, gold_answers=(gold,))
    assert is_part(asked, failure) is is_within
