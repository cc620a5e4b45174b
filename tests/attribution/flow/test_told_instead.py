"""A gold answer that what was read contradicts, in a trace without messages."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schema.kinds import ErrorType, OperationKind, VariableKind
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import verdict_on

QUESTION, GOLD, ANSWER = "How many guests come to the Okonkwo birthday?", "thirteen", "Eleven guests come."


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('instead') / 'instead.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("stored", "is_wrong_gold"),
    [
        ("The guests of the Okonkwo birthday bring cake.", True),
        ("The Okonkwo birthday has grown: thirteen guests come.", False),
    ],
    ids=["nothing recorded has it", "a note has it that was not returned"],
)
async def test_a_gold_answer_that_is_recorded_anywhere_is_not_called_wrong(
    embedded: Database, stored: str, is_wrong_gold: bool
) -> None:
    told = Story.of("rules", name=f"instead {is_wrong_gold}")
    for key, text in (("first", "Eleven guests come to the Okonkwo birthday."), ("second", stored)):
        made = (key, text, VariableKind.MEMORY_UNIT)
        told.step(f"write {key}", OperationKind.UPDATE, [], made, name=key, version=1)
    found = [one for one in told.trace.variables if one.external_id == "first"]
    verdict, _ = await verdict_on(embedded, told, told.ask(QUESTION, GOLD, ANSWER, found, evidence=None))
    assert (verdict.error_type is ErrorType.ANNOTATION) is is_wrong_gold
