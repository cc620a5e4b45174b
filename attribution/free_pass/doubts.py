"""What may excuse the answer: then a verdict that trusts the gold answer is less sure, and its reason says why."""

from __future__ import annotations

import re

from attribution.free_pass.better_bound import told_as_well, told_at_all
from attribution.free_pass.foreign_gold import SAID_INSTEAD
from attribution.free_pass.nameless import nameless
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_words import may_say_the_same
from attribution.free_pass.premises import CHANGE
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, share_found
from attribution.needed.gold_agreement import denies
from attribution.needed.messages import is_known
from attribution.needed.presence import Detail
from attribution.needed.question import QuestionForm, form
from attribution.text.refusals import refuses
from attribution.text.said import said
from attribution.text.tokens import tokens
from attribution.text.weekdays import weekdays
from schema.kinds import NOT_THE_MEMORY, ErrorType

_WHOLLY = 0.9
_CONDITION = re.compile(
    r"""\b(?:if|unless|provided\s+that|wenn|falls|sofern|à\s+condition|pourvu|a\s+menos\s+que|a\s+meno\s+che|purché|tenzij|indien
        |jeśli|jeżeli|chyba\s+że|если|якщо|eğer|εάν|pokud)\b
      | (?:^|[,;]\s)(?:si|se|als|hvis|caso)\s | 如果|要是|もし|만약""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that begin a condition; ``si``, ``se`` and ``als`` only where a clause begins."""
_SHOWN = 100
"""Characters of a quoted sentence."""


async def doubt_of(tried: TriedFailure, finding: Finding, needed: Detail | None) -> str:
    """The words that follow the reason of a finding if the answer may be as right as the gold answer; else empty.

    Args:
        tried: the failure.
        finding: the chosen finding.
        needed: what the answer needed; None if that is not known.
    """
    if finding.doubt:
        return finding.doubt
    # "Only cats have come up, no dog" refuses in words that are not among those of refusals.
    if tried.is_unanswerable and finding.error_type is ErrorType.RESPONSE and denies(tried.failure.prediction or ""):
        return "; unless the answer says so in other words"
    if tried.is_unanswerable and finding.error_type is ErrorType.RESPONSE:
        told = await told_at_all(tried)
        return "" if told is None else f"; unless this tells it: “{told}”"
    if finding.error_type is ErrorType.RESPONSE and needed is not None and (unit := await nameless(tried, needed)):
        return f"; unless nothing told the answer whose this is: “{unit}”"
    if finding.error_type is ErrorType.RESPONSE and may_say_the_same(tried, needed):
        return "; unless the answer says the same in other words"
    if finding.reason == SAID_INSTEAD and may_say_the_same(tried, needed) and not _names(tried):
        return "; unless the gold answer says the same in other words"
    if tried.gold is None or finding.error_type in NOT_THE_MEMORY:
        return ""
    reference = None if needed is None else needed.reference
    claim, text = tried.messages.claim(tried.failure, reference), tried.failure.prediction or ""
    if _has_amount(tried.gold, " ".join(tried.failure.gold_answers)) and not _has_amount(claim, text):
        return ""  # "I enjoy the class" says nothing else of its day
    later = None if needed is None else _told_later(tried, needed, tried.gold)
    if later is not None:
        return f"; unless a later message made the gold answer out of date: “{later}”"
    if needed is not None and _is_conditional(tried, needed):
        return f"; unless what the gold answer depends on did not come: “{said(needed.sentence.text, _SHOWN)}”"
    other = await told_as_well(tried, reference)
    return "" if other is None else f"; unless the given answer is right, which is told as well: “{other}”"


def _is_conditional(tried: TriedFailure, needed: Detail) -> bool:
    """Whether the sentence with the gold answer tells a condition, which gold answer and question don't have."""
    asked = " ".join((tried.failure.question, *tried.failure.gold_answers))
    if refuses(tried.failure.prediction or "") or _CONDITION.search(asked):
        return False
    return _CONDITION.search(needed.sentence.text) is not None


def _names(tried: TriedFailure) -> bool:
    """Whether gold answer and answer name something with a capital letter, and nothing alike: two names differ."""
    golds, said = " ".join(tried.failure.gold_answers), tried.failure.prediction or ""
    return bool(_capitals(golds)) and bool(_capitals(said)) and _capitals(golds).isdisjoint(_capitals(said))


def _capitals(text: str) -> set[str]:
    """The words of a text with a capital letter, without the first word."""
    return {one.word for one in tokens(text)[1:] if text[one.start].isupper()}


def _told_later(tried: TriedFailure, needed: Detail, gold: Content) -> str | None:
    """The sentence, shortened, in which the speaker of the needed fact later tells the given answer; None without one.

    The sentence has most of the words that question and needed fact have in common: ``the code of the laundry`` shares
    half of them with ``the code of the cellar``. Or it tells a change: ``now the one in the attic``. Of an answer with
    a number or day, the sentence has these.
    """
    messages, failure = tried.messages, tried.failure
    text, topic = failure.prediction or "", messages.asked(failure).words.keys() & set(needed.sentence.stems)
    claim = messages.claim(failure, needed.reference)
    own = claim.without(gold.words, gold.numbers)
    value = Content({}, own.numbers, own.dates) if own.numbers or own.dates else own
    if refuses(text) or not value.weight or form(failure) is QuestionForm.CONVERSATIONAL:
        return None
    known, speaker = is_known(tried.graph, failure), messages.speakers.get(needed.message_id)
    may_have = messages.sought(value).may_have(_WHOLLY)
    asked = messages.asked(failure).words.keys()
    had = asked & set(messages.gist(needed.message_id).stems)
    asks_now = bool(CHANGE.search(failure.question))
    notes = [needed.message_id] if needed.message_id in messages.prompts else []  # each note is told by itself
    at = next((one.start for one in messages.sentences[needed.message_id] if one.sentence is needed.sentence), -1)
    for message in [*notes, *messages.following(needed.message_id, len(messages.ids))]:
        if message not in notes and (not known(message) or messages.speakers.get(message) != speaker):
            continue
        for placed in messages.statements(message):
            if not may_have(placed.sentence) or share_found(value, placed) < _WHOLLY:
                continue
            if message == needed.message_id and placed.start <= at:
                continue
            common = topic & set(placed.sentence.stems)
            is_of_it = bool(common) and (asks_now or not asked & set(placed.sentence.stems) < had)
            if 2 * len(common) > len(topic) or CHANGE.search(placed.sentence.text) or is_of_it:
                return said(placed.sentence.text, _SHOWN)
    return None


def _has_amount(told: Content, text: str) -> bool:
    """Whether a text tells a number, a date or a day of the week."""
    return bool(told.numbers or told.dates or weekdays(text))
