"""A unit that gives one speaker's fact to another does not have the fact: the step that wrote the unit lost it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on

TOLD = [("Jolene", "I finished an electrical engineering project last week."), ("Deborah", "How nice, well done!")]


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('another') / 'another.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("unit", "error"),
    [
        ("Deborah's project in electrical engineering is finished", ErrorType.EXTRACTION),
        ("Deborah heard of Jolene's electrical engineering project", ErrorType.RETRIEVAL),
        ("The electrical engineering project of a friend of Deborah is finished", ErrorType.RETRIEVAL),
        ("Jolene finished an electrical engineering project", ErrorType.RETRIEVAL),
    ],
)
async def test_whose_project(embedded: Database, unit: str, error: ErrorType) -> None:
    story = talk(*TOLD)
    story.store(0, unit, key="project")
    other = story.store(1, "Deborah is nice.", key="nice")
    failure = story.ask("What kind of project did Jolene finish?", "electrical engineering", "A garden.", [other], 0)
    verdict, _ = await verdict_on(embedded, story, failure)
    assert verdict.error_type is error
