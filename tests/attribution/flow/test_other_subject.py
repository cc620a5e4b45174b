"""A gold answer that is told of another person is wrong if messages tell the given answer of the asked person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from schema.kinds import DerivationKind, ErrorType, OperationKind, VariableKind
from schema.models import Variable
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('subject') / 'subject.db'}") as opened:
        yield opened


BOAT = ("Uta", "Letzte Woche habe ich mein Ruderboot rot lackiert.")


async def test_the_asked_speaker_tells_the_given_answer(embedded: Database) -> None:
    told = talk(BOAT, ("Jan", "Hübsch! Mein Ruderboot bleibt blau."))
    units = [told.store(0, BOAT[1]), told.store(1, "Jan: Mein Ruderboot bleibt blau.", key="second")]
    failure = told.ask("Welche Farbe hat Jans Ruderboot?", "rot", "Jans Ruderboot ist blau.", units)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION
    assert verdict.path[0].quote == BOAT[1]


async def test_the_asked_speaker_may_have_said_both(embedded: Database) -> None:
    told = talk(("Jan", "Letzte Woche habe ich mein Ruderboot rot lackiert."), ("Uta", "Mein Ruderboot bleibt blau."))
    units = [told.store(0, "Jan hat sein Ruderboot rot lackiert."), told.store(1, "Utas Ruderboot ist blau.", key="b")]
    failure = told.ask("Welche Farbe hat Jans Ruderboot?", "rot", "Jans Ruderboot ist blau.", units)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


@pytest.mark.parametrize(
    ("said", "error_type"),
    [
        ("The mast of my dinghy broke, and the mending cost 310 crowns.", ErrorType.ANNOTATION),
        ("My dinghy broke, and the mending cost 310 crowns.", ErrorType.RESPONSE),  # of what, nobody says
    ],
)
async def test_the_gold_answer_is_told_of_another_thing_of_another_speaker(
    embedded: Database, said: str, error_type: ErrorType
) -> None:
    told = talk(("Uta", "I paid 45 crowns for a lantern."), ("Jan", said))
    units = [told.store(0, "Uta paid 45 crowns for a lantern."), told.store(1, f"Jan: {said}", key="second")]
    question = "What did the mending of the mast of Jan's dinghy cost?"
    failure = told.ask(question, "45 crowns", "It cost 310 crowns.", units)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is error_type


async def test_a_count_is_told_of_the_asked_speaker(embedded: Database) -> None:
    told = talk(("Uta", "I passed the sailing exam with 91 points."), ("Jan", "I only had 67 in my day."))
    units = [told.store(0, "Uta passed the sailing exam with 91 points.")]
    told.store(1, "Jan only had 67 in his day.", key="second")
    failure = told.ask("How many points did Uta get in the sailing exam?", "67", "91 points.", units, 1)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION


OWN, OTHER = "Berta bakes rye bread in her kitchen.", "Carlo bakes almond cakes in his kitchen."


@pytest.mark.parametrize("evidence", [0, None])
async def test_two_sentences_differ_in_the_name(embedded: Database, evidence: int | None) -> None:
    told = Story.of("rules", OWN, OTHER, name=f"bakers {evidence}")
    units = [told.store(0, OWN), told.store(1, OTHER, key="second")]
    failure = told.ask("What does Berta bake in her kitchen?", "almond cakes", "Rye bread.", units[:1], evidence)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION
    assert verdict.path[0].quote == OTHER


async def test_the_answer_took_the_other_persons_value(embedded: Database) -> None:
    told = Story.of("rules", OWN, OTHER, name="bakers swapped")
    units = [told.store(0, OWN), told.store(1, OTHER, key="second")]
    failure = told.ask("What does Carlo bake in his kitchen?", "almond cakes", "Rye bread.", units, 1)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_without_a_gold_answer_an_answer_takes_another_speakers_thing(embedded: Database) -> None:
    told = talk(("Uta", "My ferret is called Mango."), ("Jan", "Give it some water."))
    failure = told.ask("What is Jan's ferret called?", "", "Mango", [told.store(0, "Uta's ferret is called Mango.")])
    verdict, blamed = await verdict_on(embedded, told, replace(failure, gold_answers=()))
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_a_date_without_a_year_is_found(embedded: Database) -> None:
    said = ["Kim's flight leaves on 4 May at noon.", "Kim's cousin Noor flies on 14 May in the evening."]
    told = Story.of("rules", *said, name="flights")
    unit = told.store(0, "Kim's flight leaves on 14 May.")
    failure = told.ask("When does Kim's flight leave?", "4 May", "On 14 May.", [unit], None)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.EXTRACTION, "extract-unit")
    assert verdict.path[0].quote == said[0]


def _history(told: Story) -> Variable:
    """A history with the first message."""
    trace = told.trace
    kept = trace.operation("append", kind=OperationKind.UPDATE)
    whole = trace.variable("history-1", trace.text(told.evidence[0]), by=kept, kind=VariableKind.BUFFER, name="history")
    trace.use(kept, told.evidence[0])
    trace.derive(whole, told.evidence[0], by=kept)
    return whole


@pytest.mark.parametrize("is_connected", [True, False])
async def test_what_the_memory_told_goes_before_a_cut_history(embedded: Database, is_connected: bool) -> None:
    said = "The Olsen family books a tent for six people."
    told = Story.of("rules", said, "The Berg family books a hut.", name=f"camp {is_connected}")
    whole = _history(told)
    unit = told.store(0 if is_connected else 1, "The Olsen family books a tent for two people.")
    trace = told.trace
    cut = trace.operation("trim history", kind=OperationKind.DELETION)
    question = "For how many people is the tent of the Olsen family?"
    query = trace.variable("question", question, kind=VariableKind.QUERY)
    short = trace.variable(
        "history-2", question, by=cut, kind=VariableKind.BUFFER, name="history", version=2, revision_of=whole.id
    )
    trace.use(cut, whole, query)
    trace.derive(short, whole, query, by=cut)
    search = trace.operation("search", kind=OperationKind.RETRIEVAL)
    read = trace.variable("unit read", trace.text(unit), by=search, name=unit.name, version=unit.version, occurrence=1)
    trace.use(search, query, unit)
    trace.derive(read, unit, by=search, kind=DerivationKind.READ)
    trace.derive(read, query, by=search)
    reply = trace.operation("reply", kind=OperationKind.GENERATION)
    answer = trace.variable("answer", "For two people.", by=reply, kind=VariableKind.ANSWER)
    trace.use(reply, query, short, read)
    trace.derive(answer, query, short, read, by=reply)
    failure = trace.failure(query, answer, gold_answers=("six people",), evidence_ids=(told.evidence[0].id,))
    verdict, blamed = await verdict_on(embedded, told, failure)
    if is_connected:
        assert (verdict.error_type, blamed) == (ErrorType.EXTRACTION, "extract-unit")
    else:
        assert verdict.error_type is None
        assert "two people" in verdict.reason


@pytest.mark.parametrize(
    ("said", "fact", "blamed"),
    [
        # Only Uta has a bill of 74: the unit gave it to Jan.
        ("My heating bill rose to 74 pounds.", "Jan's heating bill rose to 74 pounds.", "extract-second"),
        # Uta may speak of Jan's bill.
        ("I saw that your heating bill rose to 74 pounds.", "Jan's heating bill rose to 74 pounds.", "reply"),
        ("I saw it: Jan's heating bill rose to 74 pounds.", "Jan's heating bill rose to 74 pounds.", "reply"),
        # The unit is right, and the answer took the other person's bill.
        ("My heating bill rose to 74 pounds.", "Uta's heating bill rose to 74 pounds.", "reply"),
    ],
)
async def test_a_unit_that_gives_one_persons_bill_to_another_misleads_the_answer(
    embedded: Database, said: str, fact: str, blamed: str
) -> None:
    told = talk(("Jan", "My heating bill is 69 pounds, and the flat is cold."), ("Uta", said))
    units = [told.store(0, "Jan pays 69 pounds for a cold flat."), told.store(1, fact, key="second")]
    failure = told.ask("How much is Jan's heating bill?", "69 pounds", "74 pounds", units)
    verdict, found = await verdict_on(embedded, told, failure)
    kind = ErrorType.RESPONSE if blamed == "reply" else ErrorType.EXTRACTION
    assert (verdict.error_type, found) == (kind, blamed)


async def test_who_speaks_of_themselves_in_polish_needs_no_pronoun(embedded: Database) -> None:
    told = talk(("Jagna", "Sprzedaję miód po 45 złotych za słoik."), ("Wit", "Kupuję ogrodzenie za 940 złotych."))
    units = [
        told.store(0, "Jagna: miód po 45 złotych za słoik."),
        told.store(1, "Wit: ogrodzenie za 940 złotych.", key="b"),
    ]
    failure = told.ask("Za ile Wit kupuje ogrodzenie?", "45 złotych", "Za 940 złotych.", units)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION
