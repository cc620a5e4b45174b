"""Dates count from the times of messages; a relative date alone is none; gold answers are dismissed on proof only."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
import pytest_asyncio

from attribution.needed.content import content
from attribution.needed.gold_agreement import agreement
from attribution.text.dates import without_relative_dates
from attribution.text.segments import passage
from schema.kinds import DerivationKind, ErrorType, OperationKind, VariableKind
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import verdict_on
from tests.factory import TraceBuilder

TIME = "2026-03-23T09:00:00+00:00"
OTHER = "The harbour crane broke down twice."
PAINTED = "I still have the bowl that a friend painted by hand; it reminds me of art and of the sea."


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('premises') / 'premises.db'}") as opened:
        yield opened


def talk(*said: tuple[str, str], time: str | None = TIME) -> Story:
    """Messages whose speakers and time stand beside the texts, as ``memtrace evaluate`` records them."""
    trace = TraceBuilder("rules", f"talk {said} {time}"[:60])
    trace.session("talk")
    messages = []
    for number, (name, text) in enumerate(said):
        about: dict[str, Any] = {"speaker": name, **({"time": time} if time else {})}
        said_at = json.dumps(about)
        messages.append(trace.variable(f"message-{number}", text, kind=VariableKind.MESSAGE, attributes=said_at))
    return Story(trace, messages)


BUNGALOW = ("Ada", "We moved into the bungalow two days ago.")


async def test_a_unit_without_its_date_lost_it(embedded: Database) -> None:
    told = talk(BUNGALOW, ("Ben", OTHER))
    unit = told.store(0, "Ada moved into the bungalow two days ago.")
    failure = told.ask("When did Ada move into the bungalow?", "21 March 2026", "Two days ago", [unit])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.EXTRACTION, "extract-unit")


@pytest.mark.parametrize(
    "fact",
    [
        "Ada moved into the bungalow on 21 March 2026.",
        "2026-03-23 09:00 Ada: moved two days ago",
        "23.03.2026 Ada: We moved into the bungalow two days ago.",
        "23 March 2026 Ada Lund: We moved into the bungalow two days ago.",
    ],
)
async def test_an_answer_that_had_the_date_and_repeats_the_relative_one_is_at_fault(
    embedded: Database, fact: str
) -> None:
    told = talk(BUNGALOW, ("Ben", OTHER))
    failure = told.ask("When did Ada move into the bungalow?", "21 March 2026", "Two days ago", [told.store(0, fact)])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        (
            "Unsere Fähre liegt seit Donnerstag im Trockendock.",
            "Seit wann liegt die Fähre im Trockendock?",
            "Seit Donnerstag",
        ),
        ("El transbordador está en el dique desde el jueves.", "¿Desde cuándo está en el dique?", "Desde el jueves"),
    ],
)
async def test_a_weekday_without_its_week_does_not_contradict_the_gold_answer(
    embedded: Database, said: str, question: str, answer: str
) -> None:
    told = talk(("Ada", said), *(("Ben", f"{word} {OTHER}") for word in ["Azure", "Beige", "Cyan", "Denim", "Ecru"]))
    failure = told.ask(question, "19.03.2026", answer, [told.store(0, f"(2026-03-23 09:00) {said}")])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


@pytest.mark.parametrize(("golds", "is_right"), [((), False), (("melons",), True), (("the bridge", "bridge"), False)])
async def test_an_answer_that_says_one_of_the_gold_answers_is_right(
    embedded: Database, golds: tuple[str, ...], is_right: bool
) -> None:
    said = "The bridge was shut because a lorry full of melons had tipped over."
    told = talk(("Ada", said), ("Ben", OTHER))
    first = "On account of an overturned lorry, whose load of melons rolled away"
    failure = told.ask("Why was the bridge shut?", first, "The bridge was shut by melons.", [told.store(0, said)])
    failure = replace(failure, gold_answers=(first, *golds))
    verdict, _ = await verdict_on(embedded, told, failure)
    assert (verdict.error_type is ErrorType.JUDGE) is is_right


def test_relative_dates_agree_only_with_the_same_days() -> None:
    def recall(gold: str, answer: str) -> bool:
        found = agreement(content(gold, lambda _: 1.0), answer, [gold])  # type: ignore[arg-type]
        return not found.conflicts and found.recall > 0.5

    assert recall("A year ago", "a year ago")
    assert recall("A year ago", "one year ago")
    assert not recall("A year ago", "Two days ago.")
    assert not recall("21 March 2026", "two days ago")
    assert recall("21 March 2026", "on March 21")


def test_words_beside_a_relative_date_stay() -> None:
    assert without_relative_dates("Last year, in Ghent.").split() == [",", "in", "Ghent."]


async def test_a_thing_of_another_person_is_an_error_of_the_question(embedded: Database) -> None:
    told = talk(("Ada", PAINTED), ("Ben", OTHER))
    failure = told.ask(
        "What is Ben's hand-painted bowl a reminder of?",
        "art and the sea",
        "Ben has no bowl.",
        [told.store(0, PAINTED)],
    )
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION
    assert verdict.path[0].quote.startswith("I still have the bowl")


async def test_both_may_have_such_a_thing(embedded: Database) -> None:
    told = talk(("Ada", PAINTED), ("Ben", "My hand-painted bowl stands in the kitchen."))
    failure = told.ask(
        "What is Ben's hand-painted bowl a reminder of?", "art and the sea", "Nothing.", [told.store(0, PAINTED)]
    )
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is not ErrorType.ANNOTATION


HURT = "Last month I slipped and had to pause the pottery course."


@pytest.mark.parametrize(
    ("answer", "wrong"), [("That was in February 2026.", True), ("The notes do not mention this.", False)]
)
async def test_another_month_is_an_error_of_the_question_if_the_answer_names_it(
    embedded: Database, answer: str, wrong: bool
) -> None:
    told = talk(("Ada", HURT), ("Ben", OTHER))
    gold = "She slipped and had to pause the pottery course."
    failure = told.ask("What went wrong for Ada in March 2026?", gold, answer, [told.store(0, "Ada is well.")])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert (verdict.error_type is ErrorType.ANNOTATION) is wrong


async def test_no_message_can_tell_of_what_came_after_all_of_them(embedded: Database) -> None:
    told = talk(("Ada", "My uncle repairs clocks."), ("Ben", OTHER))
    unit = told.store(0, "Ada's uncle repairs clocks.")
    failure = told.ask("Where did Ada spend October 2026?", "Lisbon", "With clocks", [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION
    planned = talk(("Ada", "In October 2026 I will be in Lisbon."), ("Ben", OTHER))
    failure = planned.ask("Where did Ada spend October 2026?", "Lisbon", "At home", [planned.store(0, "Ada travels.")])
    verdict, _ = await verdict_on(embedded, planned, failure)
    assert verdict.error_type is ErrorType.EXTRACTION


async def test_a_place_inside_the_gold_answers_place_is_the_answers_fault(embedded: Database) -> None:
    said = "I bought the lamp at a market in Ghent."
    told = talk(("Ada", said), ("Ben", OTHER))
    failure = told.ask("In which country did Ada buy the lamp?", "Belgium", "Ghent", [told.store(0, "Lamp from Ghent")])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_a_step_that_hands_the_reply_out_did_not_answer(embedded: Database) -> None:
    told = talk(("Ada", "My parrot is called Humboldt."), ("Ben", OTHER))
    failure = told.ask("What is the parrot called?", "I do not know.", "Rex", [told.store(0, "Ada has a parrot.")])
    reply = next(one for one in told.trace.variables if one.id == failure.answer_id)
    handing = told.trace.operation("hand out", kind=OperationKind.OTHER)
    given = told.trace.variable("given", "Rex", by=handing, kind=VariableKind.ANSWER)
    told.trace.use(handing, reply)
    told.trace.derive(given, reply, by=handing, kind=DerivationKind.DERIVATION)
    further = replace(failure, answer_id=given.id)
    verdict, blamed = await verdict_on(embedded, told, further)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


OPENED = ("Ada", "My shop for old maps is open!")


async def test_the_day_of_a_message_is_a_date_that_a_unit_may_lose(embedded: Database) -> None:
    told = talk(OPENED, ("Ben", OTHER))
    question, gold = "When did Ada open the shop for old maps?", "23 March 2026"
    failure = told.ask(question, gold, "I do not know.", [told.store(0, "Ada's shop for old maps is open.")])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.EXTRACTION, "extract-unit")


async def test_the_day_of_a_message_may_stand_before_the_unit(embedded: Database) -> None:
    told = talk(OPENED, ("Ben", OTHER), time="2026-03-23T10:00:00+00:00")
    question, gold = "When did Ada open the shop for old maps?", "23 March 2026"
    unit = told.store(0, "Ada (2026-03-23 10:00): My shop for old maps is open!")
    verdict, blamed = await verdict_on(embedded, told, told.ask(question, gold, "I do not know.", [unit]))
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


LEARNT = "I am keen on counselling and on the health of the mind."


@pytest.mark.parametrize(
    ("gold", "elsewhere", "wrong"),
    [("Psychology, counselling degree", OTHER, False), ("violin making", "Violin making is my sister's trade.", True)],
)
async def test_a_gold_answer_in_other_words_is_not_wrong(
    embedded: Database, gold: str, elsewhere: str, wrong: bool
) -> None:
    told = talk(("Ada", LEARNT), ("Ben", elsewhere), time=f"2026-0{len(gold) % 9 + 1}-01T09:00:00+00:00")
    failure = told.ask("Which field attracts Ada?", gold, "Counselling, health of the mind", [told.store(0, LEARNT)])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert (verdict.error_type is ErrorType.ANNOTATION) is wrong


@pytest.mark.parametrize("answer", ["Over the weekend prior to July 17.", "On the weekend before the 17th of July"])
def test_a_date_that_counts_from_a_named_date_needs_no_day_of_its_own(answer: str) -> None:
    gold = "The weekend before 17 July 2023"
    found = agreement(content(gold, lambda _: 1.0), answer, [gold])  # type: ignore[arg-type]
    assert found.recall > 0.5
    assert not found.conflicts


async def test_an_answer_that_says_whose_thing_it_is_corrects_the_question(embedded: Database) -> None:
    told = talk(("Inés", "Ayer compré una canoa que se llama Garza."), ("Tomás", "Yo sigo con el coro."))
    unit = told.store(0, "Inés compró una canoa que se llama Garza.")
    answer = "Tomás no tiene ninguna canoa; Garza es la canoa de Inés."
    verdict, _ = await verdict_on(
        embedded, told, told.ask("¿Cómo se llama la canoa de Tomás?", "Garza", answer, [unit])
    )
    assert verdict.error_type is ErrorType.ANNOTATION
    assert verdict.path[0].quote.startswith("Ayer compré")


@pytest.mark.parametrize(
    ("other", "answer"),
    [
        ("Mi canoa se llama Garza, también.", "Tomás no tiene ninguna canoa; Garza es la canoa de Inés."),
        ("Yo sigo con el coro.", "No lo sé, Tomás."),
    ],
)
async def test_the_question_stays_right_where_the_other_has_such_a_thing_or_nobody_is_named(
    embedded: Database, other: str, answer: str
) -> None:
    told = talk(("Inés", "Ayer compré una canoa que se llama Garza."), ("Tomás", other), time=f"2026-01-{len(other)}")
    unit = told.store(0, "Inés compró una canoa que se llama Garza.")
    verdict, _ = await verdict_on(
        embedded, told, told.ask("¿Cómo se llama la canoa de Tomás?", "Garza", answer, [unit])
    )
    assert verdict.error_type is ErrorType.RESPONSE


@pytest.mark.parametrize(
    ("later", "question", "outdated"),
    [
        ("The fee of the climbing hall went up: it is 52 euros now.", "What is the fee of the climbing hall?", True),
        ("The fee of the climbing hall: 52 euros.", "What is the current fee of the climbing hall?", True),
        ("Die Gebühr der Kletterhalle beträgt jetzt 52 Euro.", "Wie hoch ist die Gebühr der Kletterhalle?", True),
        ("The fee of the climbing hall was 52 euros for my guest.", "What is the fee of the climbing hall?", False),
        (
            "Nach dem neuen Plan ist die Gebühr der Kletterhalle 52 Euro.",
            "Wie hoch ist die Gebühr der Kletterhalle?",
            True,
        ),
        ("My sister pays a fee of 52 euros for the climbing hall now.", "What is the fee of the climbing hall?", False),
    ],
)
async def test_a_later_message_tells_what_has_changed(
    embedded: Database, later: str, question: str, outdated: bool
) -> None:
    german = question.startswith("Wie")
    first = "Die Gebühr der Kletterhalle beträgt 38 Euro." if german else "The fee of the climbing hall is 38 euros."
    told = talk(("user", first), ("user", later))
    units = [told.store(0, first), told.store(1, later, key="later")]
    verdict, _ = await verdict_on(embedded, told, told.ask(question, "38 euros", "52 euros", units))
    assert (verdict.error_type is ErrorType.ANNOTATION) is outdated
    assert not outdated or verdict.path[0].quote == later


@pytest.mark.parametrize(
    ("later", "outdated"),
    [("수영장 요금이 올라서 이제 오만 원이에요.", True), ("친구는 이제 모자에 오만 원을 냈어요.", False)],
)
async def test_a_later_message_in_korean_tells_what_has_changed(embedded: Database, later: str, outdated: bool) -> None:
    first = "수영장 요금은 삼만 원이에요."
    told = talk(("user", first), ("user", later), time=f"2026-02-{10 + outdated}")
    units = [told.store(0, first), told.store(1, later, key="later")]
    asked = told.ask("수영장 요금은 얼마예요?", "삼만 원", "오만 원이에요.", units)
    verdict, _ = await verdict_on(embedded, told, asked)
    assert verdict.error_type is (ErrorType.ANNOTATION if outdated else ErrorType.RESPONSE)
    assert not outdated or verdict.path[0].quote == later


@pytest.mark.parametrize(("gold", "is_outdated"), [("16", True), ("38", False)])
async def test_of_two_messages_that_are_the_evidence_the_later_one_may_tell_what_has_changed(
    embedded: Database, gold: str, is_outdated: bool
) -> None:
    told = talk(("user", "The inn has 16 chairs."), ("user", "The inn now has 22 chairs more."))
    units = [told.store(0, "The inn has 16 chairs."), told.store(1, "The inn now has 22 chairs more.", key="later")]
    failure = told.ask("How many chairs does the inn have?", gold, "22 chairs", units)
    both = replace(failure, evidence_ids=tuple(one.id for one in told.evidence))
    verdict, _ = await verdict_on(embedded, told, both)
    assert (verdict.error_type is ErrorType.ANNOTATION) is is_outdated


def test_a_date_in_brackets_before_a_text_is_the_day_of_the_text() -> None:
    def days(text: str) -> list[tuple[str, str]]:
        placed = passage(text)
        told = [
            (one.reference, days) for one in placed for said in one.sentence.dates if (days := said.on(one.reference))
        ]
        return [(str(date.fromordinal(day or 1)), str(date.fromordinal(days.first))) for day, days in told]

    assert days("[09/03/2026] Inés: Ayer compré una canoa.") == [("2026-03-09", "2026-03-08")]
    assert days("(2026-03-09) Ann: we moved yesterday.") == [("2026-03-09", "2026-03-08")]
    assert days("We ate on 25/12/2025 at home.") == [("0001-01-01", "2025-12-25")]
    assert days("[9 March 2026]") == [("0001-01-01", "2026-03-09")]
    notes = "Friends said:\nAnn (2026-03-09 10:00): Rain. We moved yesterday.\nBo (2026-05-20 10:00): I sing today."
    assert days(notes) == [("2026-03-09", "2026-03-08"), ("2026-05-20", "2026-05-20")]
    logged = "Log:\nWe moved yesterday. (2026-03-09 10:00)\nI bought a canoe and a tent today. (2026-05-20 10:00)"
    assert days(logged) == [("2026-03-09", "2026-03-08"), ("2026-05-20", "2026-05-20")]


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [
        ("Saturday at 14:30", "On Saturday at 16:30.", False),
        ("at 2:30 pm", "At 14:30.", True),
        ("at 9 am", "At 9 pm.", False),
        ("a ratio of 3:1", "A ratio of 3:1.", True),
    ],
)
def test_times_of_day_agree_only_if_they_are_the_same(gold: str, answer: str, same: bool) -> None:
    found = agreement(content(gold, lambda _: 1.0), answer, [gold])  # type: ignore[arg-type]
    assert found.conflicts is not same


@pytest.mark.parametrize(
    ("later", "outdated"),
    [
        ("Les répétitions du choeur passent au samedi.", True),
        ("Samedi, les répétitions du choeur étaient gaies.", False),
    ],
)
async def test_a_later_message_tells_another_day_of_the_week(embedded: Database, later: str, outdated: bool) -> None:
    first = "Les répétitions du choeur sont le lundi."
    told = talk(("user", first), ("user", later), time=f"2026-03-{10 + outdated}")
    units = [told.store(0, first), told.store(1, later, key="later")]
    asked = told.ask("Quel jour sont les répétitions du choeur ?", "lundi", "Le samedi.", units)
    verdict, _ = await verdict_on(embedded, told, asked)
    assert verdict.error_type is (ErrorType.ANNOTATION if outdated else ErrorType.RESPONSE)


async def test_a_later_message_about_somebody_else_changes_nothing(embedded: Database) -> None:
    first, later = "The fee for Ilka is 38 euros.", "The fee for Bruno is 52 euros now."
    told = talk(("user", first), ("user", later))
    units = [told.store(0, first), told.store(1, later, key="later")]
    verdict, _ = await verdict_on(embedded, told, told.ask("What is the fee for Ilka?", "38 euros", "52 euros", units))
    assert verdict.error_type is ErrorType.RESPONSE


async def test_a_number_beside_the_evidence_is_no_evidence(embedded: Database) -> None:
    first, other = "Edda brought my kayak back today.", "Soup keeps for about three weeks in the ice box."
    told = talk(("user", first), ("user", other))
    units = [told.store(0, first), told.store(1, other, key="other")]
    question = "How many weeks ago did Edda bring my kayak back?"
    verdict, _ = await verdict_on(embedded, told, told.ask(question, "3 weeks ago", "1 week ago", units[:1]))
    assert verdict.error_type is ErrorType.RESPONSE


async def test_a_count_is_made_of_what_was_found(embedded: Database) -> None:
    said = ("I adopted a beagle and a pug.", "A dachshund moved in with us, too.", "We took in a whippet as well.")
    told = talk(*(("user", one) for one in said))
    units = [told.store(number, one, key=f"unit{number}") for number, one in enumerate(said)]
    asked = told.ask("How many dogs do I have?", "4", "You have 3 dogs.", units[:2])
    asked = replace(asked, evidence_ids=tuple(one.id for one in told.evidence))
    verdict, blamed = await verdict_on(embedded, told, asked)
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")
