"""Memory units without the speaker's name: an answer from another speaker's unit is a doubtful response error."""

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

TOLD = [("Rolf", "I adopted a greyhound from the shelter."), ("Ines", "I adopted a tortoise from my aunt.")]


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('nameless') / 'nameless.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("units", "is_doubted"),
    [
        (["The user adopted a greyhound from the shelter.", "The user adopted a tortoise from an aunt."], True),
        (["Rolf adopted a greyhound from the shelter.", "The user adopted a tortoise from an aunt."], False),
        (["The user adopted a greyhound from the shelter.", "Ines adopted a tortoise from an aunt."], False),
    ],
)
async def test_a_unit_without_its_speaker(embedded: Database, units: list[str], is_doubted: bool) -> None:
    story = talk(*TOLD)
    kept = [story.store(number, one, key=f"unit{number}") for number, one in enumerate(units)]
    failure = story.ask("Which animal did Rolf adopt?", "A greyhound", "A tortoise", kept, 0)
    verdict, _ = await verdict_on(embedded, story, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert ("unless nothing told the answer whose this is: “The user adopted a grey" in verdict.reason) is is_doubted
    assert not is_doubted or verdict.confidence < SURE


async def test_a_speaker_without_a_word_in_the_name_is_named_nowhere(embedded: Database) -> None:
    story = talk(*TOLD, ("🙂", "Nice."))
    units = ["The user adopted a greyhound from the shelter.", "The user adopted a tortoise from an aunt."]
    kept = [story.store(number, one, key=f"unit{number}") for number, one in enumerate(units)]
    failure = story.ask("Which animal did Rolf adopt?", "A greyhound", "A tortoise", kept, 0)
    verdict, _ = await verdict_on(embedded, story, failure)
    assert "unless nothing told the answer whose this is" in verdict.reason
