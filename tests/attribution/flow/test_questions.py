"""What kind of question it is, told by its form, and what follows for the verdict."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from attribution.needed.question import QuestionForm, asks_for_number, asks_for_time, form, polarity, question_kind
from attribution.text.refusals import refuses
from attribution.verdicts.verdict import Method, from_attribution, to_attribution
from schema.kinds import ErrorType, OperationKind, Origin, QuestionKind, VariableKind
from schema.models import Failure
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import GOLD, KNOWN, MORE, OTHER, QUESTION, SAID, retrieval, story, verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('forms') / 'forms.db'}") as opened:
        yield opened


def asked(question: str, *golds: str) -> Failure:
    return Failure("f", "p", "t", Origin.ANNOTATION, "q", None, None, (), question, "so", golds, None)


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "Sorry, I don't know the answer to this.",
        "It is not mentioned in the conversation.",
        "Unknown",
        "You did not mention this information.",
        "There is no information about it.",
        "Nothing you shared was about a parrot; you only talked about your tortoise.",
        "I only know about your canoe, not about any kayak.",
        "Du hast mir nur von der Ziege erzählt, nie von einem Esel.",
        "Você só me falou da cabra, nunca de um burro.",
        "Solo me has hablado de la cabra, nunca de un burro.",
        "Tu ne m'as parlé que de la chèvre, jamais d'un âne.",
        "Mi hai parlato solo della capra, mai di un asino.",
        "No kayak of yours has come up; the canoe is your sister's.",
        "No parrot was ever mentioned.",
        "Von einem Esel war nie die Rede.",
        "Das ist nicht bekannt.",
        "Dazu gibt es keine Angaben.",
        "Dazu kann ich keine Auskunft geben.",
        "Ich bin nicht in der Lage, Angaben zu dem Esel zu machen.",
        "I'm unable to give any details of your kayak.",
        "I am not able to offer information on a donkey.",
        "No puedo dar información sobre el burro.",
        "No soy capaz de responder.",
        "Não sou capaz de dar dados sobre o burro.",
        "Non sono in grado di dare dettagli sull'asino.",
        "Non posso rispondere.",
        "Je ne suis pas en mesure de répondre.",
        "Je ne peux pas donner d'informations sur l'âne.",
        "Ik kan helaas geen informatie over de ezel geven.",
        "Dat weet ik niet.",
        "Het is niet bekend.",
        "De leeftijd van de ezel wordt niet vermeld.",
        "Daar is niets over gezegd.",
        "不知道",
        "对话中没有提到。",
        "Det har jeg dessverre ikke noe minne om.",
        "Det ved jeg ikke.",
        "Det finns ingen anteckning om det.",
        "Nie mam informacji o tym.",
        "To nevím.",
        "V kartách o zástěře nic není.",
        "Не відомо, коли це буде.",
        "Nem tudom.",
        "Nu știu.",
        "Δεν ξέρω πότε είναι.",
        "Saya tidak tahu.",
        "Tôi không biết.",
        "אני לא יודע",
        "نمی‌دانم",
        "En tiedä.",
    ],
)
def test_refusals(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "No herring was used.",
        "No boats are allowed there.",
        "Humboldt",
        "She does not like herring.",
        "No",
        "六月",
        "Ela só fala francês, não alemão.",
        "Solo tè, mai caffè.",
        "She was not able to give a lecture on herring.",
        "Non sono in grado di remare giovedì.",
        "No puedo dar de comer al burro.",
        "Ze houdt niet van haring.",
        "De ezel kan niet zwemmen.",
        "Han har ingen kjæledyr.",
        "Nie lubi kawy.",
        "Nemá rád kávu.",
        "Nu îi place cafeaua.",
        "Hon äter inte nötter.",
        "Δεν τρώει κρέας.",
    ],
)
def test_answers_are_no_refusals(text: str) -> None:
    assert not refuses(text)


@pytest.mark.parametrize(
    ("text", "is_refusal"),
    [
        ("I don't know " + "so " * 36, True),
        ("I don't know " + "so " * 37, True),
        ("I don't know " + "so " * 38, False),
        ("不知道" + "好" * 77, True),
        ("不知道" + "好" * 78, False),
    ],
)
def test_a_refusal_has_at_most_forty_words(text: str, is_refusal: bool) -> None:
    assert refuses(text) is is_refusal


def test_forms() -> None:
    assert form(asked("Who fed the parrot?", "I do not know")) is QuestionForm.UNANSWERABLE
    assert form(asked("Who fed the parrot?", "")) is QuestionForm.UNANSWERABLE
    assert form(asked("Would Ada enjoy a sailing trip?", "Yes, she loves the sea")) is QuestionForm.INFERRED
    assert form(asked("How many boats does Ada own?", "3")) is QuestionForm.JOINED
    assert form(asked("And then?", "Right.\n\nAs we agreed, the hull comes first.")) is QuestionForm.CONVERSATIONAL
    assert form(asked("What is the parrot called?", "Humboldt")) is QuestionForm.PLAIN


def test_words_that_infer_in_english_only() -> None:
    assert form(asked("Was the dog happy?", "with the ball")) is QuestionForm.INFERRED
    assert form(asked("Was kosten die Karten für das Boot?", "20 Euro")) is QuestionForm.PLAIN
    assert form(asked("Was hat Ada wahrscheinlich gekauft?", "ein Boot")) is QuestionForm.INFERRED
    short = asked("Was leiht mir Steffens?", "den Anhänger")
    assert form(replace(short, prediction="Das ist das Lastenrad.")) is QuestionForm.PLAIN
    assert form(replace(short, gold_answers=("a trailer",), prediction="a bike")) is QuestionForm.INFERRED


def test_yes_and_no() -> None:
    told = {"Yes, she did": True, "Likely no; it went badly": False, "No": False, "No longer": None, "Humboldt": None}
    assert {text: polarity(text) for text in told} == told


def test_yes_and_no_in_other_languages() -> None:
    told = {"Oui, deux": True, "Sim.": True, "Sí": True, "Non, plus": False, "Não, vendeu": False, "Нет": False}
    others = {"Non-alcoholic beer": None, "SIM card": None, "Si llueve": None, "No-bake cake": None}
    assert {text: polarity(text) for text in told | others} == told | others
    assert form(asked("Léa a-t-elle une barque ?", "Non, elle l'a vendue", "Non")) is QuestionForm.INFERRED


@pytest.mark.parametrize(
    ("question", "is_time", "is_number"),
    [
        ("Since when has Ada sailed?", True, False),
        ("Seit wann segelt Ada?", True, False),
        ("Quand Ada est-elle partie ?", True, False),
        ("¿Cuándo se fue Ada?", True, False),
        ("Quando partiu a Ada?", True, False),
        ("How old is Ada?", False, True),
        ("Wie viele Boote hat Ada?", False, True),
        ("Combien coûte la barque ?", False, True),
        ("¿Cuántas barcas tiene?", False, True),
        ("How did Ada sail?", False, False),
        ("Quanto a Ada, que barco ela tem?", False, False),
        ("Who was there when Ada left?", False, False),
    ],
)
def test_questions_for_times_and_numbers(question: str, *, is_time: bool, is_number: bool) -> None:
    assert (asks_for_time(question), asks_for_number(question)) == (is_time, is_number)


async def test_an_answer_to_what_nobody_knows_is_the_answering_operations_fault(embedded: Database) -> None:
    told = story()
    failure = told.ask("What is the cat called?", "Sorry, I don't know.", "Humboldt", [told.store(0, KNOWN)])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")
    assert [step.variable_id for step in verdict.path][-1] == failure.answer_id


async def test_who_refuses_what_nobody_knows_is_right(embedded: Database) -> None:
    told = story()
    failure = told.ask("What is the cat called?", "Not mentioned", "That was not mentioned.", [told.store(0, KNOWN)])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.JUDGE, "judge")


@pytest.mark.parametrize(
    ("gold", "answer"),
    [("a green scarf", "a blue scarf"), ("a vegetarian stew", "a vegan stew"), ("his brother", "his sister")],
)
async def test_another_member_of_a_class_is_no_right_answer(embedded: Database, gold: str, answer: str) -> None:
    told = Story.of("rules", f"For my birthday I was given {gold} at last.", OTHER, MORE)
    failure = told.ask("What was the present?", gold, answer, [told.store(0, f"The present was {gold}.")])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_yes_is_right_where_the_gold_answer_begins_with_it(embedded: Database) -> None:
    told = story()
    failure = told.ask("Does the family keep a bird?", "Yes, a parrot", "Yes.", [told.store(0, KNOWN)])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.JUDGE


@pytest.mark.parametrize("other", ["3:10", "10 past three hours"])
async def test_an_answer_that_contradicts_a_gold_answer_is_not_right_by_another(embedded: Database, other: str) -> None:
    fact = "The row around the island took three hours and ten minutes."
    told = Story.of("rules", fact, OTHER, MORE)
    answer = "It was three hours and three minutes plus ten."
    failure = told.ask("How long was the row?", "Three hours and ten minutes", answer, [told.store(0, fact)])
    verdict, blamed = await verdict_on(embedded, told, replace(failure, gold_answers=(*failure.gold_answers, other)))
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_a_sentence_with_a_date_and_no_other_word_tells_something(embedded: Database) -> None:
    moved = "[2026-05-02 08:10:00] The regatta was put off because of the storm. It's on the 6th of June now."
    raced = "[2026-06-07 19:00:00] We were second yesterday, with hail in our faces and a torn sail."
    told = Story.of("rules", moved, raced, OTHER)
    read = [told.store(0, moved, key="moved"), told.store(2, OTHER, key="work")]
    told.store(1, raced, key="raced")
    failure = told.ask("When did the regatta take place?", "6 June 2026", "On 9 May.", read)
    verdict, blamed = await verdict_on(embedded, told, _with(failure, (told.evidence[0].id, told.evidence[1].id)))
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")
    assert verdict.details["detail"] == "It's on the 6th of June now."


@pytest.mark.parametrize(
    "told_as", ["[2026-05-02 08:10:00] Ada: {}", "Ada (2026-05-02 08:10): {}", "[2026-05-02 08:10:00] {}"]
)
async def test_a_short_message_with_a_timestamp_tells_something(embedded: Database, told_as: str) -> None:
    said = told_as.format("The goat is called Pepper.")
    told = Story.of("rules", said, OTHER, MORE)
    told.store(0, said, key="goat")
    failure = told.ask("What is the goat called?", "Pepper", "I don't know.", [told.store(1, OTHER, key="work")])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


@pytest.mark.parametrize(
    ("said", "gold", "answer"),
    [
        ("The chimney sweep is coming on Friday, I took the day off.", "30 January 2026", "On 23 January 2026."),
        ("The chimney sweep comes on Friday.", "30 January 2026", "On 23 January 2026."),
        ("On Friday the chimney sweep came.", "23 January 2026", "On 30 January 2026."),
    ],
)
async def test_a_day_of_the_week_may_be_past_or_to_come(embedded: Database, said: str, gold: str, answer: str) -> None:
    message = f"[2026-01-28 20:10:00] {said}"  # a Wednesday
    told = Story.of("rules", message, OTHER, MORE)
    failure = told.ask("On which day does the chimney sweep come?", gold, answer, [told.store(0, message)])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")
    assert verdict.details["detail"] == message


PLACES = ("We pitched the tent on the dunes in May.", "In June we slept near the glacier, tent and all.", OTHER)


async def test_of_several_pieces_the_operation_that_lost_most_is_blamed(embedded: Database) -> None:
    told = Story.of("rules", *PLACES, "The August tent stood beside the lighthouse.")
    dunes = told.store(0, PLACES[0], key="dunes")
    told.store(1, PLACES[1], key="ice")
    told.store(3, "The August tent stood beside the lighthouse.", key="light")
    failure = told.ask("Where did the tent stand?", "dunes, glacier, lighthouse", "On a meadow.", [dunes])
    every = tuple(told.evidence[n].id for n in (0, 1, 3))
    verdict, blamed = await verdict_on(embedded, told, _with(failure, every))
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")
    losses = verdict.losses
    assert [one.error_type for one in losses].count(ErrorType.RETRIEVAL) == 2
    assert {one.piece for one in losses} == {PLACES[0], PLACES[1], "The August tent stood beside the lighthouse."}
    assert all(one.path and one.operation_id and not one.reached for one in losses)
    assert verdict.question_kind is QuestionKind.SEVERAL


async def test_what_the_answer_says_was_not_lost(embedded: Database) -> None:
    told = Story.of("rules", *PLACES)
    dunes = told.store(0, PLACES[0], key="dunes")
    told.store(1, PLACES[1], key="ice")
    failure = told.ask("Where did the tent stand?", "dunes, glacier", "On the dunes.", [dunes])
    every = tuple(told.evidence[n].id for n in (0, 1))
    verdict, blamed = await verdict_on(embedded, told, _with(failure, every))
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")
    lost, kept = verdict.losses
    assert (lost.piece, lost.error_type, lost.operation_id) == (PLACES[1], ErrorType.RETRIEVAL, verdict.operation_id)
    assert (kept.piece, kept.error_type, kept.operation_id) == (PLACES[0], None, None)
    assert (lost.reached, kept.reached, kept.reason) == (False, True, "the answer says it")
    assert 0.8 < kept.confidence <= 1
    assert (kept.path[0].variable_id, kept.path[-1].variable_id) == (every[0], failure.answer_id)
    assert kept.path[-1].holds
    assert verdict.question_kind is QuestionKind.SEVERAL


async def test_one_piece_has_one_loss_which_is_the_verdict(embedded: Database) -> None:
    told, failure = retrieval()
    verdict, _ = await verdict_on(embedded, told, failure)
    (loss,) = verdict.losses
    assert (loss.error_type, loss.operation_id, loss.path) == (verdict.error_type, verdict.operation_id, verdict.path)
    assert loss.piece == verdict.path[0].quote
    assert (loss.confidence, loss.reached) == (verdict.confidence, False)
    assert verdict.question_kind is QuestionKind.PLAIN
    assert from_attribution(to_attribution(verdict, failure, Method.FLOW, "")).losses == verdict.losses


def test_kinds_of_questions() -> None:
    assert {kind: question_kind(kind, 1) for kind in QuestionForm if kind is not QuestionForm.JOINED} == {
        kind: QuestionKind(kind) for kind in QuestionForm if kind is not QuestionForm.JOINED
    }
    assert question_kind(QuestionForm.JOINED, 0) is question_kind(QuestionForm.PLAIN, 2) is QuestionKind.SEVERAL
    assert question_kind(QuestionForm.INFERRED, 3) is QuestionKind.INFERRED


async def test_a_reply_that_rests_on_the_question_alone_needs_no_memory(embedded: Database) -> None:
    told = story()
    gold = "Oh no!\n\nThen let us pause the rowing lessons until the wrist has healed."
    question = "My wrist is sprained, pause the rowing lessons until it has healed."
    failure = told.ask(question, gold, "The parrot is grey.", [told.store(0, KNOWN)])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_a_question_about_anothers_thing_is_an_error_of_the_annotation(embedded: Database) -> None:
    ada = '{"content": "My brass telescope came from Lisbon.", "name": "Ada"}'
    ben = '{"content": "I prefer rowing to looking at stars.", "name": "Ben"}'
    told = Story.of("rules", ada, ben, OTHER)
    kept = told.store(0, "Ada's brass telescope came from Lisbon.")
    failure = told.ask("Where did Ben's brass telescope come from?", "Lisbon", "I don't remember.", [kept])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION
    assert verdict.path[0].quote.startswith("My brass telescope")


async def test_a_reply_that_nobody_took_up_stored_nothing(embedded: Database) -> None:
    told = story()
    fact = ("fact", KNOWN, VariableKind.RESPONSE)
    (found,) = told.step("extract", OperationKind.EXTRACTION, [told.evidence[0]], fact)
    told.step("decide", OperationKind.UPDATE, [found], ("decision", f"add: {KNOWN}", VariableKind.RESPONSE))
    failure = told.ask(QUESTION, GOLD, "I don't know.", [told.store(1, OTHER, key="work")])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.UPDATE, "decide")
    assert SAID in told.trace.text(told.evidence[0])


async def test_what_another_message_says_of_the_same_thing_was_read(embedded: Database) -> None:
    told = Story.of(
        "rules", "I could help you with sewing costumes or even painting the scenery if you want.", OTHER, MORE
    )
    told.store(0, "Ada could help with sewing costumes or painting the scenery.")
    said = "Ada: Come, let's sew some costumes and paint scenery for the village theatre."
    failure = told.ask(
        "What help does Ada offer the village theatre?",
        "Sewing costumes and painting scenery.",
        "Selling tickets.",
        [told.store(1, said, key="other")],
    )
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")
    assert "another message" in verdict.reason
    assert said in verdict.path[0].quote


CARE = "A whippet lives on love and patience: do you know somebody who adopted a whippet?"


async def test_a_neighbour_that_tells_the_gold_answer_is_no_contradiction(embedded: Database) -> None:
    answered = "Yes, my cousin Benedikt adopted a whippet."
    told = Story.of("rules", CARE, answered, OTHER)
    kept = told.store(1, answered, key="cousin")
    failure = told.ask("Who adopted a whippet?", "Benedikt", "It lives on love and patience.", [kept])
    verdict, blamed = await verdict_on(embedded, told, _with(failure, (told.evidence[0].id,)))
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


@pytest.mark.parametrize(
    ("answer", "error_type"),
    [
        ("El hilo está debajo del cesto de mimbre.", ErrorType.ANNOTATION),  # as the message says
        ("El hilo está debajo del cesto de esparto.", ErrorType.JUDGE),
    ],
)
async def test_a_word_that_no_lexicon_knows_in_the_place_of_another_is_another(
    embedded: Database, answer: str, error_type: ErrorType
) -> None:
    said = "El hilo está debajo del cesto de mimbre."
    told = Story.of("rules", said, OTHER, name=f"thread {answer}")
    failure = told.ask("¿Dónde está el hilo?", "debajo del cesto de esparto", answer, [told.store(0, said)])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is error_type
    assert verdict.confidence < 0.9 or error_type is ErrorType.JUDGE


async def test_without_such_a_neighbour_it_is_one(embedded: Database) -> None:
    told = Story.of("rules", CARE, MORE, OTHER)
    kept = told.store(0, CARE)
    failure = told.ask("Who adopted a whippet?", "Benedikt", "It lives on love and patience.", [kept])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION


async def test_an_answer_that_leaves_out_an_item_of_the_list_is_not_right(embedded: Database) -> None:
    sports = ("On Mondays I play tennis.", "On Sundays I do judo.", "On Fridays I go swimming.")
    told = Story.of("rules", *sports)
    kept = [told.store(n, sports[n], key=f"sport-{n}") for n in (0, 2)]
    told.store(1, "Ada is busy on Sundays.", key="busy")
    failure = told.ask("Which sports does Ada do?", "tennis, judo, swimming", "Tennis and swimming.", kept)
    every = tuple(told.evidence[n].id for n in range(3))
    verdict, _ = await verdict_on(embedded, told, _with(failure, every))
    assert verdict.error_type is ErrorType.EXTRACTION
    ends = {one.piece: one.reached for one in verdict.losses}
    assert ends == {sports[0]: True, sports[1]: False, sports[2]: True}


async def test_one_message_that_was_found_does_not_contradict_a_list(embedded: Database) -> None:
    sports = ("On Mondays I play tennis.", "On Sundays I do judo.", "On Fridays I go swimming.")
    told = Story.of("rules", *sports)
    kept = [told.store(n, sports[n], key=f"sport-{n}") for n in range(3)]
    failure = told.ask("Which sports does Ada do?", "tennis, judo, swimming", "Tennis.", kept)
    verdict, _ = await verdict_on(embedded, told, _with(failure, ()))
    assert verdict.error_type is not ErrorType.ANNOTATION


async def test_a_refusal_is_nothing_that_the_evidence_says(embedded: Database) -> None:
    told = Story.of("rules", "I do not know much about judo, but I do it on Sundays.", OTHER, MORE)
    failure = told.ask("What is Ada's sport?", "fencing", "I do not know.", [told.store(1, OTHER, key="other")])
    verdict, _ = await verdict_on(embedded, told, _with(failure, (told.evidence[0].id,)))
    assert verdict.error_type is not ErrorType.ANNOTATION
    assert all("what was answered" not in one.reason for one in verdict.candidates)


def _with(failure: Failure, evidence: tuple[str, ...]) -> Failure:
    return replace(failure, evidence_ids=evidence)


async def test_a_list_is_contradicted_by_the_only_message_that_says_what_was_answered(embedded: Database) -> None:
    said = "Percival Ironside is my favourite knight. I wish that I had patience. The sea asks for courage."
    told = Story.of("rules", f'{{"content": "{said}", "name": "Ada"}}', OTHER)
    kept = told.store(0, said)
    failure = told.ask("Which knight is Ada's favourite?", "Patience and courage", "Percival Ironside", [kept])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.ANNOTATION


async def test_an_answer_that_says_less_than_the_evidence_does_not_contradict_the_gold_answer(
    embedded: Database,
) -> None:
    said = "Even wore the medallion to remind me of the harbour. The medallion stands for courage and rowing alone."
    told = Story.of("rules", said, OTHER, MORE)
    kept = told.store(0, said)
    answered = "Even wore the medallion to remind me of the harbour."
    failure = told.ask("What does Ada's medallion mean?", "Courage, solitude when she goes rowing", answered, [kept])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


async def test_related_words_are_no_conclusion(embedded: Database) -> None:
    said = "It was brave of you to speak up for the fishermen."
    told = Story.of("rules", said, OTHER, MORE)
    kept = told.store(0, said)
    failure = told.ask("Would Ada side with the fishermen?", "Yes, she is supportive", said, [kept])
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == (ErrorType.RESPONSE, "reply")


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("What is Ada's mood after the regatta?", "proud"),
        ("In welcher Stimmung war Ada nach der Regatta?", "stolz"),
        ("Welche Haltung hat Ada zum Rudern?", "sie liebt es"),
        ("Würde Ada einen Segeltörn mögen?", "ja, sie liebt das Meer"),
        ("Ada对划船的态度是什么?", "喜欢"),
        ("比赛之后Ada的情绪如何?", "自豪"),
        ("Ada会不会喜欢航海?", "可能会"),
    ],
)
def test_a_mood_or_an_attitude_is_inferred_in_three_languages(question: str, gold: str) -> None:
    assert form(asked(question, gold)) is QuestionForm.INFERRED


async def test_a_conclusion_from_pieces_that_two_operations_lost_is_not_sure(embedded: Database) -> None:
    told = Story.of("rules", "Ada: I love the sea.", "Ada: I own a small boat now.", OTHER)
    told.delete(told.store(0, "Ada loves the sea."))
    told.store(1, "Ada owns a small boat.", key="boat")
    failure = told.ask(
        "Would Ada enjoy a sailing trip?",
        "Yes, she loves the sea and owns a boat",
        "No, she prefers hills.",
        [told.store(2, OTHER, key="work")],
    )
    failure = replace(failure, evidence_ids=tuple(told.evidence[number].id for number in (0, 1)))
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.question_kind is QuestionKind.INFERRED
    assert len({one.operation_id for one in verdict.losses}) == 2
    assert verdict.confidence <= 0.8
