"""Messages that put the given answer in the place of the gold answer, in the same breath."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from attribution.free_pass.in_its_place import REASON
from attribution.free_pass.trial import SURE
from attribution.needed.pieces import listed_items
from schema.kinds import ErrorType, OperationKind, VariableKind
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on

OTHER = "The choir sings in the barn."


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('place') / 'place.db'}") as opened:
        yield opened


async def is_wrong_gold(embedded: Database, said: list[str], question: str, gold: str, answer: str) -> bool:
    told = talk(*(("halla", one) for one in [*said, OTHER]))
    units = [told.store(number, one, key=f"unit{number}") for number, one in enumerate([*said, OTHER])]
    verdict, _ = await verdict_on(embedded, told, told.ask(question, gold, answer, units))
    is_said = verdict.reason.startswith(REASON)
    assert verdict.error_type is ErrorType.ANNOTATION or not is_said
    assert is_said or verdict.error_type is not ErrorType.ANNOTATION or verdict.confidence < SURE
    return is_said


CASES = {
    "no longer": (
        "The regatta starts in Kendal, no longer in Bowness.",
        "Where does the regatta start?",
        ("Bowness", "It starts in Kendal."),
    ),
    "not": ("It is Odd who feeds the geese, not Sigrun.", "Who feeds the geese?", ("Sigrun", "Odd feeds them.")),
    "but": ("The code of the shed isn't 4471 but 4417.", "What is the code of the shed?", ("4471", "It's 4417.")),
    "instead of": (
        "I'd like the curtains ochre instead of turquoise.",
        "Which colour shall the curtains be?",
        ("turquoise", "The curtains will be ochre."),
    ),
    "instead": (
        "The Ridge Inn is booked out, so we sleep at the Heron House instead.",
        "Where do we sleep?",
        ("At the Ridge Inn", "You sleep at the Heron House."),
    ),
    "two sentences": (
        "Torvald gave up the stall. Ragna runs the stall now.",
        "Who runs the stall?",
        ("Torvald", "Ragna runs the stall."),
    ),
    "taken over": (
        "Ragna takes over the stall from Torvald on 4 May.",
        "Who runs the stall in summer?",
        ("Torvald", "Ragna, from 4 May."),
    ),
    "days of the week": (
        "Archery is on Thursdays now, no longer on Mondays.",
        "On which day is archery?",
        ("On Mondays", "Archery is on Thursdays."),
    ),
    "German": (
        "Den Schlüssel hat jetzt Frau Opitz, nicht mehr Herr Dahl.",
        "Wer hat den Schlüssel?",
        ("Herr Dahl", "Den Schlüssel hat Frau Opitz."),
    ),
    "German, but": (
        "Der Chor probt nicht in der Aula, sondern im Keller.",
        "Wo probt der Chor?",
        ("In der Aula", "Der Chor probt im Keller."),
    ),
    "French": (
        "Nous prenons le bateau au lieu du train pour Belle-Île.",
        "Comment allons-nous à Belle-Île ?",
        ("En train", "Vous prenez le bateau."),
    ),
    "Spanish": (
        "El ensayo no es en la biblioteca sino en el gimnasio.",
        "¿Dónde es el ensayo?",
        ("En la biblioteca", "Es en el gimnasio."),
    ),
    "Portuguese": (
        "Quero a parede cinzenta em vez de amarela.",
        "De que cor quero a parede?",
        ("Amarela", "Quer a parede cinzenta."),
    ),
    "Italian": (
        "La cena la prepara Ornella, non Duilio.",
        "Chi prepara la cena?",
        ("Duilio", "La cena la prepara Ornella."),
    ),
    "Polish": (
        "Psa wyprowadza teraz Zofia, nie Tadeusz.",
        "Kto wyprowadza psa?",
        ("Tadeusz", "Psa wyprowadza Zofia."),
    ),
    "Russian": (
        "Собаку кормит Глеб, а не Тамара.",
        "Кто кормит собаку?",
        ("Тамара", "Собаку кормит Глеб."),
    ),
    "Hindi": (
        "दूध अब 6 बजे आएगा, 8 बजे नहीं।",
        "दूध कब आएगा?",
        ("8 बजे", "दूध 6 बजे आएगा।"),
    ),
    "Japanese": ("会場は松本ではなくて上田です。", "会場はどこですか。", ("松本", "会場は上田です。")),
    "Japanese, changed": (
        "旅館の梅屋は断って「鶴亀荘」に変更しました。",
        "旅館はどこですか。",
        ("梅屋", "旅館は「鶴亀荘」です。"),
    ),
    "Chinese": ("负责人不是赵敏而是钱峰。", "负责人是谁？", ("赵敏", "负责人是钱峰。")),
    "Korean": ("발표는 지수가 아니라 도윤이 합니다.", "발표는 누가 합니까?", ("지수", "발표는 도윤이 합니다.")),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_message_puts_the_answer_in_the_place_of_the_gold_answer(embedded: Database, case: str) -> None:
    said, question, (gold, answer) = CASES[case]
    assert await is_wrong_gold(embedded, [said], question, gold, answer)


SWAPPED = {
    "no longer": ("Kendal", "It starts in Bowness."),
    "not": ("Odd", "Sigrun feeds them."),
    "but": ("4417", "It's 4471."),
    "instead of": ("ochre", "The curtains will be turquoise."),
    "instead": ("At the Heron House", "You sleep at the Ridge Inn."),
    "two sentences": ("Ragna", "Torvald runs the stall."),
    "days of the week": ("On Thursdays", "Archery is on Mondays."),
    "taken over": ("Ragna", "Torvald, until 4 May."),
    "German": ("Frau Opitz", "Den Schlüssel hat Herr Dahl."),
    "French": ("En bateau", "Vous prenez le train."),
    "Spanish": ("En el gimnasio", "Es en la biblioteca."),
    "Russian": ("Глеб", "Собаку кормит Тамара."),
    "Japanese": ("上田", "会場は松本です。"),
    "Japanese, changed": ("鶴亀荘", "旅館は梅屋です。"),
    "Chinese": ("钱峰", "负责人是赵敏。"),
    "Korean": ("도윤", "발표는 지수가 합니다."),
}


@pytest.mark.parametrize("case", SWAPPED)
async def test_an_answer_that_was_replaced_does_not_make_the_gold_answer_wrong(embedded: Database, case: str) -> None:
    said, question, _ = CASES[case]
    gold, answer = SWAPPED[case]
    assert not await is_wrong_gold(embedded, [said], question, gold, answer)


@pytest.mark.parametrize(
    ("later", "is_wrong"),
    [("The regatta starts in Bowness after all.", False), ("I bought a kettle in Bowness.", True)],
)
async def test_what_was_replaced_may_hold_again(embedded: Database, later: str, is_wrong: bool) -> None:
    said, question, (gold, answer) = CASES["no longer"]
    assert await is_wrong_gold(embedded, [said, later], question, gold, answer) is is_wrong


@pytest.mark.parametrize(
    ("said", "question", "gold", "answer"),
    [
        ("Kendal and Bowness both have a regatta.", "Where is the regatta?", "Bowness", "In Kendal."),
        ("Does the regatta start in Kendal, not in Bowness?", "Where does it start?", "Bowness", "In Kendal."),
        ("Sigrun feeds the geese, Odd doesn't feed anything.", "Who feeds the geese?", "Sigrun", "Odd feeds them."),
        ("The regatta is in Kendal. " + "It rains. " * 50 + "It isn't in Bowness.", "Where?", "Bowness", "In Kendal."),
    ],
)
async def test_two_names_in_one_message_are_no_change(
    embedded: Database, said: str, question: str, gold: str, answer: str
) -> None:
    assert not await is_wrong_gold(embedded, [said], question, gold, answer)


@pytest.mark.parametrize(
    ("said", "question", "gold", "answer", "is_wrong"),
    [
        (
            "Mirela no rema los martes, ahora rema los sábados. Los domingos se mantienen.",
            "¿Qué días rema Mirela ahora?",
            "Los sábados y los domingos",
            "Sábados",
            False,
        ),
        (
            "Archery has moved from Mondays, it is on Fridays now. Saturdays stay.",
            "On which days is archery?",
            "On Fridays and Saturdays",
            "On Fridays.",
            False,
        ),
        (
            "Archery is on Fridays now, and no longer on Saturdays.",
            "On which days is archery?",
            "On Fridays and Saturdays",
            "On Fridays.",
            True,
        ),
    ],
)
async def test_one_of_several_days_replaces_the_others_only_where_they_are_denied(
    embedded: Database, said: str, question: str, gold: str, answer: str, is_wrong: bool
) -> None:
    assert await is_wrong_gold(embedded, [said], question, gold, answer) is is_wrong


@pytest.mark.parametrize(
    ("said", "gold", "answer", "is_wrong"),
    [
        ("My number at the club is 5512-K.", "5512-H", "It's 5512-K.", True),
        ("My number at the club is 5512-K.", "5512-K", "It's 5512-H.", False),
        ("Call me at the club: 0171 990 3361.", "0171 990 3362", "At 0171 990 3361.", True),
        ("Call me at the club: 0171 990 3361.", "0171 990 3361", "At 0171 990 3362.", False),
    ],
)
async def test_a_code_that_no_message_has_is_wrong_beside_the_told_one(
    embedded: Database, said: str, gold: str, answer: str, is_wrong: bool
) -> None:
    told = talk(("halla", said), ("halla", OTHER))
    units = [told.store(0, said)]
    verdict, _ = await verdict_on(embedded, told, told.ask("What is my number at the club?", gold, answer, units))
    assert (verdict.error_type is ErrorType.ANNOTATION) is is_wrong
    assert is_wrong or verdict.error_type is ErrorType.RESPONSE


@pytest.mark.parametrize(
    ("gold", "answer", "is_wrong"), [("Friday", "On Tuesdays.", True), ("Tuesday", "On Fridays.", False)]
)
async def test_one_sentence_tells_of_two_things(embedded: Database, gold: str, answer: str, is_wrong: bool) -> None:
    said = "Fixed dates: choir practice is on Tuesdays, chess every second Friday."
    told = talk(("halla", said), ("halla", OTHER))
    verdict, _ = await verdict_on(
        embedded, told, told.ask("When is choir practice?", gold, answer, [told.store(0, said)])
    )
    assert (verdict.error_type is ErrorType.ANNOTATION) is is_wrong


async def test_a_clause_without_a_thing_of_its_own_goes_on_about_the_same(embedded: Database) -> None:
    said = "Fixed dates: choir practice is on Tuesdays, and on Fridays, too."
    told = talk(("halla", said), ("halla", OTHER))
    failure = told.ask("When is choir practice?", "Friday", "On Tuesdays.", [told.store(0, said)])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is not ErrorType.ANNOTATION


async def test_a_comma_in_a_number_makes_no_list(embedded: Database) -> None:
    assert listed_items("5,900 crowns a year, and 1,5 sacks") == ["5,900 crowns a year", "1,5 sacks"]
    assert listed_items("3, 4 and 5") == ["3", "4", "5"]
    said = ("We lease the field from the parish for 5,900 crowns a year.", "The parish gave us 6 more gates.")
    told = talk(*(("halla", one) for one in said))
    units = [told.store(number, one, key=f"unit{number}") for number, one in enumerate(said)]
    failure = told.ask("How much do we pay the parish?", "6,400 crowns a year", "5,900 crowns a year", units)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION


@pytest.mark.parametrize("messages", [(), ("I packed the blue rucksack.",)])
@pytest.mark.parametrize(
    ("news", "is_doubted"),
    [("The agency rebooked us: now the Bell Inn.", True), ("The Bell Inn has a skittle alley.", False)],
)
async def test_a_model_that_was_told_of_a_change_may_have_left_out_what_no_longer_holds(
    embedded: Database, news: str, is_doubted: bool, messages: tuple[str, ...]
) -> None:
    story = Story.of("rules", *messages, name=f"summary {is_doubted}")
    old = story.trace.variable("old", "We sleep at the Crane House.", kind=VariableKind.PROMPT)
    told = story.trace.variable("news", f"Summary: We sleep at the Crane House.\n{news}", kind=VariableKind.PROMPT)
    (summary,) = story.step(
        "sum", OperationKind.GENERATION, [old, told], ("sum", "The Bell Inn.", VariableKind.RESPONSE)
    )
    query = story.trace.variable("question", "Where do we sleep?", kind=VariableKind.QUERY)
    (prompt,) = story.step("write", OperationKind.OTHER, [query, summary], ("p", "The Bell Inn.", VariableKind.PROMPT))
    (answer,) = story.step("chat", OperationKind.GENERATION, [prompt], ("a", "At the Bell Inn.", VariableKind.ANSWER))
    failure = story.trace.failure(query, answer, gold_answers=("At the Crane House",))
    verdict, blamed = await verdict_on(embedded, story, failure)
    assert blamed == "sum"
    assert verdict.error_type is (ErrorType.UPDATE if messages else ErrorType.RESPONSE)
    assert ("out of date" in verdict.reason) is is_doubted
    assert verdict.confidence < SURE or not is_doubted
