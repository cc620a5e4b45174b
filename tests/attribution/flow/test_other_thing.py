"""A gold answer that is told of another thing or person, where the given answer is told of what the question names."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('thing') / 'thing.db'}") as opened:
        yield opened


async def error_of(
    embedded: Database, told: tuple[str, ...], question: str, gold: str, answer: str
) -> ErrorType | None:
    story = talk(*(("user", one) for one in told))
    units = [story.store(number, one, key=f"unit{number}") for number, one in enumerate(told)]
    verdict, _ = await verdict_on(embedded, story, story.ask(question, gold, answer, units, evidence=None))
    return verdict.error_type


OLD = "The cooper from Falset mends the old oak cask."
NEW = "The cooper from Porrera builds the new oak cask."


@pytest.mark.parametrize(
    ("told", "error_type"),
    [
        ((OLD, NEW), ErrorType.ANNOTATION),
        ((OLD, "The cooper from Porrera builds a cask."), ErrorType.RESPONSE),  # of which cask, nobody says
        (("The cooper from Falset builds the new oak cask.", NEW), ErrorType.RESPONSE),
        ((NEW, "A cooper from Falset gets the order, one from Porrera does not."), ErrorType.RESPONSE),
    ],
    ids=["another cask", "any cask", "the same cask", "both in one sentence"],
)
async def test_the_given_answer_is_told_of_all_that_the_question_names(
    embedded: Database, told: tuple[str, ...], error_type: ErrorType
) -> None:
    question = "From which village is the cooper who builds the new oak cask?"
    assert await error_of(embedded, told, question, "Falset", "He is from Porrera.") is error_type


@pytest.mark.parametrize(
    ("told", "error_type"),
    [
        ("In the evenings I play the accordion, my sister has the concertina.", ErrorType.ANNOTATION),
        ("In the evenings I play the concertina, my sister has the accordion.", ErrorType.RESPONSE),
        ("In the evenings I play the accordion, and the concertina.", ErrorType.RESPONSE),
    ],
    ids=["the sister's", "the own one", "both"],
)
async def test_one_sentence_tells_both_answers(embedded: Database, told: str, error_type: ErrorType) -> None:
    question = "What do I play in the evenings?"
    answer = "You play the accordion."
    assert await error_of(embedded, (told,), question, "the concertina", answer) is error_type


@pytest.mark.parametrize(
    ("told", "error_type"),
    [
        ("The tent is orange, Maarit brings the stove and Aino brings the pots.", ErrorType.ANNOTATION),
        ("Maarit brings the pots and Aino brings the stove.", ErrorType.RESPONSE),
        ("Maarit brings the stove and Aino brings it back.", ErrorType.RESPONSE),
        ("Maarit brings the stove and Aino brings another.", ErrorType.RESPONSE),
        ("Maarit brings the stove and Aino brings the stove's gas.", ErrorType.RESPONSE),
        ("Maarit brings the stove and the pots bring Aino.", ErrorType.RESPONSE),
    ],
    ids=["other thing", "the same", "it", "another", "part of it", "not alike"],
)
async def test_one_sentence_tells_the_like_of_two_things(embedded: Database, told: str, error_type: ErrorType) -> None:
    question = "Who brings the stove?"
    assert await error_of(embedded, (told,), question, "Aino", "Maarit brings the stove.") is error_type


BARREL_3, BARREL_5 = "Barrel 3 holds a riesling from Ilok.", "Barrel 5 holds a malmsey."


@pytest.mark.parametrize(
    ("told", "question", "error_type"),
    [
        ((BARREL_3, BARREL_5), "Which wine is in barrel 5?", ErrorType.ANNOTATION),
        ((BARREL_3, BARREL_5), "Which wine is in barrel 3?", ErrorType.RESPONSE),
        ((BARREL_3, "The old barrel holds a malmsey."), "Which wine is in barrel 5?", ErrorType.RESPONSE),
        (("U bačvi 3 zri rizling.", "U bačvi 5 zri malvazija."), "Koje vino zri u bačva 5?", ErrorType.ANNOTATION),
    ],
    ids=["another barrel", "the same barrel", "no number", "another form of the word"],
)
async def test_things_with_numbers_are_told_apart(
    embedded: Database, told: tuple[str, ...], question: str, error_type: ErrorType
) -> None:
    gold, answer = ("rizling", "malvazija") if "bač" in question else ("riesling", "malmsey")
    assert await error_of(embedded, told, question, gold, f"{answer}.") is error_type


@pytest.mark.parametrize(
    ("told", "error_type"),
    [
        (
            ("Ines signs off the Kestrel release.", "Ines is away, so Tomas signs off Kestrel in her place."),
            ErrorType.RESPONSE,
        ),
        (
            ("Ines is away, so Tomas signs off Kestrel in her place.", "Ines signs off the Kestrel release."),
            ErrorType.ANNOTATION,
        ),
    ],
    ids=["changed later", "changed before"],
)
async def test_a_later_change_tells_the_gold_answer_of_the_same_thing(
    embedded: Database, told: tuple[str, ...], error_type: ErrorType
) -> None:
    question = "Who signs off the Kestrel release?"
    assert await error_of(embedded, told, question, "Tomas", "Ines signs it off.") is error_type
