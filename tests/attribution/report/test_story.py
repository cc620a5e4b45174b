"""The story of a wrong answer: its sentence, its cards, and what recorded values say."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from attribution.report.story import MOST_CARDS, story
from attribution.report.story_model import At, Card, Story
from attribution.report.told import Search, Step, Told
from attribution.text.said import texts_of
from attribution.verdicts.reasons import day_lost

FACT = "My class is on Thursdays."
EXTRACT, UPDATE, SEARCH = (
    At(id="extract", name="extract", kind="Extraction", sequence=4),
    At(id="update", name="update", kind="Update", sequence=9),
    At(id="search", name="search", kind="Retrieval", sequence=11),
)


def _step(kind: str, text: str, holds: bool, operation: At | None = None, quote: str = FACT) -> Step:
    return Step(holds, quote if holds else "", kind, text, text, text, operation)


SAID = _step("Message", f"Hello. {FACT}", True)
KEPT = _step("MemoryUnit", f'{{"memory": "{FACT}"}}', True, UPDATE)
MISSED = _step("Query", "When?", False, SEARCH)


def _told(kind: str | None, operation: At | None, *path: Step, search: Search | None = None, **more: Any) -> Told:
    said = {"prediction": "I don't know.", "gold_answers": ["Thursday"], "reason": "Two calls fit."} | more
    return Told(error_type=kind, operation=operation, piece=FACT if path else "", path=path, search=search, **said)


def _sentence(told: Story) -> str:
    texts = ((one.is_quote, "".join(text for text, _ in one.parts)) for one in told.sentence)
    return "".join(f"“{text}”" if is_quote else text for is_quote, text in texts)


def _cards(told: Story) -> list[tuple[str, str]]:
    return [(card.title, card.state) for card in told.cards]


def _text(card: Card) -> str:
    return "".join(text for text, _ in card.text)


def _marks(told: Story, state: str) -> list[str]:
    return [text for one in told.sentence for text, its in one.parts if its == state]


def test_an_update_shows_old_and_new_as_a_difference_of_words() -> None:
    found = story(
        _told("UpdateError", UPDATE, SAID, KEPT, _step("MemoryUnit", '{"memory": "My class is fun."}', False, UPDATE))
    )
    assert _sentence(found) == f"replaced “{FACT}” by “My class is fun.”"
    assert (_marks(found, "gone"), _marks(found, "new")) == (["on Thursdays"], ["fun"])
    assert _cards(found) == [("Said", "held"), ("In the memory", "held"), ("Overwritten", "lost"), ("Answered", "gone")]
    assert _text(found.cards[2]) == f"{FACT} → My class is fun."
    assert found.operation == UPDATE


def test_versions_with_little_in_common_stand_one_after_the_other() -> None:
    found = story(_told("UpdateError", UPDATE, SAID, KEPT, _step("MemoryUnit", "Rain.", False, UPDATE)))
    assert (_marks(found, "gone"), _marks(found, "new")) == ([FACT], ["Rain."])


def test_of_long_versions_what_stands_around_the_change_is_shown() -> None:
    before, after = "A word. " * 40, " And more of it." * 40
    old = _step("MemoryUnit", before + FACT + after, True, UPDATE)
    found = story(
        _told("UpdateError", UPDATE, SAID, old, _step("MemoryUnit", before + "My class is fun." + after, False, UPDATE))
    )
    assert len(_sentence(found)) < 400
    assert _marks(found, "gone") == ["on Thursdays"]


def test_a_text_that_goes_on_after_its_preview_is_quoted() -> None:
    old, new = _step("Buffer", "How it begins", True, UPDATE), _step("Buffer", "How it begins", False, UPDATE)
    found = story(_told("UpdateError", UPDATE, SAID, old, new))
    assert _sentence(found) == f"lost “{FACT}” and stored “How it begins”"
    assert found.cards[-2].text[0] == (FACT, "gone")


def test_an_extraction_says_what_it_kept_that_is_nearest() -> None:
    facts = _step("Response", '["I like tea and rain in May.", "I have a class."]', False, EXTRACT)
    found = story(_told("ExtractionError", EXTRACT, SAID, facts))
    assert _sentence(found) == "read “My class is on Thursdays.” and kept only “I have a class.”"
    assert _marks(found, "key") == ["Thursdays"]
    assert _cards(found) == [("Said", "held"), ("Extracted", "lost"), ("Answered", "gone")]
    assert _text(found.cards[1]) == "Kept: I have a class. · I like tea and rain in May."
    nothing = story(_told("ExtractionError", EXTRACT, SAID, _step("Response", '["Tea."]', False, EXTRACT)))
    assert _sentence(nothing) == f"read “{FACT}” and kept nothing of it"


def test_words_that_an_extraction_left_out_are_marked_where_the_gold_answer_has_others() -> None:
    facts = _step("Response", '["My class is soon."]', False, EXTRACT)
    assert _marks(story(_told("ExtractionError", EXTRACT, SAID, facts, gold_answers=["7 May"])), "key") == []
    longer = replace(SAID, quote="My pottery class in town is on Thursdays.")
    facts = _step("Response", '["My pottery class in town is soon."]', False, EXTRACT)
    found = story(_told("ExtractionError", EXTRACT, longer, facts, gold_answers=["7 May"]))
    assert _marks(found, "key") == ["Thursdays"]


@pytest.mark.parametrize(
    ("rank", "considered", "said"),
    [
        (5, 6, " (rated 6, returned 2; the fact was number 5: k ≥ 5 would have returned it)"),
        (None, 6, " (rated 6, returned 2; this one was not among them)"),
        (None, None, " (it returned 2 others)"),
    ],
)
def test_a_search_shows_its_list_with_the_missed_unit_at_its_place(
    rank: int | None, considered: int | None, said: str
) -> None:
    returned = [(f"unit {number}", number if considered else None, 1 / number) for number in (1, 2)]
    search = Search(returned, [(FACT, rank, 0.1)], considered, 2)
    found = story(_told("RetrievalError", SEARCH, SAID, MISSED, search=search))
    assert _sentence(found) == f"did not return “{FACT}”{said}"
    assert _cards(found) == [("Said", "held"), ("Searched", "lost"), ("Answered", "gone")]
    listed = found.cards[1].candidates
    assert [(one.rank, one.score, one.is_missed) for one in listed] == [
        (1 if considered else None, 1, False),
        (2 if considered else None, 0.5, False),
        (rank, 0.1, True),
    ]
    assert ("Thursdays", "key") in listed[2].text
    assert _sentence(story(_told("RetrievalError", SEARCH, SAID, MISSED))) == f"did not return “{FACT}”"


def test_a_unit_that_was_rated_among_the_returned_stands_there() -> None:
    search = Search([("one", 1, None), ("three", 3, None)], [(FACT, 2, None)], 9, 2)
    found = story(_told("RetrievalError", SEARCH, SAID, MISSED, search=search))
    assert [one.is_missed for one in found.cards[1].candidates] == [False, True, False]


def test_an_answer_that_had_the_words_is_the_break_itself() -> None:
    found = story(_told("ResponseError", UPDATE, SAID))
    assert _sentence(found) == f"was given “{FACT}”, but answered “I don't know.”"
    assert _cards(found) == [("Said", "held"), ("Answered", "lost")]
    prompt = _step("Prompt", "Answer with: My class", False, UPDATE)
    cut_off = story(_told("ResponseError", UPDATE, SAID, prompt))
    assert _sentence(cut_off) == f"was given “{FACT}”, and left it out of “Answer with: My class”"
    on_path = story(_told("ResponseError", UPDATE, SAID, _step("Answer", "I don't know.", False, UPDATE)))
    assert _cards(on_path) == _cards(found)


def test_an_error_of_the_data_quotes_the_gold_answer() -> None:
    found = story(_told("AnnotationError", SEARCH, SAID, prediction="Thursdays", gold_answers=["Monday"]))
    assert _sentence(found) == f"The gold answer “Monday” is wrong: “{FACT}” was said, and the answer is “Thursdays”"
    assert found.operation is None
    assert _marks(found, "key") == ["Thursdays"]
    assert _cards(found) == [("Said", "held"), ("Answered", "held"), ("Gold answer", "lost")]


def test_a_right_answer_stands_beside_the_gold_answer() -> None:
    found = story(_told("LLMAsAJudgeError", UPDATE, prediction='"On Thursday"'))
    assert _sentence(found) == "counted “On Thursday” as wrong, although it says what the gold answer says: “Thursday”"
    assert _cards(found) == [("Gold answer", "held"), ("Answered", "held"), ("Judged", "lost")]
    assert ("Thursday", "key") in found.cards[1].text


def test_deletions_and_abstentions() -> None:
    gone = story(_told("DeletionError", UPDATE, SAID, KEPT, _step("Marker", "DELETED", False, UPDATE)))
    assert _sentence(gone) == f"removed “{FACT}” from the memory"
    assert gone.cards[2].text == [(FACT, "gone")]
    undecided = story(_told(None, None))
    assert (_sentence(undecided), undecided.cards) == ("Two calls fit.", [])


def test_a_long_way_has_few_cards_and_equal_ones_are_one() -> None:
    copies = [At(id=f"copy{at}", name=f"copy{at}", kind="Other", sequence=at) for at in range(12)]
    way = [_step("Response", f"{FACT} {at.id}", True, at) for at in copies]
    last = _step("MemoryUnit", "x", False, UPDATE)
    found = story(_told("UpdateError", UPDATE, SAID, *way, last))
    assert len(found.cards) == MOST_CARDS
    assert (_cards(found)[0], found.cards[-2].state) == (("Said", "held"), "lost")
    equal = story(_told("UpdateError", UPDATE, SAID, *[_step("Response", FACT, True, at) for at in copies], last))
    assert [card.note for card in equal.cards] == ["", "11 earlier steps have the same text.", "", ""]


def test_of_several_losses_that_of_the_verdict_counts() -> None:
    path = [SAID, MISSED, KEPT, _step("MemoryUnit", "My class is fun.", False, UPDATE)]
    assert (_told("UpdateError", UPDATE, *path).lost_at, _told("UpdateError", None, *path).lost_at) == (3, 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('["one fact", {"text": "another"}]', ["one fact", "another"]),
        ('{"facts": ["whole", "with \\"quotes\\"", "cut o', ["whole", 'with "quotes"', "cut o"]),
        ('"quoted"', ["quoted"]),
        ("plain", ["plain"]),
        ("", [""]),
    ],
)
def test_all_texts_of_a_value(value: str, shown: list[str]) -> None:
    assert texts_of(value) == shown


DAY_LOST = day_lost(date(2023, 1, 27).toordinal())


@pytest.mark.parametrize(("kind", "operation"), [("ExtractionError", EXTRACT), ("UpdateError", UPDATE)])
def test_a_fact_that_was_kept_without_its_day_names_the_day(kind: str, operation: At) -> None:
    unit = _step("MemoryUnit", f'{{"memory": "{FACT}"}}', False, operation)
    found = story(_told(kind, operation, SAID, unit, reason=DAY_LOST))
    assert _sentence(found) == f"kept “{FACT}” without the day on which it was said, 27 January 2023"
    lost = found.cards[1]
    assert (lost.title, lost.state, _text(lost)) == ("Kept without its day", "lost", FACT)
    assert lost.note == "The day, 27 January 2023, is not in it."


def test_a_fact_that_was_not_kept_is_lost_with_its_day() -> None:
    found = story(
        _told("ExtractionError", EXTRACT, SAID, _step("MemoryUnit", "Rain.", False, EXTRACT), reason=DAY_LOST)
    )
    assert _sentence(found) == f"read “{FACT}” and kept nothing of it"


def test_a_gold_answer_that_no_message_contradicts_is_wrong_for_the_reason() -> None:
    reason = "the question asks about a time after the last message, and no message tells the gold answer"
    found = story(_told("AnnotationError", None, _step("Message", "See you!", True, quote="See you!"), reason=reason))
    assert _sentence(found) == f"The gold answer “Thursday” is wrong: {reason}"
    assert _cards(found) == [("Said", "held"), ("Answered", "gone"), ("Gold answer", "lost")]


def test_an_extraction_that_made_nothing_has_a_card_and_the_answer_is_not_its_work() -> None:
    found = story(_told("ExtractionError", EXTRACT, SAID))
    assert _cards(found) == [("Said", "held"), ("Extracted", "lost"), ("Answered", "gone")]
    assert (_text(found.cards[1]), found.cards[1].operation) == ("Kept: nothing", EXTRACT)
    assert found.cards[2].operation is None


def test_what_a_tool_gave_is_quoted_before_the_answer_that_left_it_out() -> None:
    answer = At(id="chat", name="chat", kind="Generation", sequence=3)
    path = [_step("Other", f'["{FACT}"]', True)]
    found = story(replace(_told("ResponseError", answer, *path), piece=""))
    assert _sentence(found) == f"was given “{FACT}”, but answered “I don't know.”"
    assert _cards(found) == [("Given to the program", "held"), ("Answered", "lost")]


def test_the_way_of_a_question_has_no_fact_that_could_be_lost() -> None:
    path = [_step("Query", "When is my class?", True, quote="When is my class?"), MISSED]
    found = story(replace(_told("RetrievalError", SEARCH, *path), piece=""))
    assert (_sentence(found), found.cards) == ("Two calls fit.", [])


def test_an_answer_that_nothing_could_give_is_beside_the_gold_answer() -> None:
    answer = At(id="answer", name="answer", kind="Generation", sequence=12)
    found = story(
        _told("ResponseError", answer, prediction="Sweden.", gold_answers=["I don't know."], reason="It isn't known.")
    )
    assert _sentence(found) == "answered “Sweden.”, but it isn't known"
    assert _cards(found) == [("Gold answer", "held"), ("Answered though not known", "lost")]
    assert found.cards[1].operation == answer
