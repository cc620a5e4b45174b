"""Gold answers that later messages, or the only message about the question, contradict; and days of notes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('outdated') / 'outdated.db'}") as opened:
        yield opened


async def outdated(embedded: Database, first: str, later: str, question: str, gold: str, answer: str) -> bool:
    told = talk(("halla", first), ("halla", later))
    units = [told.store(0, first), told.store(1, later, key="later")]
    verdict, _ = await verdict_on(embedded, told, told.ask(question, gold, answer, units))
    return verdict.error_type is ErrorType.ANNOTATION


async def test_who_speaks_of_themselves_says_their_own_name(embedded: Database) -> None:
    first, question = "I have decided on a yellow roof.", "What colour will Halla's roof be?"
    later = "I changed my mind about the roof: it will be brown."
    assert await outdated(embedded, first, later, question, "yellow", "It will be brown.")
    other = "The weather changed, and my soup was brown."
    assert not await outdated(embedded, f"So, {first}", other, question, "yellow", "It will be brown.")


async def test_a_later_message_puts_another_name_in_the_place_of_the_first(embedded: Database) -> None:
    first, question = "Mrs Odell feeds the hens in winter.", "Who feeds the hens in winter?"
    later = "Mrs Odell can't come, so Mr Tarn feeds the hens in winter."
    assert await outdated(embedded, first, later, question, "Mrs Odell", "Mr Tarn does.")
    both = "Mrs Odell and Mr Tarn like the hens in winter."
    assert not await outdated(embedded, f"So, {first}", both, question, "Mrs Odell", "Mr Tarn does.")


async def test_a_day_without_a_year_in_the_answer_is_near_the_last_message(embedded: Database) -> None:
    first, later = "Please bring the oven on 3 May.", "Please bring the oven on 12 May instead."
    assert await outdated(embedded, first, later, "When do you bring the oven?", "3 May", "We bring it on 12 May.")


async def test_a_count_that_one_message_tells_contradicts_the_gold_answer(embedded: Database) -> None:
    said = ("The brass band brings eleven cases.", "The choir sings in the barn.")
    told = talk(*(("user", one) for one in said))
    units = [told.store(number, one, key=f"unit{number}") for number, one in enumerate(said)]
    question = "How many cases does the brass band bring?"
    verdict, _ = await verdict_on(embedded, told, told.ask(question, "twelve", "It brings eleven cases.", units))
    assert verdict.error_type is ErrorType.ANNOTATION


async def test_a_speaker_with_a_date_in_brackets_dates_a_unit(embedded: Database) -> None:
    told = talk(("Halla", "Last Saturday I moved the hens."), time="2024-06-03")
    unit = told.store(0, "Halla (3 June 2024): Last Saturday I moved the hens.")
    asked = told.ask("When did Halla move the hens?", "1 June 2024", "On 25 May 2024.", [unit])
    verdict, blamed = await verdict_on(embedded, told, asked)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_a_later_message_in_japanese_puts_another_hour(embedded: Database) -> None:
    first, later = "明日は八時に出発します。", "やはり出発は十一時にします。"
    assert await outdated(embedded, first, later, "出発は何時ですか。", "八時", "出発は十一時です。")


@pytest.mark.parametrize("is_found", [True, False])
async def test_a_correction_states_one_of_the_gold_answers(embedded: Database, is_found: bool) -> None:
    first = "We picked our first pears yesterday: 25 kilos from one tree, and nothing from the other."
    later = "I have to take that back: it wasn't 25 kilos in August. The scales were wrong, it was 19."
    told = talk(("Halla", first), ("Odd", "The choir sings in the barn."), ("Halla", later))
    units = [told.store(0, first), told.store(2, later, key="later")]
    failure = told.ask("How heavy was Halla's first harvest of pears?", "19 kg", "25 kilos", units[: 1 + is_found])
    evidence = (told.evidence[0].id, told.evidence[2].id)
    failure = replace(failure, gold_answers=("Nineteen kilos", "19 kg"), evidence_ids=evidence)
    verdict, blamed = await verdict_on(embedded, told, failure)
    expected = (ErrorType.RESPONSE, "reply") if is_found else (ErrorType.RETRIEVAL, "search")
    assert (verdict.error_type, blamed) == expected


PEARS = ("Yesterday we picked our first pears: 25 kilos of them.", "How heavy was Halla's first harvest of pears?")
BAND = ("The brass band plays on 3 May in the barn.", "When does the brass band play?")


@pytest.mark.parametrize(
    ("told", "later", "golds", "answer"),
    [
        (PEARS, "I was wrong about August: it wasn't 25, it was 19.", ("Nineteen kilos", "19 kg"), "25 kilos"),
        (PEARS, "The scales were broken in August. In truth we had 19.", ("19 kilos",), "25 kilos"),
        (BAND, "It isn't on the 3rd, but on the 12th.", ("12 May 2026",), "On 3 May 2026"),
    ],
)
async def test_a_correction_may_leave_out_the_unit_or_the_month(
    embedded: Database, told: tuple[str, str], later: str, golds: tuple[str, ...], answer: str
) -> None:
    first, question = told
    story = talk(("Halla", first), ("Odd", "The choir sings in the barn."), ("Halla", later))
    units = [story.store(0, first), story.store(2, later, key="later")]
    evidence = (story.evidence[0].id, story.evidence[2].id)
    failure = replace(story.ask(question, golds[0], answer, units), gold_answers=golds, evidence_ids=evidence)
    verdict, blamed = await verdict_on(embedded, story, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_a_later_message_in_polish_tells_another_number(embedded: Database) -> None:
    first, later = "Mam już jedenaście uli nad rzeką.", "Wilk nie wrócił, a uli teraz mam piętnaście."
    assert await outdated(embedded, first, later, "Ile uli ma Halla?", "jedenaście", "Ma piętnaście uli.")
