"""A memory that gave the numbers of two things to each other does not have the fact."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import verdict_on

SAID = "I bought nine Conference pears for the cellar and four Victoria plums for the shed."


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('swapped') / 'swapped.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (
            "Bought 4 Conference pears for the cellar, 9 Victoria plums for the shed",
            (ErrorType.EXTRACTION, "extract-unit"),
        ),
        ("Bought 9 Conference pears for the cellar, 4 Victoria plums for the shed", (ErrorType.RESPONSE, "reply")),
    ],
)
async def test_the_step_that_swapped_them_is_at_fault(
    embedded: Database, unit: str, expected: tuple[ErrorType, str]
) -> None:
    told = Story.of("rules", SAID, "It rains.", name=f"swapped {expected[1]}")
    failure = told.ask("How many Conference pears did I buy?", "nine", "4 pears.", [told.store(0, unit)])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == expected
