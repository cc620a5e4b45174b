"""The sentence and the cards on top of a failure's page."""

from __future__ import annotations

from typing import Any

import pytest

from api.web.pages.story import MOST_CARDS, story

FACT = "My class is on Thursdays."


def _operation(name: str, kind: str, sequence: int) -> dict[str, Any]:
    return {"id": name, "name": name, "kind": kind, "category": None, "sequence": sequence}


def _step(kind: str, text: str, holds: bool, operation: dict[str, Any] | None = None) -> dict[str, Any]:
    variable = {"id": text, "name": text, "externalId": text, "version": 1, "kind": kind, "preview": text}
    return {"holds": holds, "quote": FACT if holds else "", "variable": variable, "operation": operation}


EXTRACT, UPDATE, SEARCH = (
    _operation("extract", "Extraction", 4),
    _operation("update", "Update", 9),
    _operation("search", "Retrieval", 11),
)
SAID = _step("Message", f"Hello. {FACT}", True)
FAILURE = {"question": "When?", "prediction": "I don't know.", "goldAnswers": ["Thursday"]}


def _verdict(kind: str | None, operation: dict[str, Any] | None, *path: dict[str, Any]) -> dict[str, Any]:
    loss = {"piece": FACT, "errorType": kind, "reached": False, "operation": operation, "path": list(path)}
    return {"errorType": kind, "reason": "Two calls fit.", "operation": operation, "losses": [loss] if path else []}


def _told(*arguments: Any, why_not: Any = None, failure: Any = FAILURE) -> tuple[str, list[tuple[str, str]]]:
    found = story(failure, _verdict(*arguments), why_not)
    assert found is not None
    sentence = "".join(f"“{text}”" if is_quote else text for text, is_quote in found.parts)
    return sentence, [(card.title, card.state) for card in found.cards]


def test_an_update_says_what_stood_there_before_and_after() -> None:
    kept = _step("MemoryUnit", f'{{"memory": "{FACT}"}}', True, UPDATE)
    lost = _step("MemoryUnit", '{"memory": "I like my class."}', False, UPDATE)
    sentence, cards = _told("UpdateError", UPDATE, SAID, kept, lost)
    assert sentence == f"replaced “{FACT}” by “I like my class.”"
    assert cards == [("Said", "held"), ("In the memory", "held"), ("Overwritten", "lost"), ("Answered", "gone")]
    found = story(FAILURE, _verdict("UpdateError", UPDATE, SAID, kept, lost))
    assert found is not None
    overwritten = found.cards[2].text
    assert (" is on Thursdays", "gone") in overwritten
    assert ("".join(text for text, state in overwritten)) == f"{FACT} → I like my class."


def test_an_extraction_says_what_was_kept() -> None:
    sentence, cards = _told("ExtractionError", EXTRACT, SAID, _step("Response", "['Hello.']", False, EXTRACT))
    assert sentence == f"read “{FACT}” and kept only “Hello.”"
    assert cards == [("Said", "held"), ("Extracted", "lost"), ("Answered", "gone")]


@pytest.mark.parametrize(
    ("ranks", "said_of_ranks"),
    [
        ([{"rank": 5, "returned": False}], " (rated 6, returned 2; the unit with the needed words was number 5: k ≥ 5 returns it)"),  # noqa: E501
        ([{"rank": None, "returned": False}], " (rated 6, returned 2; the unit with the needed words was not rated)"),
    ],
)  # fmt: skip
def test_a_search_says_which_rank_was_missed(ranks: list[dict[str, Any]], said_of_ranks: str) -> None:
    why_not = [{"piece": FACT, "considered": 6, "returnedCount": 2, "held": ranks}]
    missed = _step("Query", "When?", False, SEARCH)
    sentence, cards = _told("RetrievalError", SEARCH, SAID, missed, why_not=why_not)
    assert sentence == f"did not return “{FACT}”{said_of_ranks}"
    assert cards == [("Said", "held"), ("Searched", "lost"), ("Answered", "gone")]
    assert _told("RetrievalError", SEARCH, SAID, missed, why_not="too large")[0] == f"did not return “{FACT}”"


def test_an_answer_that_had_the_words_is_the_break_itself() -> None:
    sentence, cards = _told("ResponseError", UPDATE, SAID)
    assert sentence == f"had “{FACT}” before it, and answered “I don't know.”"
    assert cards == [("Said", "held"), ("Answered", "lost")]


def test_an_answer_on_the_path_has_one_card() -> None:
    answer = _step("Answer", "I don't know.", False, UPDATE)
    _, cards = _told("ResponseError", UPDATE, SAID, answer)
    assert cards == [("Said", "held"), ("Answered", "lost")]


def test_an_error_of_the_data_quotes_the_gold_answer() -> None:
    assert _told("AnnotationError", None, SAID) == (
        f"the gold answer “Thursday” is contradicted by “{FACT}”",
        [("Said", "held"), ("Answered", "gone"), ("Gold answer", "lost")],
    )
    assert (
        _told("LLMAsAJudgeError", None, SAID)[0]
        == "the answer “I don't know.” says what the gold answer says: “Thursday”"
    )


def test_deletions_abstentions_and_nothing() -> None:
    assert _told("DeletionError", UPDATE, SAID, _step("MemoryUnit", "", False, UPDATE))[0] == f"removed “{FACT}”"
    assert _told(None, None) == ("Two calls fit.", [])
    assert story(FAILURE, None) is None


def test_a_long_way_has_few_cards() -> None:
    way = [_step("Response", f"{FACT} {at}", True, _operation(f"copy{at}", "Other", at)) for at in range(12)]
    _, cards = _told("UpdateError", UPDATE, SAID, *way, _step("MemoryUnit", "x", False, UPDATE))
    assert len(cards) == MOST_CARDS
    assert cards[0] == ("Said", "held")
    assert cards[-2][1] == "lost"
