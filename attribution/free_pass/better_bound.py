"""Messages that tell the given answer of more of what the question names than the gold answer's message does.

Asked for the baps of the Bramley Cafe, ``the Bramley Cafe takes 45`` has its name, and ``Harrogate: 60 baps`` has not:
the gold answer may be told of something else. Or the asked thing is told anew, later.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from attribution.free_pass.needs import TriedFailure
from attribution.needed.content import Content, share_found
from attribution.needed.messages import is_known
from attribution.needed.presence import Detail
from attribution.needed.question import QuestionForm, form, is_question
from attribution.text.languages import is_function_word
from attribution.text.refusals import refuses
from attribution.text.said import said
from attribution.text.tokens import tokens

_WHOLLY, _NOTHING = 0.9, 0.1
_WHOLE = (QuestionForm.CONVERSATIONAL, QuestionForm.UNANSWERABLE)
_SHOWN = 100
"""Characters of a quoted sentence."""


def told_of_more(tried: TriedFailure, needed: Detail, gold: Content) -> str | None:
    """The sentence, shortened, that tells the given answer, and not the gold answer, of more of what is asked about.

    It has each word of the question that the message of the gold answer has, and a name of the question besides. The
    message of the gold answer is the earlier of the two, or it has a name that question and gold answer don't have.
    """
    messages, failure = tried.messages, tried.failure
    text = failure.prediction or ""
    claim = messages.claim(failure, needed.reference).without(gold.words, gold.numbers)
    if refuses(text) or not claim.weight or form(failure) in _WHOLE:
        return None
    asked = {one for one in messages.asked(failure).words if not is_function_word(one)}
    own = messages.gist(needed.message_id).stems
    had = asked & set(own)
    named = _names(failure.question) & asked - had - messages.names
    if not named:
        return None
    is_of_another = bool(_rivals(tried, needed, asked))
    known, speaker = is_known(tried.graph, failure), messages.speakers.get(needed.message_id)
    may_have = messages.sought(claim).may_have(_WHOLLY)
    for message in messages.ids:
        if not known(message) or messages.speakers.get(message) != speaker:
            continue
        if not is_of_another and messages.place[message] <= messages.place[needed.message_id]:
            continue
        for placed in messages.statements(message):
            if not may_have(placed.sentence) or is_question(placed.sentence.text):
                continue
            has = asked & set(placed.sentence.stems)
            if (
                had <= has
                and has & named
                and share_found(claim, placed) >= _WHOLLY
                and share_found(gold, placed) <= _NOTHING
            ):
                return said(placed.sentence.text, _SHOWN)
    return None


def _rivals(tried: TriedFailure, needed: Detail, asked: AbstractSet[str]) -> set[str]:
    """The stems of names in the message of the gold answer that neither question nor gold answer nor speakers have."""
    known = {one.stem for gold in tried.failure.gold_answers for one in tokens(gold)} | asked | tried.messages.names
    return _names(tried.messages.texts[needed.message_id], first=True) - known


def _names(text: str, *, first: bool = False) -> set[str]:
    """The stems of words with a capital letter; the first word of a text counts only if ``first``."""
    found = tokens(text)[0 if first else 1 :]
    return {one.stem for one in found if one.carries and text[one.start].isupper() and not is_function_word(one.word)}
